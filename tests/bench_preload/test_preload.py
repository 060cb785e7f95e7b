# SPDX-License-Identifier: MIT
"""bench/preload: what it takes, what it says, how it judges. No timings."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace

BUILD = pathlib.Path(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench/preload"
sys.path.insert(0, str(ROOT / "bench"))

from preload import arms, catalogue, judging, pooling, session, table    # noqa: E402
from preload.bars import BARS, Bar                              # noqa: E402

POOLED = [ROOT / f"bench/results/preload-{name}-2vcpu-kvm-zen5.json" for name in ("tools", "servers")]
SHIM = BUILD / "bench/preload/null_shim.so"
PROGRAMS = {"alone": ("mutex", "sem", "rdlock", "wrlock"),
            "contend": ("mutex2", "mutex4", "rwlock2", "rwlock4"),
            "handoff": ("sem", "cond", "barrier")}


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=100,
                          check=False, **more)


def bench(*words):
    return run(sys.executable, BENCH, "--build", BUILD, *words)


def good(time_s, cpu_s=1.0, noisy=False):
    return {"why": None, "verdict": None, "noisy": noisy, "time_s": time_s, "cpu_s": cpu_s}


class Programs(unittest.TestCase):
    def test_every_workload_plain_and_under_the_shim(self):
        for program, workloads in PROGRAMS.items():
            for workload in workloads:
                for env in ({}, {"LD_PRELOAD": str(SHIM)}):
                    r = run(BUILD / f"bench/preload/preload_{program}", workload, "0.01", env=env)
                    self.assertEqual((r.returncode, r.stderr), (0, ""), workload)
                    begin, result = r.stdout.splitlines()
                    self.assertEqual(begin, "begin")
                    self.assertGreater(json.loads(result)["ops"], 0)
                    self.assertGreaterEqual(json.loads(result)["seconds"], 0.01)

    def test_bad_input(self):
        for words in ((), ("none", "1"), ("sem", "0"), ("sem", "x"), ("sem", "1", "1")):
            for program in PROGRAMS:
                r = run(BUILD / f"bench/preload/preload_{program}", *words)
                self.assertEqual((r.returncode, r.stdout), (2, ""), words)
                self.assertEqual(r.stderr.count("\n"), 1)

    def test_python(self):
        for workload in ("queue", "submit", "map", "asyncio"):
            r = run(sys.executable, BENCH / "programs/handoff.py", workload, "0.01")
            self.assertEqual((r.returncode, r.stderr), (0, ""), workload)
            self.assertGreater(json.loads(r.stdout.splitlines()[-1])["ops"], 0)

    def test_the_shim_has_no_other_names(self):
        symbols = run("nm", "-D", "--defined-only", SHIM).stdout.split("\n")
        names = {line.split()[-1] for line in symbols if line}
        self.assertLessEqual({"pthread_cond_wait", "sem_wait", "syscall", "cnd_wait"}, names)
        self.assertFalse({n for n in names if not n.startswith(("pthread_", "sem_", "cnd_"))}
                         - {"syscall"})


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
        results = [("r.json", {"programs": [{"name": "xz", "rounds": rounds}]})]
        self.assertEqual(pooling.ratios(results, "speed"), ([0.5], 2))

    def test_every_bar_has_its_program(self):
        self.assertLessEqual(set(BARS), {p.name for p in catalogue.PROGRAMS})
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
            c = SimpleNamespace(folder=folder, scratch=folder / "scratch", cpus=None, limit_s=1,
                                fsroot=pathlib.Path("/"))
            o = SimpleNamespace(rounds=2, quick=False)
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

    def test_what_is_given_must_load(self):
        for text in ("ours", "=x", "x=", "none=x", "x=/nowhere"):
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
            self.assertIn("| alone/mutex | null |", pathlib.Path(page).read_text("utf-8"))
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
        for line, figure in zip(r.stdout.splitlines(), ("speed", "cpu"), strict=True):
            self.assertRegex(line, rf"^{figure} +[01]\.\d+x? .* of \d+ pairs of runs, without \d+ that")

    def test_bad_input(self):
        for words in (("--only", "none"), ("--pool", *POOLED, "--cheap"), ("--cpus", "x"), ("--cpus", "9999"), ("--rounds", "0"),
                      ("--arms", "none,x"), ("--seconds", "0"), ("--out", "/dev/null/r.json"),
                      ("--only", ""), ("more",), ("--build", "/nowhere"), ("--pool", "/nowhere")):
            r = bench(*words)
            self.assertEqual((r.returncode, r.stdout), (2, ""), words)
            self.assertEqual(r.stderr.count("\n"), 1, words)


if __name__ == "__main__":
    unittest.main()
