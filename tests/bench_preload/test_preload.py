# SPDX-License-Identifier: MIT
"""bench/preload: what it takes, what it says, how it judges. No timings."""

import json
import os
import pathlib
import sys
import tempfile
import time
import unittest
from types import SimpleNamespace
from unittest import mock

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief                                        # noqa: E402
from built import BENCH, BUILD, ROOT, SHIM, run     # noqa: E402

from preload import arms, awake, catalogue, judging, machine, measuring    # noqa: E402
from preload import overall, pooling, session, table            # noqa: E402
from preload.bars import BARS, BUSY, ONE_CLIENT, Bar, bars_of    # noqa: E402
from preload.bars import loses_nothing                          # noqa: E402

POOLED = [ROOT / f"bench/results/preload-{name}-2vcpu-kvm-zen5.json" for name in ("tools", "servers")]


def bench(*words):
    return run(sys.executable, BENCH, "--build", BUILD, *words)


def hog_of_mine(pid):
    """A child of this process of the lowest class."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            fields = f.read().rpartition(")")[2].split()
        return int(fields[1]) == os.getpid() and os.sched_getscheduler(int(pid)) == os.SCHED_IDLE
    except (OSError, ValueError):
        return False


def good(time_s, cpu_s=1.0, noisy=False):
    return {"why": None, "verdict": None, "noisy": noisy, "time_s": time_s, "cpu_s": cpu_s}


class Statistics(unittest.TestCase):
    def test_rank_of_the_sign_test(self):
        """From the tables of the sign test, 5 % on both sides together."""
        for n, k in ((1, 0), (5, 0), (6, 1), (8, 1), (9, 2), (10, 2), (12, 3), (15, 4), (20, 6),
                     (25, 8), (30, 10)):
            self.assertEqual(judging.rank(n), k, n)

    def test_interval(self):
        self.assertIsNone(judging.interval([1, 2, 3, 4, 5]))
        self.assertEqual(judging.interval([6, 5, 4, 3, 2, 1]), (1, 6))
        self.assertEqual(judging.interval(list(range(1, 16))), (4, 12))

    def test_figures(self):
        ours, plain = good(2e-9, 3.0), good(8e-9, 6.0)
        for name, value in (("speed", 4.0), ("time", 0.25), ("cpu", 0.5), ("extra_ns", -6.0)):
            self.assertAlmostEqual(judging.figure(name, ours, plain), value)
        self.assertIsNone(judging.figure("cpu", good(1, None), plain))
        self.assertIsNone(judging.figure("cpu", ours, good(1, 0.0)))

    def test_a_figure_is_of_one_round(self):
        rounds = [{"none": good(10.0), "ours": good(5.0)}, {"none": good(100.0), "ours": good(10.0)},
                  {"none": good(1.0), "ours": good(1.0)}, {"none": good(1.0)}]
        row = judging.compared("speed", rounds, "ours", "none")
        self.assertEqual((row["values"], row["median"], row["low"]), ([2.0, 10.0, 1.0], 2.0, None))

    def verdict(self, low, high, bar, disturbed=False):
        return judging.held_against({"low": low, "high": high}, bar, disturbed)

    def test_verdicts(self):
        speed, time = Bar("speed", 20), Bar("time", 0.5)
        self.assertEqual(self.verdict(20.0, 30.0, speed), judging.REACHED)
        self.assertEqual(self.verdict(19.0, 30.0, speed), judging.NOISY)
        self.assertEqual(self.verdict(10.0, 19.9, speed), judging.MISSED)
        self.assertEqual(self.verdict(0.1, 0.5, time), judging.REACHED)
        self.assertEqual(self.verdict(0.4, 0.6, time), judging.NOISY)
        self.assertEqual(self.verdict(0.6, 0.7, time), judging.MISSED)
        self.assertEqual(self.verdict(0.1, 0.2, time, True), judging.NOISY)
        self.assertEqual(self.verdict(None, None, time), judging.FEW)

    def test_rows(self):
        rounds = [{"none": good(10.0), "null": good(10.0), "ours": good(4.0)}] * 6
        rows = judging.judge("rust/park", rounds, ["none", "null", "ours", "other"])
        found = {(r["arm"], r["figure"]): r["verdict"] for r in rows}
        self.assertEqual(found["null", "speed"], judging.NO_BAR)
        self.assertEqual(found["ours", "time"], judging.REACHED)
        self.assertEqual(found["other", "time"], judging.NOT_BUILT)
        self.assertNotIn(("null", "time"), found)

    def test_disturbed_rounds_are_not_judged(self):
        rounds = [{"none": good(10.0, noisy=True), "ours": good(4.0)}] * 6
        rows = judging.judge("rust/park", rounds, ["none", "ours"])
        self.assertEqual(rows[-1]["verdict"], judging.NOISY)

    def test_a_pool_is_of_those_that_lose_nothing(self):
        def result(*programs):
            return "r.json", {"programs": [
                {"name": name, "rounds": [{"none": good(1.0), "ours": good(t)} for t in times]}
                for name, *times in programs]}
        results = [result(("xz", 2.0, 4.0), ("java/linked", 0.01)), result(("mariadb/mixed4", 1.0))]
        self.assertEqual(pooling.ratios(results, "speed"), ([0.5, 0.25, 1.0], 0))

    def test_a_pool_has_no_disturbed_pairs(self):
        rounds = [{"none": good(1.0), "ours": good(2.0)},
                  {"none": good(1.0, noisy=True), "ours": good(9.0)},
                  {"none": good(1.0), "ours": good(9.0, noisy=True)},
                  {"none": good(1.0)}]
        result = {"programs": [{"name": "xz", "rounds": rounds}], "method": {"busy": False}}
        self.assertEqual(pooling.ratios([("r.json", result)], "speed"), ([0.5], 2))
        result["method"]["busy"] = True
        self.assertEqual(pooling.ratios([("r.json", result)], "speed"), ([], 0))

    def test_bars_of_waits_in_the_kernel(self):
        def bars(name, arm):
            return [(bar.figure, bar.limit, bar.against) for bar in bars_of(name, arm)]
        alone, many = ("machine", 1.0, "none"), ("machine", 1.05, "none")
        as_held = ("time", 1.1, "held")
        self.assertEqual(bars("redis/1", "fd"), [("speed", 4, "none"), alone])
        self.assertEqual(bars("redis/1", "awake"), [alone, as_held])
        self.assertEqual(bars("postgresql/tpcb1-on", "fd"), [("speed", 1.3, "none"), alone])
        self.assertEqual(bars("postgresql/select1-off", "awake"),
                         [("speed", 2.5, "none"), alone, as_held])
        self.assertEqual(bars("postgresql/tpcb50-on", "fd"), [("speed", 0.98, "none"), many])
        self.assertEqual(bars("redis", "awake"), [("speed", 0.98, "none"), many, as_held])
        self.assertEqual(bars("redis/1", "held"), [])
        self.assertEqual(bars("postgresql/tpcb50-on", "ours"), [("speed", 0.98, "none")])

    def test_rows_of_waits_in_the_kernel(self):
        def of(time_s, machine_s, polling_s):
            return {**good(time_s), "machine_s": machine_s, "polling_s": polling_s}
        done = {"none": of(9.0, 4.0, 4.0), "awake": of(3.0, 2.0, 5.0), "held": of(2.9, 2.0, 9.0)}
        rows = judging.judge("redis/1", [done] * 6, list(done))
        found = {(r["arm"], r["figure"], r["against"]): (r["median"], r["verdict"]) for r in rows}
        self.assertEqual(found["awake", "machine", "none"], (0.5, judging.REACHED))
        self.assertEqual(found["awake", "polling", "none"], (1.25, judging.NO_BAR))
        self.assertEqual(found["awake", "time", "held"][1], judging.REACHED)
        self.assertEqual(found["held", "speed", "none"][1], judging.NO_BAR)
        self.assertNotIn(("awake", "cpu", "none"), found)

    def test_what_was_not_measured_has_no_row(self):
        """No arm to compare with, and no idle state that polls."""
        one = {**good(1.0), "machine_s": 1.0, "polling_s": None}
        rows = judging.judge("redis/1", [{"none": one, "awake": one}] * 6, ["none", "awake"])
        self.assertEqual([r["figure"] for r in rows], ["speed", "machine"])

    def test_cpu_time_by_the_clock(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            self.assertEqual(machine.reading(root), {"not_idle_s": None, "polled_s": None})
            (root / "proc").mkdir()
            (root / "proc/stat").write_text("cpu  1 1 1 300 100 1 1 1 0 0\ncpu0 1\ncpu1 1\n")
            for state, name, us in ((0, "POLL", 1_500_000), (1, "haltpoll", 7)):
                path = root / f"sys/devices/system/cpu/cpu0/cpuidle/state{state}"
                path.mkdir(parents=True)
                (path / "name").write_text(name)
                (path / "time").write_text(str(us))
            with mock.patch("time.monotonic", return_value=10.0):
                found = machine.reading(root)
            self.assertAlmostEqual(found["not_idle_s"], 20 - 400 / os.sysconf("SC_CLK_TCK"))
            self.assertEqual(found["polled_s"], 1.5)
            self.assertEqual(machine.between(found, {**found, "polled_s": None}),
                             {"not_idle_s": 0, "polled_s": None})

    def test_bars_beside_a_program_that_computes(self):
        """Only those: the others are for a machine that has nothing else to do."""
        found = [(b.figure, b.limit) for b in bars_of("mono/monitor", "ours", True)]
        self.assertEqual(found, [("speed", 0.97), ("machine", 1.05)])
        self.assertEqual(bars_of("mono/monitor", "fd", True), [])
        self.assertEqual(bars_of("ssh/echo", "fd", True), bars_of("mono/monitor", "other", True))
        self.assertEqual(bars_of("xz", "ours", True), [])
        rounds = [{"none": good(10.0), "ours": good(9.0)}] * 6
        rows = judging.judge("ocaml/event", rounds, ["none", "ours"], busy=True)
        self.assertEqual({r["figure"]: r["limit"] for r in rows},
                         {"speed": 0.97, "cpu": None, "machine": 1.05})

    def test_what_loses_nothing(self):
        for name, arm in (("xz", "ours"), ("xz", "fd"), ("sqlite/wal", "ours"), ("gdbus", "ours"),
                          ("gdbus", "fd"), ("redis/50", "fd"), ("postgresql/notify", "fd")):
            self.assertTrue(loses_nothing(name, arm), name)
        for name, arm in (("java/batches", "ours"), ("rust/park", "ours"), ("c/sem_test", "ours"),
                          ("redis/1", "fd"), ("alone/mutex", "ours"), ("contend/mutex2", "ours")):
            self.assertFalse(loses_nothing(name, arm), name)

    def overall(self, *rows):
        """Of (median, low, high) of programs that are to lose nothing; and of one that is not."""
        names = [p.name for p in catalogue.STRANGERS][:len(rows)]
        entries = [{"name": name, "rows": [
            {"arm": "ours", "figure": "speed", "against": "none", "median": median, "low": low,
             "high": high}]}
            for name, (median, low, high) in zip((*names, "rust/park"), (*rows, (80, 70, 90)))]
        return names, list(overall.judged(entries))

    def test_over_all_programs(self):
        names, (found,) = self.overall(*[(2.0, 1.9, 2.1), (0.5, 0.4, 1.0)] * 3)
        self.assertEqual((found["arm"], found["programs"], found["below"], found["verdict"]),
                         ("ours", 6, [], judging.REACHED))
        self.assertAlmostEqual(found["mean"], 1.0)
        _, (found,) = self.overall(*[(0.99, 0.9, 1.1)] * 6)
        self.assertEqual(found["verdict"], judging.MISSED)
        names, (found,) = self.overall(*[(2.0, 1.9, 2.1)] * 5, (0.9, 0.8, 0.97))
        self.assertEqual((found["below"], found["verdict"]), ([names[-1]], judging.MISSED))
        self.assertIn(f"wholly below 0.980x: {names[-1]}; missed", *overall.lines([found]))

    def test_too_few_for_all(self):
        _, (found,) = self.overall(*[(0.5, 0.4, 0.6)] * 5)
        self.assertEqual(found["verdict"], judging.NO_BAR)
        _, (found,) = self.overall(*[(0.5, None, None)] * 6)
        self.assertEqual(found["verdict"], judging.FEW)
        self.assertEqual(list(overall.judged([])), [])

    def test_every_bar_has_its_program(self):
        self.assertLessEqual(set(BARS), {p.name for p in catalogue.PROGRAMS})
        for arm, names in BUSY.items():
            self.assertLessEqual(set(names), {p.name for p in catalogue.PROGRAMS
                                              if arm not in p.skips})
        self.assertLessEqual(set(ONE_CLIENT), {p.name for p in catalogue.PROGRAMS if not
                                               {"awake", "held"} & set(p.skips)})
        self.assertEqual(len({p.name for p in catalogue.PROGRAMS}), len(catalogue.PROGRAMS))


class Arms(unittest.TestCase):
    def test_each_is_first_in_its_turn(self):
        self.assertEqual([arms.turned("abc", turn)[0] for turn in range(4)], list("abca"))

    def entry(self, script, **more):
        """Of a shell script under the plain arm and under the shim."""
        p = catalogue.Program("x", "a script", "run", lambda c: ["sh", "-c", script],
                              lambda c: None, **more)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            c = SimpleNamespace(folder=folder, scratch=folder / "scratch", beside=(), cpus=None,
                                limit_s=1, fsroot=pathlib.Path("/"))
            o = SimpleNamespace(rounds=2, quick=False, busy=False)
            return session.entry(p, [arms.Arm("none"), arms.Arm("ours", SHIM)], o, c,
                                 lambda text: None)

    def verdicts(self, script, **more):
        entry = self.entry(script, **more)
        return {row["verdict"] for row in entry["rows"]}, entry

    RESULT = "echo begin; echo '{\"ops\": 4, \"seconds\": 2.0}'"

    def test_a_program_that_ends_well(self):
        found, entry = self.verdicts(self.RESULT)
        self.assertEqual(found, {judging.NO_BAR})
        self.assertEqual([list(r) for r in entry["rounds"]], [["none", "ours"], ["ours", "none"]])
        self.assertEqual(entry["rounds"][0]["ours"]["time_s"], 0.5)

    def test_a_program_that_hangs(self):
        found, entry = self.verdicts('[ -z "$LD_PRELOAD" ] || sleep 60; ' + self.RESULT)
        self.assertEqual(found, {judging.HUNG})
        self.assertEqual(list(entry["rounds"][1]), ["none"])
        self.assertIn("hung: no end after 1 s", "".join(table.of_entry(entry)))

    def test_a_program_that_ends_differently(self):
        found, entry = self.verdicts(self.RESULT + '; [ -z "$LD_PRELOAD" ]')
        self.assertEqual(found, {judging.DIFFERS})
        self.assertIn("exit status 1", "".join(table.of_entry(entry)))
        found, entry = self.verdicts(self.RESULT + '; [ -z "$LD_PRELOAD" ] || kill -SEGV $$')
        self.assertEqual(found, {judging.DIFFERS})
        self.assertIn("crashed", "".join(table.of_entry(entry)))

    def test_a_program_that_prints_something_else(self):
        found, _ = self.verdicts('echo "$LD_PRELOAD"', same_output=True,
                                 read=lambda *run: (1, 1.0))
        self.assertEqual(found, {judging.DIFFERS})

    def test_a_program_without_a_result(self):
        found, _ = self.verdicts("echo begin")
        self.assertEqual(found, {judging.FAILED})

    def context(self, folder):
        scratch = folder / "scratch"
        scratch.mkdir()
        return SimpleNamespace(scratch=scratch, folder=folder, beside=(), cpus=None, limit_s=10,
                               fsroot=pathlib.Path("/"))

    def measured(self, script, arm, **more):
        p = catalogue.Program("x", "a script", "run", lambda c: ["sh", "-c", script],
                              lambda c: None, **more)
        with tempfile.TemporaryDirectory() as folder:
            return measuring.measure(p, arm, self.context(pathlib.Path(folder)))

    def test_only_some_are_for_waits_in_the_kernel(self):
        """Nothing but the names of --arms brings them, and other programs skip them."""
        self.assertEqual([a.name for a in arms.arms(BUILD, [], None)], ["none", "null", "ours"])
        self.assertEqual([a.name for a in arms.arms(BUILD, [], "fd,held", True)],
                         ["none", "fd", "held"])
        r = bench("--only", "c/sem", "--arms", "fd", "--rounds", "1", "--seconds", "0.01")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertNotIn("\n  fd ", r.stdout)

    def test_fd(self):
        """The module, its variable, and of servers both sides."""
        fd = arms.for_kernel(BUILD, "fd", False)._replace(path=SHIM)
        script = '[ "$IPCWAIT_FD $LD_PRELOAD" = "1 %s" ] || exit 3; ' % SHIM + self.RESULT
        done = self.measured(script, fd, skips=(), read=lambda *run: (2, 1.0))
        self.assertIsNone(done["why"])
        self.assertEqual(done["machine_s"], done["not_idle_s"] / 2)
        script = '[ "$BENCH_PRELOAD $BENCH_PRELOAD_CLIENT$LD_PRELOAD" = "%s %s" ] || exit 3; ' \
            % (SHIM, SHIM) + self.RESULT
        self.assertIsNone(self.measured(script, fd, starts_servers=True)["why"])
        ours = arms.Arm("ours", SHIM)
        script = '[ "$BENCH_PRELOAD$BENCH_PRELOAD_CLIENT" = "%s" ] || exit 3; ' % SHIM + self.RESULT
        self.assertIsNone(self.measured(script, ours, starts_servers=True)["why"])

    def awake_by(self, folder, status):
        """The arm, by a script in the place of the command."""
        command = pathlib.Path(folder) / arms.COMMAND
        command.parent.mkdir()
        command.write_text(f"#!/bin/sh\n[ \"$2\" != --status ] || {{ {status}; }}\n"
                           "shift 3; echo 'ipcwait: awake: held for 1 s' >&2; BY=me exec \"$@\"\n")
        command.chmod(0o755)
        return arms.for_kernel(pathlib.Path(folder), "awake", False)

    def test_awake(self):
        with tempfile.TemporaryDirectory() as folder:
            arm = self.awake_by(folder, "echo 'choice      qos, as it is there'; exit 0")
            self.assertIsNone(arm.missing)
            done = self.measured('[ "$BY" = me ] || exit 3; ' + self.RESULT, arm, skips=())
            self.assertEqual((done["why"], done["awake"]), (None, ["ipcwait: awake: held for 1 s"]))
            done = self.measured("echo the reason >&2; exit 4", arm, skips=())
            self.assertEqual(done["why"], "exit status 4: the reason")

    def test_awake_that_can_do_nothing(self):
        """A program beside it would run plainly."""
        for status, why in (("echo 'choice  nothing: one CPU'; exit 0", "not available: one CPU"),
                            ("exit 1", "not available: ipcwait awake --status fails")):
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(self.awake_by(folder, status).missing, why)
        with tempfile.TemporaryDirectory() as folder:
            arm = arms.for_kernel(pathlib.Path(folder), "awake", False)
            self.assertEqual(arm.missing, "not built: ipcwait")

    def test_hogs(self):
        """On each CPU, of the lowest class, and gone afterwards."""
        with awake.beside(arms.for_kernel(BUILD, "hog", False)):
            found = [p for p in os.listdir("/proc") if p.isdigit() and hog_of_mine(p)]
        self.assertEqual(len(found), len(os.sched_getaffinity(0)))
        self.assertEqual([p for p in found if os.path.exists(f"/proc/{p}")], [])
        self.assertEqual(bars_of("redis/1", "hog"), [])

    def test_what_computes_beside_is_left_out(self):
        """Its CPU time by the kernel's clock for it, of the run's and of what others used."""
        with awake.busy([max(os.sched_getaffinity(0))]) as beside:
            while awake.cpu_time_s(beside) < 0.02:
                time.sleep(0.001)
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "proc").mkdir()
            (root / "proc/stat").write_text("cpu  100 0 0 300 100 0 0 0 0 0\ncpu0 1\ncpu1 1\n")
            with mock.patch.object(measuring, "cpu_time_s", return_value=0.25):
                read = measuring.Reading(root, True).cpu()
                mine = measuring.noise_reading(SimpleNamespace(fsroot=root, beside=()))
        self.assertAlmostEqual(read["machine_cpu_s"], 100 / os.sysconf("SC_CLK_TCK") - 0.25)
        self.assertGreater(mine["harness_s"], 0.25)

    def test_held(self):
        """Only while a program runs, and not where all are held."""
        held = arms.for_kernel(BUILD, "held", True)
        self.assertEqual((held.missing, held.held), ("the same as none with --cheap", True))
        with tempfile.NamedTemporaryFile() as file, mock.patch.object(awake, "LATENCY", file.name):
            self.assertIsNone(arms.for_kernel(BUILD, "held", False).missing)
            file.truncate(0)
            done = self.measured(f"[ -s {file.name} ] || exit 3; " + self.RESULT, held)
            self.assertIsNone(done["why"])
        with mock.patch.object(awake, "LATENCY", "/nowhere/file"):
            missing = arms.for_kernel(BUILD, "held", False).missing
            self.assertRegex(missing, "^not available: cannot")

    def test_what_is_given_must_load(self):
        for text in ("ours", "=x", "x=", "none=x", "fd=x", "x=/nowhere"):
            r = bench("--arm", text, "--only", "c/sem")
            self.assertEqual((r.returncode, r.stdout), (2, ""), text)
            self.assertEqual(r.stderr.count("\n"), 1)


class Command(unittest.TestCase):
    def test_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            out, page = f"{folder}/r.json", f"{folder}/r.md"
            r = bench("--only", "alone/mutex,c/sem", "--arms", "null", "--rounds", 2, "--seconds",
                      "0.02", "--out", out, "--markdown", page)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            result = json.loads(pathlib.Path(out).read_text("utf-8"))
            summary = json.loads(pathlib.Path(f"{folder}/r.summary.json").read_text("utf-8"))
            self.assertIn("| alone/mutex | null |", pathlib.Path(page).read_text("utf-8"))
        self.assertEqual([p["name"] for p in summary["programs"]], ["c/sem", "alone/mutex"])
        self.assertEqual(result["method"]["arms"], ["none", "null"])
        self.assertEqual([p["name"] for p in result["programs"]], ["c/sem", "alone/mutex"])
        for program in result["programs"]:
            self.assertEqual(len(program["rounds"]), 2)
            for done in program["rounds"]:
                self.assertEqual(sorted(done), ["none", "null"])
                for one in done.values():
                    self.assertIsNone(one["why"])
                    self.assertGreater(one["time_s"], 0)
            self.assertEqual([row["figure"] for row in program["rows"]], ["speed", "cpu"])

    def test_list(self):
        r = bench("--list")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual([line.split()[0] for line in r.stdout.splitlines()],
                         [p.name for p in catalogue.PROGRAMS])
        r = bench("--list", "--only", "java,*/sem")
        self.assertEqual({line.split()[0].split("/")[0] for line in r.stdout.splitlines()},
                         {"java", "c", "alone", "stress-ng"})

    def test_a_pool(self):
        r = bench("--pool", *POOLED)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        *figures, mean = r.stdout.splitlines()
        for line, figure in zip(figures, ("speed", "cpu"), strict=True):
            self.assertRegex(line, rf"^{figure} +[01]\.\d+x? .* of \d+ pairs of runs, without \d+ that")
        self.assertRegex(mean, r"^ours +geometric mean of \d+ speeds [01]\.\d+x, bar >= 0\.995x; ")

    def test_bad_input(self):
        for words in (("--only", "none"), ("--pool", *POOLED, "--cheap"), ("--cpus", "x"), ("--cpus", "9999"), ("--rounds", "0"),
                      ("--arms", "none,x"), ("--seconds", "0"), ("--out", "/dev/null/r.json"),
                      ("--only", ""), ("more",), ("--build", "/nowhere"), ("--pool", "/nowhere")):
            r = bench(*words)
            self.assertEqual((r.returncode, r.stdout), (2, ""), words)
            self.assertEqual(r.stderr.count("\n"), 1, words)


if __name__ == "__main__":
    brief.main()
