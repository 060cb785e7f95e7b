# SPDX-License-Identifier: MIT
"""The scoreboard has every row, with a reason where there is no figure."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import common
import seed
from seed import checksum, part_go, part_queues, part_recycle, part_sem, rows, runs, text, tracing

ALL = [f"{letter}-{n}" for letter, most in (("I", 11), ("G", 9), ("Q", 7), ("M", 13))
       for n in range(1, most + 1)]
TABLE = {1000: 149850000000000, 10000: 14998500000000000, 100000: 1499985000000000000,
         300000: -4946789073709551616, 1000000: 2425897410323587072,
         3000000: 3387232619202732032}


def right(test, rounds):
    return {"seconds": 1.0, "cpu_seconds": 1.0, "messages": 100 * rounds,
            "total": str(checksum.EXPECTED[test](rounds))}


class Checksums(unittest.TestCase):
    def test_table(self):
        for rounds, total in TABLE.items():
            self.assertEqual(checksum.server(rounds), total)
            self.assertIsNone(checksum.problem("serverchannel", rounds, str(total)))
        self.assertEqual(checksum.file(400000000), 12000000000)

    def test_wrong_or_no_total(self):
        for total in (TABLE[1000] + 1, "", None, "149850000000000.0"):
            self.assertIn("FAILED", checksum.problem("server", 1000, total))

    def test_wrong_total_fails_the_row(self):
        good, bad = right("server", 10), right("server", 10)
        bad["total"] = str(int(bad["total"]) + 1)
        self.assertEqual(part_go.checked("server", 10, good)["ns_per_unit"], 1e6)
        with self.assertRaises(runs.Failed):
            part_go.checked("server", 10, bad)
        results = runs.rounds({
            "server, Go": lambda: part_go.checked("server", 10, dict(good)),
            "server, tbb": lambda: part_go.checked("server", 10, dict(bad))})
        row = part_go.test_row(common.context(), "G-2", results)
        self.assertEqual(row["state"], rows.FAILED)
        self.assertIn("server, tbb: FAILED: total", row["why"])
        self.assertIsNone(row["peers"]["server, tbb"])
        self.assertIsNotNone(row["peers"]["server, Go"])


class Queues(unittest.TestCase):
    def test_state(self):
        def absent():
            raise runs.Missing("not built: x")
        none = runs.rounds({"q": absent})
        self.assertEqual(part_queues.state_of(none), (rows.NOT_AVAILABLE, "not built: x"))
        some = runs.rounds({"q": absent, "r": dict})
        self.assertEqual(part_queues.state_of(some), (rows.MEASURED, None))
        some["r"]["failed"] = "r: numbers were lost"
        self.assertEqual(part_queues.state_of(some)[0], rows.FAILED)


    LISTED = {"ipcwait": ("segments", "n:n", None), "seed_list": ("new", "1:1", None),
              "urcu_lfq": ("malloc", "n:n", None), "ck_ring": ("array", "in turn", None),
              "tbb": ("pages", "n:n", "not built: libtbb-dev")}

    def results(self, variants):
        def run_json(argv, *_, **env):
            waits = argv[-1] == "wait"
            f = {"items": 10**6, "seconds": 0.1, "cpu_seconds": 0.1 if env else 0.2,
                 "cpus_used": 1.0, "voluntary_switches": 1, "involuntary_switches": 0,
                 "page_faults": 1, "max_rss_kb": 1, "yields_empty": 0 if waits else 5}
            return {**f, "futex_waits": 3, "futex_wakes": 2} if waits else f
        with mock.patch.multiple(runs, program=mock.Mock(), run_json=run_json), \
                mock.patch.object(part_queues, "tcmalloc", lambda: "x"):
            return runs.rounds(variants(common.context(), self.LISTED, 10**6))

    def test_rows(self):
        results = self.results(part_queues.variants)
        row = part_queues.builds_row(results, self.LISTED)
        self.assertEqual(row["state"], rows.MEASURED)
        self.assertEqual(row["ours"], {k: 1e7 for k in
                                       ("ipcwait -O2", "ipcwait -O0", "ipcwait -O2 waits")})
        self.assertIn("seed_list -O2 tcmalloc", row["peers"])
        self.assertIsNone(row["peers"]["tbb -O2"])
        self.assertIs(row["same_direction"], True)
        self.assertEqual({len(line) for line in row["lines"]}, {len(row["columns"])})
        row = part_queues.levels_row(results)
        self.assertEqual((row["ours"], row["peers"]),
                         ({"ipcwait": 1}, {"seed_list": 1, "seed_cache": None}))
        row = part_queues.yields_row(results)
        self.assertEqual(row["ours"]["ipcwait -O2 waits"], 0)
        self.assertEqual(row["peers"]["seed_list -O2"], 5e-6)
        self.assertEqual([line[2] for line in row["lines"] if line[0] == "ipcwait -O2 waits"],
                         [5e-6])

    def test_crowds(self):
        with mock.patch("os.sched_getaffinity", return_value={0, 1}):
            results = self.results(part_queues.crowds)
        self.assertEqual(list(results), ["ipcwait 2P2C", "ipcwait 4P4C", "ipcwait 4P4C waits",
                                         "seed_list", "urcu_lfq 2P2C", "urcu_lfq 4P4C", "ck_ring",
                                         "tbb"])
        row = part_queues.crowd_row(results, self.LISTED)
        self.assertEqual((row["state"], set(row["ours"].values())), (rows.MEASURED, {1e7}))
        self.assertIn("one producer", results["seed_list"]["missing"])
        self.assertIn("spinning in turn", results["ck_ring"]["missing"])

    def test_counters(self):
        def found(hard):
            events = part_queues.PERF_EVENTS.split(",")
            return lambda argv: dict(zip(events, [1, 2, 3, *[hard] * 3]))
        for hard, state in ((None, rows.NOT_AVAILABLE), (7, rows.MEASURED)):
            with mock.patch.object(part_queues, "perf_stat", found(hard)), \
                    mock.patch.object(runs, "program", mock.Mock()):
                listed = {**self.LISTED, "seed_cache": ("free list", "1:1", None)}
                soft, counters = part_queues.counter_rows(common.context(), listed, 1)
            self.assertEqual((soft["state"], counters["state"]), (rows.MEASURED, state))
            self.assertEqual(soft["ours"]["ipcwait, page-faults"], 3)
            self.assertEqual(soft["peers"]["seed_cache, context-switches"], 1)


class Channels(unittest.TestCase):
    def test_sides(self):
        one = {"failed": None, "missing": None, "runs": [right("server", 10)] * 5}
        for r in one["runs"]:
            part_go.checked("server", 10, r)
        row = part_go.test_row(common.context(), "G-2", {
            "server, ipcwait-rendezvous channel": one, "server, Go, GOMAXPROCS=2": one})
        self.assertEqual(row["state"], rows.MEASURED)
        self.assertEqual((list(row["ours"]), list(row["peers"])),
                         (["server, ipcwait-rendezvous channel"], ["server, Go, GOMAXPROCS=2"]))

    def test_futex_calls(self):
        traced = []

        def trace(argv, *_, **env):
            traced.append((list(map(str, argv)), env["GOMAXPROCS"]))
            thread = {"name": "x", "tid": 1, "calls": {"futex": 9}}
            return "strace", {"futex": {"calls": 9}}, [thread] * 10
        with mock.patch.object(tracing, "trace", trace), \
                mock.patch.object(runs, "program", lambda context, *names, **_: names[-1]):
            found = part_go.futex_rows(common.context())
        self.assertEqual([r["state"] for r in found], [rows.MEASURED] * 3)
        ours = [argv for argv, _ in traced if "ipcwait" in argv]
        self.assertEqual([argv[0] for argv in ours], ["taskset", "channel_test"] * 2)
        self.assertEqual(len(found[0]["lines"]), 4 * part_go.BUSIEST)
        self.assertEqual(found[1]["ours"]["ipcwait, server, CPUs: 2"],
                         9 / part_go.C_QUICK)
        self.assertEqual(found[1]["peers"]["Go, server, CPUs: 1"], 9 / 10000)


class Recycling(unittest.TestCase):
    LISTED = ("channel\tipcwait\t\npool\tipcwait\t\npool\tglibc\t\n"
              "pool\ttas\t\npool\tnsync\tnot built: libnsync-dev\npost\tglibc\t\n")

    def test_who_is_compared(self):
        def figures(*_):
            return {"items": 1, "seconds": 1.0, "cpu_seconds": 1.0, "takes": 2,
                    "items_per_take": [2, *[0] * 12]}
        with mock.patch.multiple(runs, program=mock.Mock(), run=mock.Mock(return_value=self.LISTED),
                                 run_json=figures):
            listed = part_recycle.kinds(common.context())
            results = runs.rounds(part_recycle.variants(common.context(), 0))
        self.assertEqual([name for _, name, _ in listed],
                         ["ipcwait", "ipcwait", "glibc", "nsync", "glibc"])
        row = part_recycle.batch_row(results, listed)
        self.assertEqual([line[-1] for line in row["lines"]],
                         [None, None, None, "not built: libnsync-dev", None])
        self.assertIsNotNone(row["ours"]["pool ipcwait, 64"])
        self.assertIsNotNone(row["ours"]["channel ipcwait, 64"])
        row = part_recycle.histogram_row(results)
        self.assertEqual((row["ours"]["batch 64"], row["peers"]["batch 64"]), (0.5, 0.5))
        self.assertEqual(row["lines"][0][:5], ["channel", 1, 0.5, 10, 0])
        row = part_recycle.take_row(results)
        self.assertEqual((row["state"], row["ours"]["all at once"]), (rows.MEASURED, 1))


class Method(unittest.TestCase):
    def test_kept(self):
        found = [{"x": x} for x in (5, 1, 4, 2, 9)]
        self.assertEqual(runs.kept(found, "x"), [1, 4, 2])
        self.assertEqual(sorted(runs.kept(found, "x", "rank")), [2, 4, 5])
        self.assertEqual(runs.kept(found, lambda r: -r["x"]), [-1, -4, -2])
        self.assertEqual(runs.kept(found[:3], "x"), [5, 1, 4])      # of three nothing is dropped
        self.assertEqual(runs.median(found[:3], "x"), 4)
        self.assertEqual(runs.median(found[:4], "x"), 2.5)
        self.assertEqual(runs.kept(found[:2], "x"), [5, 1])
        for none in ([], [{"x": 1}, {}]):
            self.assertIsNone(runs.kept(none, "x"))
            self.assertIsNone(runs.median(none, "x"))

    def test_directions(self):
        for a, b, more, expected in (
                ([10, 11, 12], [1, 2, 3], 1, True), ([1, 2, 3], [10, 11, 12], 1, False),
                ([103, 104, 105], [100, 101, 102], 1, True),        # no run overlaps
                ([99, 104, 105], [100, 101, 102], 1, rows.NOT_TOLD),
                ([90, 130, 140], [100, 101, 140], 1, True),         # they do, but by far
                ([5, 5, 5], [5, 5, 5], 1, rows.NOT_TOLD), ([0, 0], [0, 0], 1, rows.NOT_TOLD),
                ([10, 11, 12], [1, 2, 3], 10, False), ([0.4, 0.6, 0.52], 0.5, 1, rows.NOT_TOLD),
                ([0.6, 0.9, 0.7], 0.5, 1, True), (104, 100, 1, rows.NOT_TOLD),
                (120, 100, 1, True), (None, 3, 1, None), ([], [1], 1, None),
                ([None, 1], [1], 1, None)):
            with self.subTest(a=a, b=b, more=more):
                self.assertIs(rows.direction(a, b, more), expected)

    def test_directions_of_several(self):
        told = rows.NOT_TOLD
        for directions, expected in (([], None), ([None], None), ([True, None], True),
                                     ([True, told], told), ([told, False, True], False)):
            self.assertIs(rows.all_of(directions), expected)

    def test_variants(self):
        found = runs.rounds({"a": lambda: {"x": 3}, "b": mock.Mock(side_effect=runs.Failed("no"))})
        self.assertEqual((runs.kept_of(found, "a", "x"), runs.median_of(found, "a", "x")),
                         ([3, 3, 3], 3))
        for name in ("b", "c"):
            self.assertIsNone(runs.kept_of(found, name, "x"))
            self.assertIsNone(runs.median_of(found, name, "x"))

    def test_the_environment_of_programs(self):
        env = {"PATH": os.environ["PATH"], "IPCWAIT_POLICY": "throughput",
               "IPCWAIT_CALIBRATION": "mine", "IPCWAIT_BENCH_SLOW": "x,5"}
        with mock.patch.dict(os.environ, env, clear=True):
            seen = runs.run(["env"], 10, GOMAXPROCS="2").splitlines()
        for line in ("IPCWAIT_CALIBRATION=none", "IPCWAIT_BENCH_SLOW=x,5", "LC_ALL=C",
                     "GOMAXPROCS=2"):
            self.assertIn(line, seen)
        self.assertFalse([line for line in seen if "POLICY" in line])

    def test_rounds_are_interleaved_and_keep_what_was_measured(self):
        order = []

        def run(name):
            order.append(name)
            if name == "b" and len(order) > 3:
                raise runs.Failed("broke")
            return {"x": len(order)}
        found = runs.rounds({n: lambda n=n: run(n) for n in "ab"}, 4)
        self.assertEqual("".join(order), "abbaaba")
        self.assertEqual([len(found[n]["runs"]) for n in "ab"], [4, 2])
        self.assertEqual(runs.reason(found["b"]), "FAILED: broke")

    def test_programs(self):
        with self.assertRaisesRegex(runs.Failed, "ended with 3: no\\?thing"):
            runs.run(["sh", "-c", "printf 'no\\001thing' >&2; exit 3"], 10)
        with self.assertRaisesRegex(runs.Failed, "did not end within"):
            runs.run(["sleep", "1000"], 0.1)
        began = time.monotonic()
        with self.assertRaisesRegex(runs.Failed, "did not end within"):
            runs.run(["sh", "-c", "sleep 6000 & wait"], 0.1)      # its child holds the pipes
        self.assertLess(time.monotonic() - began, 3000)
        with self.assertRaises(runs.Missing):
            runs.run(["./no-such-program"], 1)
        with self.assertRaisesRegex(runs.Failed, "no JSON"):
            runs.run_json(["echo", "{"], 10)


class Board(unittest.TestCase):
    def test_every_row_without_any_program(self):
        with tempfile.TemporaryDirectory(prefix="seed.") as empty:
            found = seed.run(common.context(empty))
        self.assertEqual([r["id"] for r in found], ALL)
        self.assertEqual(seed.IDS, ALL)
        for row in found:
            self.assertIn(row["state"], (rows.MEASURED, rows.NOT_AVAILABLE, rows.NOT_YET))
            self.assertTrue(row["why"], row["id"])
            self.assertTrue(row["title"] and row["seed"], row["id"])
            self.assertLessEqual(set(row["refers"]), set(ALL))
            if row["state"] == rows.MEASURED:       # only those that stand elsewhere
                self.assertEqual((row["ours"], row["peers"], row["raw"]), ({}, {}, {}))
            text.describe(row)
        json.dumps(found, allow_nan=False)
        self.assertIn("not built: sem_test", next(r for r in found if r["id"] == "I-2")["why"])

    def test_chosen_rows(self):
        found = seed.run(common.context(), ["M-12", "M-9"])
        self.assertEqual([r["id"] for r in found], ["M-9", "M-12"])

    def test_no_tracer(self):
        with tempfile.TemporaryDirectory(prefix="seed.") as empty, \
                mock.patch.dict(os.environ, {"PATH": empty}):
            with self.assertRaisesRegex(runs.Missing, "neither perf trace nor strace"):
                tracing.trace(["true"], 10)

    def test_a_part_that_breaks_off_keeps_its_rows(self):
        def measure(context):
            yield rows.measured("M-9")
            raise runs.Failed("broke")
        part = mock.Mock(IDS=["M-9", "M-11"], measure=measure)
        found = list(seed.part_rows(None, part))
        self.assertEqual([(r["id"], r["state"]) for r in found],
                         [("M-9", rows.MEASURED), ("M-11", rows.FAILED)])
        self.assertIn("broke", found[1]["why"])


def sem_result(hypervisor):
    """A result of sem_test with invented figures."""
    def entry(kind, ns):
        one = {"seconds": ns * 1e-6, "cpu_seconds": ns * 1e-6, "rescheduling_interrupts": ns,
               "function_call_interrupts": 0, "waits_spun": 9, "waits_slept": 1}
        return {"row": kind, "runs": [dict(one) for _ in range(5)],
                "medians": {"seconds": ns * 1e-6, "cpu_seconds": ns * 1e-6, "ns_per_item": ns,
                            "interrupts": ns, "roi": 1.0, "times_faster_than_glibc": 2.0}}
    kinds = {"glibc": 20000, "ipcwait": 1000, "spin": 1100, "block": 15000, "haltpoll": 1500,
             "ticks": 1050, "hog": 9000}
    return {"items": 1000, "loops": 2000, "environment": {"hypervisor": hypervisor},
            "rows": [entry(k, ns) for k, ns in kinds.items()]}


class Metal(unittest.TestCase):
    def setUp(self):
        cpus = mock.patch("os.sched_getaffinity", return_value={0, 1})
        cpus.start()
        self.addCleanup(cpus.stop)

    def test_counters_by_name_are_those_of_the_run_in_the_middle(self):
        keys = dict.fromkeys(part_sem.COUNTED, 0)
        runs_ = [{"seconds": s, "objects": [{"name": "full", **keys, "waits": s}]}
                 for s in (5, 1, 3)]
        result = {"items": 10, "rows": [{"row": "ipcwait", "runs": runs_}]}
        with mock.patch.object(part_sem, "sem_test", return_value=result):
            row = part_sem.named(mock.Mock(quick=True))
        self.assertEqual(row["ours"], {"full_waits": 3})
        self.assertEqual(len(row["lines"][0]), len(row["columns"]))

    def test_one_cpu_has_no_direction(self):
        with mock.patch("os.sched_getaffinity", return_value={3}):
            self.assertIsNone(part_sem.four_rows(sem_result("KVM"))["same_direction"])

    def test_guest_has_no_metal(self):
        row = part_sem.four_rows(sem_result("KVM"))
        self.assertIs(row["same_direction"], True)
        metal = row["lines"][2]
        self.assertIn("not available", metal[2])
        self.assertIsNone(metal[3])
        self.assertEqual(row["lines"][0][3], 20.0)
        self.assertEqual(row["raw"]["items"], 1000)     # the report draws all runs from there
        self.assertEqual([len(r) for r in row["raw"]["rows"].values()], [5] * 7)

    def test_metal_has_no_guest(self):
        row = part_sem.four_rows(sem_result("none seen"))
        self.assertEqual([line[3] for line in row["lines"][:4]], [None, None, 20.0, None])

    def test_another_host_fills_the_row(self):
        mine = [part_sem.four_rows(sem_result("KVM"))]
        host = {"label": "big", "seed": [part_sem.four_rows(sem_result("none seen"))]}
        guest = {"label": "small", "seed": [part_sem.four_rows(sem_result("Xen"))]}
        seed.fill_metal(mine, [guest, host, {"label": "empty"}])
        filled = [line for line in mine[0]["lines"] if line[0] == "Linux on metal"]
        self.assertEqual([line[2] for line in filled], ["glibc on big", "ipcwait on big"])
        self.assertEqual([line[3] for line in filled], [20.0, 1.0])
        before = [list(line) for line in mine[0]["lines"]]
        seed.fill_metal(mine, [host])       # once more: no line comes twice
        self.assertEqual(mine[0]["lines"], before)
        seed.fill_metal(mine, [guest])
        self.assertEqual(mine[0]["lines"], before)

    def test_nothing_to_fill(self):
        host = {"label": "big", "seed": [part_sem.four_rows(sem_result("none seen"))]}
        absent = [rows.unavailable("I-2", "not built: sem_test")]
        for found in ([], absent):
            self.assertEqual(seed.fill_metal(json.loads(json.dumps(found)), [host]), found)

    def test_other_rows_of_the_test(self):
        result = sem_result("KVM")
        self.assertIs(part_sem.interrupts(result)["same_direction"], True)
        self.assertEqual(part_sem.bounded_spin(result)["ours"], {"spun": 0.9})
        rules = part_sem.kernel_rules(result)
        self.assertEqual(rules["ours"], {"ipcwait": 1.0, "ticks": 1.05, "haltpoll": 1.5})
        self.assertIs(rules["same_direction"], True)
        alone = part_sem.hog(result, None, "there is one CPU")
        self.assertAlmostEqual(alone["peers"]["gain"], 20 / 9)
        self.assertIn("one CPU", alone["why"])
        self.assertIsNone(alone["ours"])
        awake = {**result, "rows": [dict(r) for r in result["rows"] if r["row"] in ("glibc", "hog")]}
        awake["rows"][1]["row"] = "awake"
        self.assertAlmostEqual(part_sem.hog(result, awake)["ours"]["gain"], 20 / 9)
        self.assertEqual(part_sem.trims(result)["lines"][0], ["glibc", 20.0, 20.0])


class CommandLine(unittest.TestCase):
    def run_it(self, *args):
        return subprocess.run([sys.executable, common.ROOT / "bench" / "seed", *args], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=1000)

    def test_bad_input(self):
        for args, word in ((["X-1"], "X-1"), (["I-99"], "I-99"), (["M-9\nx"], "M-9?X"),
                           (["--no-such"], "--no-such"), (["--build", "/no/where"], "/no/where"),
                           (["M-9", "--build", common.BUILD, "--json", "/no/where"], "--json"),
                           (["M-9", "--build", common.BUILD, "--json", "/"], "--json")):
            with self.subTest(args=args):
                r = self.run_it(*args)
                self.assertEqual((r.returncode, r.stdout), (2, ""), r)
                self.assertEqual(r.stderr.count("\n"), 1, r)
                self.assertIn(word.upper(), r.stderr.upper())

    def test_writes_rows(self):
        with tempfile.TemporaryDirectory(prefix="seed.") as folder:
            out = os.path.join(folder, "out.json")
            r = self.run_it("m-9", "M-12", "--build", common.BUILD, "--json", out)
            self.assertEqual((r.returncode, r.stderr), (0, ""), r)
            with open(out, encoding="utf-8") as f:
                self.assertEqual([x["id"] for x in json.load(f)["seed"]], ["M-9", "M-12"])
            self.assertEqual(os.listdir(folder), ["out.json"])


if __name__ == "__main__":
    common.main()
