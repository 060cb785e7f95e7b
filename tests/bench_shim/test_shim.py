# SPDX-License-Identifier: MIT
"""What the shim promises to a benchmark in C, on benchmarks whose figures are known."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

PROBE = sys.argv.pop(1)
SUFFIX = "/process_time/manual_time"


def run(*args, slow=None):
    env = dict(os.environ, **({"IPCWAIT_BENCH_SLOW": slow} if slow else {}))
    return subprocess.run([PROBE, "--benchmark_min_time=0.01", *args], env=env,
                          capture_output=True, text=True, timeout=1000)


def rows(*args, slow=None, status=0):
    r = run("--benchmark_format=json", *args, slow=slow)
    assert r.returncode == status, r
    return {row["name"].replace(SUFFIX, ""): row for row in json.loads(r.stdout)["benchmarks"]}


class Shim(unittest.TestCase):
    def test_only_the_measured_part_counts(self):
        # What is not measured takes longer each time; a machine that is held up does not.
        for _ in range(20):
            row = rows("--benchmark_filter=impl:part")["time/impl:part"]
            self.assertGreaterEqual(row["real_time"], 20000)
            if max(row["real_time"], row["cpu_time"]) < 60000:
                break
        self.assertLess(row["real_time"], 60000)
        self.assertLess(row["cpu_time"], 60000)

    def test_a_time_that_others_measured(self):
        row = rows("--benchmark_filter=impl:given")["time/impl:given"]
        self.assertAlmostEqual(row["real_time"], 1e6, delta=1)

    def test_counters(self):
        row = rows("--benchmark_filter=counters")["counters/impl:some"]
        self.assertEqual([row[f"latency_{p}_ns"] for p in ("p50", "p90", "p99", "max")],
                         [50, 90, 99, 100])
        self.assertEqual((row["latency_mean_ns"], row["latency_count"]), (50.5, 1000))
        self.assertNotIn("latency_p999_ns", row)   # one value of a thousand says nothing
        self.assertEqual(row["share"], 0.25)
        self.assertFalse([key for key in row if key.startswith("no")])

    def test_histograms(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "h")
            self.assertEqual(run("--histograms=" + path, "--benchmark_filter=counters").returncode, 0)
            with open(path, encoding="utf-8") as f:
                lines = [json.loads(line) for line in f]
        self.assertEqual([(h["name"], h["histogram"]) for h in lines],
                         [("counters/impl:some", "latency")])
        self.assertEqual(lines[0]["buckets"], [[v, v, 10] for v in range(1, 101)])

    def test_what_cannot_be_measured_says_why(self):
        found = rows("--benchmark_filter=errors", status=1)
        self.assertEqual(found["errors/impl:missing"]["error_message"], "not built: libnone-dev")
        self.assertIn("measured nothing", found["errors/impl:nothing"]["error_message"])
        self.assertTrue(all(row["error_occurred"] for row in found.values()))

    def test_a_slowed_one_is_slower(self):
        for _ in range(20):     # as above
            found = rows("--benchmark_filter=^time", slow="impl:given,50")
            if found["time/impl:part"]["real_time"] < 60000:
                break
        self.assertAlmostEqual(found["time/impl:given"]["real_time"], 1.5e6, delta=1)
        self.assertLess(found["time/impl:part"]["real_time"], 60000)

    def test_the_context_says_what_was_measured(self):
        r = run("--benchmark_format=json", "--benchmark_filter=given", slow="impl:given,50")
        context = json.loads(r.stdout)["context"]
        self.assertEqual(context["slowed"], "impl:given,50")
        self.assertIn("buildtype=", context["compiler_options"])
        self.assertTrue(context["compiler"] and context["measured_by"])

    def test_what_is_missing_is_no_failure(self):
        self.assertEqual(run("--benchmark_filter=missing").returncode, 0)

    def test_bad_input(self):
        with tempfile.TemporaryDirectory() as folder:
            file = "--histograms=" + os.path.join(folder, "h")
            for args in (["--no-such", file], ["--benchmark_filter=nowhere", file],
                         ["--histograms="], ["--histograms=/nowhere/h"],
                         ["--benchmark_repetitions=2", file]):
                with self.subTest(args=args):
                    r = run(*args)
                    self.assertEqual(r.returncode, 2, r)
                    self.assertTrue(r.stderr.strip())
                    self.assertEqual(os.listdir(folder), [])

    def test_bad_slowing(self):
        for text in ("", ",", ",50", "impl", "impl,", "impl,x", "impl,-60", "impl,0", "impl,1e9",
                     "impl,nan", "impl,5x"):
            with self.subTest(text=text):
                r = run(slow=text or ",,")
                self.assertEqual((r.returncode, r.stdout), (2, ""))
                self.assertIn("IPCWAIT_BENCH_SLOW", r.stderr)

    def test_a_name_twice_is_refused(self):
        r = subprocess.run([PROBE, "--twice"], capture_output=True, text=True, timeout=1000)
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn("time/impl:part", r.stderr)


brief.main()
