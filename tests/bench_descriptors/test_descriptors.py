# SPDX-License-Identifier: MIT
"""bench/descriptors: what it takes, what it says, how it judges. No timings."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench/descriptors"
PROGRAM = BUILD / "bench/descriptors/pairs"
sys.path.insert(0, str(ROOT / "bench"))

from descriptors import arms, groups, judging, measuring, table     # noqa: E402
from preload.bars import Bar                                        # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=1000,
                          check=False, **more)


# More than a machine that stops programs at random makes fail.
TRIES = 20


def bench(*words):
    return run(sys.executable, BENCH, "--build", BUILD, *words)


def good(time_s, cpu_s=1.0, latency_s=None, noisy=False):
    return {"why": None, "noisy": noisy, "time_s": time_s, "cpu_s": cpu_s,
            "latency_s": latency_s, "processes_cpu_s": cpu_s, "answers_cpu_s": cpu_s,
            "per_s": 1 / time_s, "first_time_s": 2.0}


def bad(arm="library"):
    return {"arm": arm, "why": "hung", "noisy": False}


class Program(unittest.TestCase):
    def result(self, *words):
        """Of a run with round trips: one that was stopped for all its time has none."""
        for _ in range(TRIES):
            r = run(PROGRAM, "--seconds", "0.1", *words)
            self.assertEqual((r.returncode, r.stderr, r.stdout.count("\n")), (0, "", 1), words)
            result = json.loads(r.stdout)
            if result["round_trips"]:
                break
        return result

    def test_every_kind_and_way(self):
        for kind in groups.KINDS:
            for way in ("plain", "fixed", "library"):
                r = self.result("--kind", kind, "--way", way, "--work-us", 1)
                self.assertEqual((r["kind"], r["way"], r["latency"]), (kind, way, None))
                self.assertGreater(r["round_trips"], 0)
                self.assertGreater(r["cpu_s"], r["answers_cpu_s"])
                self.assertGreater(r["answers_cpu_s"], 0)
                self.assertGreaterEqual(r["seconds"], 0.1)

    def test_latency_where_one_side_pauses(self):
        for kind in groups.KINDS:
            r = self.result("--kind", kind, "--pause-us", 500)
            self.assertGreater(r["latency"]["samples"], 0)
            self.assertLess(r["round_trips"], 2 * r["seconds"] / 500e-6 + 1)
            self.assertLessEqual(0, r["latency"]["median_ns"])
            self.assertLessEqual(r["latency"]["median_ns"], r["latency"]["p90_ns"])

    def test_pairs(self):
        r = self.result("--pairs", 3)
        self.assertLessEqual(r["pair_least_per_s"] * 3, r["per_s"] + 1)
        self.assertGreaterEqual(r["pair_most_per_s"] * 3, r["per_s"] - 1)

    def test_work_that_changes(self):
        r = self.result("--long-us", 300, "--kind", "unix", "--seconds", "0.3")
        self.assertEqual(sum(p["round_trips"] for p in r["phases"]), r["round_trips"])
        for phase in r["phases"]:
            self.assertGreaterEqual(phase["seconds"], 0.1)
        self.assertEqual(len(r["phases"]), 3)
        self.assertEqual(len(self.result("--work-us", 1)["phases"]), 1)

    def test_one_cpu_and_a_start_on_it(self):
        for more in ((), ("--beside", "one", "--nice", 19)):
            for place in ("together", "start"):
                r = self.result("--place", place, "--seconds", "0.3", *more)
                self.assertEqual(r["place"], place)
                self.assertGreater(r["round_trips"], 0)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU")
    def test_apart(self):
        self.assertEqual(self.result("--place", "apart")["place"], "apart")

    def test_apart_needs_two_cpus(self):
        cpu = min(os.sched_getaffinity(0))
        r = run(PROGRAM, "--place", "apart", preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        self.assertEqual((r.returncode, r.stdout), (2, ""))
        self.assertIn("two CPUs", r.stderr)

    def test_bad_input(self):
        for words in (("--kind", "fifo"), ("--kind",), ("--way", ""), ("--place", "x"),
                      ("--pairs", "0"), ("--pairs", "65"), ("--work-us", "-1"),
                      ("--pause-us", "1.5"), ("--window-us", "x"), ("--seconds", "0"),
                      ("--long-us", "-1"), ("--nice", "20"), ("--nice", "-1"), ("--beside", "two"),
                      ("--seconds", "61"), ("--seconds", "1.2.3"), ("--seconds", "inf"), ("more",)):
            r = run(PROGRAM, *words)
            self.assertEqual((r.returncode, r.stdout), (2, ""), words)
            self.assertEqual(r.stderr.count("\n"), 1, words)


class Judging(unittest.TestCase):
    def test_the_better_of_two(self):
        done = {"plain": good(2.0), "fixed": good(1.0)}
        self.assertIs(judging.other(done, groups.BETTER), done["fixed"])
        self.assertIs(judging.other(done, "plain"), done["plain"])
        done = {"plain": good(1.0), "fixed": good(2.0)}
        self.assertIs(judging.other(done, groups.BETTER), done["plain"])
        for done in ({"plain": good(1.0)}, {"plain": good(1.0), "fixed": bad()}):
            self.assertIsNone(judging.other(done, groups.BETTER))

    def test_quotients(self):
        ours, plain = good(2.0, 3.0, 1.0), good(8.0, 6.0, 4.0)
        for figure, value in (("speed", 4.0), ("time", 0.25), ("cpu", 0.5), ("own_cpu", 0.5),
                              ("answers_cpu", 0.5),
                              ("latency", 0.25)):
            self.assertEqual(judging.quotient(figure, ours, plain), value)
        self.assertIsNone(judging.quotient("cpu", ours, good(1.0, 0.0)))
        self.assertIsNone(judging.quotient("cpu", good(1.0, None), plain))
        self.assertIsNone(judging.quotient("latency", good(1.0), plain))

    def test_a_quotient_is_of_one_round(self):
        rounds = [{"plain": good(10.0), "library": good(5.0)},
                  {"plain": good(100.0), "library": good(10.0)},
                  {"plain": good(1.0), "library": bad()}, {"plain": bad(), "library": good(7.0)}]
        row = judging.compared(Bar("time", 1.0, "plain"), rounds, "library")
        self.assertEqual((row["values"], row["median"], row["low"]), ([0.5, 0.1], 0.3, None))
        self.assertEqual(row["own"], 7.0)

    def test_the_worst_round_and_the_run_itself(self):
        rounds = [{"plain": good(10.0), "library": good(t)} for t in (1.0, 2.0, 4.0)]
        row = judging.compared(Bar("worst", 0.5, "plain"), rounds, "library")
        self.assertEqual((row["values"], row["median"]), ([0.1, 0.2, 0.4], 0.4))
        row = judging.compared(Bar("again", 1.15, groups.ITSELF), [*rounds, {"library": bad()}],
                               "library")
        self.assertEqual((row["values"], row["median"]), ([0.5, 1.0, 2.0], 1.0))

    def test_the_faster_of_two(self):
        done = {"plain": good(2.0), "pinned": good(1.0), "fixed": good(0.5)}
        self.assertIs(judging.other(done, groups.FASTER), done["pinned"])
        self.assertIsNone(judging.other({"plain": good(1.0)}, groups.FASTER))

    def verdict_of(self, group, figure, *rounds):
        rows = judging.judge(group, list(rounds), ["plain", "library"])
        return {(r["arm"], r["figure"]): r["verdict"] for r in rows}["library", figure]

    def test_verdicts(self):
        plain, clear = good(10.0), {"plain": good(10.0), "library": good(3.0)}
        slow = {"plain": plain, "library": good(5.0)}
        noisy = {"plain": good(10.0, noisy=True), "library": good(3.0)}
        for want, rounds in ((judging.REACHED, [clear] * 6), (judging.MISSED, [slow] * 6),
                             (judging.UNCERTAIN, [clear] * 3 + [slow] * 3),
                             (judging.UNCERTAIN, [noisy] * 6), (judging.FEW, [clear] * 5),
                             (judging.NO_RUNS, [{"plain": plain, "library": bad()}] * 6)):
            self.assertEqual(self.verdict_of("apart", "time", *rounds), want)
        self.assertEqual(self.verdict_of("long", "latency", *[
            {"plain": good(1.0, 1.0, 1.0), "library": good(1.0, 1.0, 2.0)}] * 6), judging.MISSED)

    def test_the_verdict_of_the_worst_round(self):
        fast, slow = ({"plain": good(10.0), "library": good(t)} for t in (2.0, 6.0))
        for want, rounds in ((judging.REACHED, [fast] * 6), (judging.MISSED, [fast] * 5 + [slow]),
                             (judging.FEW, [slow] * 5)):
            self.assertEqual(self.verdict_of("start", "worst", *rounds), want)

    def test_speed_is_better_when_it_is_more(self):
        done = {"plain": good(2.0), "fixed": good(1.0), "library": good(0.5)}
        self.assertEqual(self.verdict_of("pairs", "speed", *[done] * 6), judging.REACHED)
        done = {**done, "library": good(1.5)}
        self.assertEqual(self.verdict_of("pairs", "speed", *[done] * 6), judging.MISSED)

    def test_who_has_bars(self):
        done = {arm: good(1.0) for arm in ("plain", "fixed", "library", "ours", "held")}
        rows = judging.judge("free", [done] * 6, list(done))
        self.assertEqual({r["arm"] for r in rows if r["verdict"] != judging.NO_BAR},
                         set(groups.JUDGED))
        rows = judging.judge("apart", [done] * 6, [*done, "awake"])
        against_held = [r for r in rows if r["against"] == "held" and r["limit"]]
        self.assertEqual([r["arm"] for r in against_held], ["awake"])
        self.assertEqual({r["arm"] for r in rows if r["limit"] and r["against"] == "plain"},
                         {*groups.JUDGED, "awake"})

    def test_the_table(self):
        rounds = [{"plain": good(2e-6), "library": bad()}] * 2
        rows = judging.judge("free", rounds, ["plain", "library"])
        lines = table.of_entry({"name": "free/pipe/0us", "rounds": rounds, "rows": rows})
        self.assertEqual(lines[0], "free/pipe/0us")
        self.assertRegex(lines[1], r"^  plain +round trip +2\.00 us +1\.00 of plain +- +- +no bar$")
        self.assertRegex(lines[2], r"^  library +round trip +- +- of plain +- +<= 1\.00 +no runs$")
        self.assertEqual(lines[-1], "  library: hung")

    def test_output_that_is_none(self):
        for text in ("", "x", "[]", "{}", '{"round_trips": 0, "seconds": 1, "latency": null}'):
            with self.assertRaises(ValueError):
                measuring.figures(text)


class Cells(unittest.TestCase):
    def test_names_are_unique_and_the_program_takes_them(self):
        cells = groups.cells(None)
        self.assertEqual(len({cell.name for cell in cells}), len(cells))
        self.assertEqual({cell.group for cell in cells}, set(groups.BARS))
        pairs = groups.cells("pairs")
        self.assertEqual(len(pairs), 24)
        self.assertIn("8", pairs[-1].options())

    def test_who_is_measured_where(self):
        found = arms.arms(pathlib.Path("/nowhere"), None, False, None)
        names = {group: [a.name for a in found if groups.takes(group, a)] for group in groups.BARS}
        self.assertEqual(names["start"], ["plain", "library", "ours"])
        self.assertEqual(names["together"], ["plain", "pinned", "library", "ours"])
        self.assertEqual(names["again"], ["plain", "fixed", "library", "ours"])
        self.assertNotIn("hog", names["busy"])
        self.assertNotIn("pinned", names["apart"])
        for group, bars in groups.BARS.items():
            for bar in bars:
                self.assertLessEqual({*groups.ONE_OF.get(bar.against, ())}, {*names[group]})

    def test_cells_that_begin_on_one_cpu_are_short(self):
        (pipe, *_) = groups.cells("start-nice")
        self.assertEqual((pipe.seconds(1.0), pipe.seconds(0.02)), (0.5, 0.02))
        self.assertTrue(pipe.moves)
        self.assertEqual(pipe.options()[-6:], ["--beside", "one", "--nice", "19", "--place", "start"])
        (pipe, *_) = groups.cells("pairs")
        self.assertEqual((pipe.seconds(1.0), pipe.moves), (1.0, False))

    def test_the_figures_are_of_the_last_third(self):
        phases = [{"round_trips": n, "seconds": 1.0, "cpu_s": 2.0} for n in (10, 1, 5)]
        run = measuring.of_phases(phases)
        self.assertEqual((run["first_time_s"], run["long_time_s"], run["time_s"]), (0.1, 1.0, 0.2))
        self.assertEqual(run["processes_cpu_s"], 0.4)
        self.assertEqual(measuring.of_phases(phases[:1]), {})

    def test_arms(self):
        found = arms.arms(pathlib.Path("/nowhere"), "ours,held", True, None)
        self.assertEqual([a.name for a in found], ["plain", "ours", "held"])
        self.assertEqual([bool(a.missing) for a in found], [False, True, True])
        found = arms.arms(pathlib.Path("/nowhere"), None, False, "no right")
        self.assertEqual([a.name for a in found[-3:]], ["held", "awake", "hog"])
        self.assertEqual(found[-3].missing, "no right")
        self.assertEqual(found[-2].missing, "not built: ipcwait")
        self.assertIsNone(found[-1].missing)
        found = arms.arms(pathlib.Path("/nowhere"), "spinner", False, None)
        self.assertEqual([a.name for a in found], ["plain", "spinner"])
        self.assertIn("spinner", found[1].prefix)

    def test_what_is_preloaded_is_switched_on(self):
        env = measuring.environment(arms.Arm("ours", path=pathlib.Path("/x.so")))
        self.assertEqual((env["LD_PRELOAD"], env["IPCWAIT_FD"]), ("/x.so", "1"))
        self.assertNotIn("LD_PRELOAD", measuring.environment(arms.Arm("plain")))
        self.assertNotIn("IPCWAIT_PLACE", measuring.environment(arms.Arm("library")))
        self.assertEqual(measuring.environment(arms.Arm("library"), True)["IPCWAIT_PLACE"], "1")


class Command(unittest.TestCase):
    def test_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "r.json"
            for _ in range(TRIES):
                r = bench("--groups", "free", "--arms", "library", "--rounds", 2,
                          "--seconds", "0.02", "--json", out)
                if r.returncode == 0:       # else a run that was stopped had no round trip
                    break
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            result = json.loads(out.read_text("utf-8"))
            summary = json.loads(out.with_suffix(".summary.json").read_text("utf-8"))
        self.assertEqual([c["name"] for c in summary["cells"]],
                         [c["name"] for c in result["cells"]])
        self.assertEqual(result["method"]["arms"], ["plain", "library"])
        self.assertEqual(len(result["cells"]), 8)
        for cell in result["cells"]:
            self.assertIn(cell["name"], r.stdout)
            self.assertEqual([list(done) for done in cell["rounds"]],
                             [["plain", "library"], ["library", "plain"]])
            self.assertEqual({row["verdict"] for row in cell["rows"]}
                             - {judging.FEW, judging.NO_RUNS}, {judging.NO_BAR})

    def test_list(self):
        r = bench("--list", "--groups", "apart,long")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(r.stdout.split(), [c.name for c in groups.cells("apart,long")])

    def test_bad_input(self):
        for words in (("--groups", "none"), ("--groups", ""), ("--arms", "plain,x"), ("more",),
                      ("--rounds", "0"), ("--seconds", "0"), ("--json", "/dev/null/r.json"),
                      ("--build", "/nowhere")):
            r = bench(*words)
            self.assertEqual((r.returncode, r.stdout), (2, ""), words)
            self.assertEqual(r.stderr.count("\n"), 1, words)


if __name__ == "__main__":
    brief.main()
