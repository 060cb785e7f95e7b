# SPDX-License-Identifier: MIT
"""queue_bench and its programs: what they take, what they say, how they judge. No timings."""

import os
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

BUILD = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench/queue/queue_bench"


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=1000,
                          check=False)


def load():
    """The script as a module."""
    sys.path.insert(0, str(BENCH.parent))
    loader = importlib.machinery.SourceFileLoader("queue_bench", str(BENCH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("queue_bench", loader))
    loader.exec_module(module)
    return module


bench = load()
Bar = sys.modules["queue_checks"].Bar


class Programs(unittest.TestCase):
    def test_trickle(self):
        for name in ("ipcwait", "futex"):
            r = run(BUILD + "/bench/queue/trickle_test", name, 10, 200)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            found = json.loads(r.stdout)
            self.assertEqual(found["items"], 200)
            self.assertLessEqual(found["latency_ns"], found["latency_p99_ns"])

    def test_burst(self):
        r = run(BUILD + "/bench/queue/burst_test", 100000)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        found = json.loads(r.stdout)
        self.assertGreaterEqual(found["peak_kb"], found["start_kb"])
        self.assertGreaterEqual(found["drained_kb"], found["trimmed_kb"])

    def test_between(self):
        for way in ("channel", "batches", "pipe", "socket", "packets"):
            r = run(BUILD + "/bench/queue/between_test", way, 5001)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertEqual(json.loads(r.stdout)["items"], 5001)

    def test_bad_input(self):
        for words in (("between_test",), ("between_test", "none", 1), ("between_test", "pipe", 0),
                      ("trickle_test",), ("trickle_test", "none", 1, 1),
                      ("trickle_test", "futex", 0, 1), ("trickle_test", "futex", 1, "x"),
                      ("burst_test",), ("burst_test", 0), ("burst_test", 1, 1)):
            r = run(f"{BUILD}/bench/queue/{words[0]}", *words[1:])
            self.assertEqual((r.returncode, r.stdout), (2, ""), words)
            self.assertEqual(r.stderr.count("\n"), 1, words)


class Judging(unittest.TestCase):
    ROUNDS = {"a": [{"wall_ns": 10.0}, {"wall_ns": 30.0}, {"wall_ns": 20.0}],
              "b": [{"wall_ns": 20.0}, {"wall_ns": 30.0}, {"wall_ns": 100.0}],
              "c": [{"wall_ns": 90.0}] * 3}

    def judge(self, *bar):
        row = bench.judge(Bar(*bar), self.ROUNDS)
        return row["peer"], row["value"], row["reached"]

    def test_quotients_are_of_a_round(self):
        self.assertEqual(self.judge("a", ["b", "c"], "times", 2.0), ("b", 2.0, True))
        self.assertEqual(self.judge("a", ["b", "c"], "times", 2.1), ("b", 2.0, False))
        self.assertEqual(self.judge("a", ["b"], "share", 0.5), ("b", 0.5, True))
        self.assertEqual(self.judge("a", ["b"], "share", 0.49), ("b", 0.5, False))

    def test_most(self):
        self.assertEqual(self.judge("a", [], "most", 20), (None, 20.0, True))
        self.assertEqual(self.judge("a", [], "most", 19), (None, 20.0, False))

    def test_nobody_there(self):
        for bar in (("a", ["x"], "times", 1), ("x", ["a"], "times", 1), ("x", [], "most", 1)):
            self.assertEqual(self.judge(*bar), (None, None, None))
        row = bench.judge(Bar("a", ["x"], "times", 1), self.ROUNDS)
        self.assertIn("not judged", bench.tell_bar(row))

    def test_wrong_total(self):
        variant = bench.CHECKS["serverchannel"](lambda n: 1000).variants["glibc"]
        self.assertIsNone(bench.wrong_total(variant, {"total": "149850000000000"}))
        self.assertIn("FAILED", bench.wrong_total(variant, {"total": "149850000000001"}))


class Bench(unittest.TestCase):
    def test_every_check(self):
        with tempfile.TemporaryDirectory() as folder:
            result, summary = (pathlib.Path(folder) / n for n in ("r.json", "r.summary.json"))
            r = run(BENCH, "--build", BUILD, "--repeat", 1, "--scale", 0.0005, "--json", result)
            self.assertIn(r.returncode, (0, 3), r.stderr)
            rows = json.loads(result.read_text("ascii"))["rows"]
            self.assertEqual(len(json.loads(summary.read_text("ascii"))["rows"]), len(rows))
        self.assertEqual([row["check"] for row in rows], list(bench.CHECKS))
        for row in rows:
            check = bench.CHECKS[row["check"]](lambda n: 1)
            self.assertEqual(sorted([*row["runs"], *row["missing"]]), sorted(check.variants))
            for runs in row["runs"].values():
                self.assertEqual(len(runs), 1)
                self.assertTrue({"wall_ns", "cpu_ns"} <= runs[0].keys() or "kept_kb" in runs[0])
            for bar in row["bars"]:
                self.assertEqual(bar["value"] is None, bar["reached"] is None)

    def test_chosen(self):
        r = run(BENCH, "file", "--build", BUILD, "--repeat", 2, "--scale", 0.0001)
        self.assertIn(r.returncode, (0, 3), r.stderr)
        self.assertEqual(r.stdout.count("bar <= 0.35"), 2)

    def test_bad_input(self):
        self.assertEqual(run(BENCH, "none", "--build", BUILD).returncode, 2)
        r = run(BENCH, "--build", "/nowhere")
        self.assertEqual(r.returncode, 1)
        self.assertIn("/nowhere is no build folder", r.stderr)


if __name__ == "__main__":
    brief.main()
