# SPDX-License-Identifier: MIT
"""pool_test and pool_bench: what they take, what they say. No timings."""

import os
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


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=1000,
                          check=False)


class Pool(unittest.TestCase):
    def test_every_allocator_and_form(self):
        for allocator in ("pool", "malloc", "none"):
            for form in ("own", "deep", "across"):
                for size in (1, 64, 100000):
                    r = run(BUILD + "/bench/queue/pool_test", allocator, form, size, 1000)
                    self.assertEqual((r.returncode, r.stderr), (0, ""))
                    self.assertGreater(json.loads(r.stdout)["seconds"], 0)
                    self.assertEqual(json.loads(r.stdout)["objects"], 1000)

    def test_bad_input(self):
        for words in ((), ("heap", "own", 8, 8), ("pool", "far", 8, 8), ("pool", "own", 0, 8),
                      ("pool", "own", 1048577, 8), ("pool", "own", 8, 0), ("pool", "own", 8, 8, 8)):
            r = run(BUILD + "/bench/queue/pool_test", *words)
            self.assertEqual((r.returncode, r.stdout), (2, ""))
            self.assertEqual(r.stderr.count("\n"), 1)

    def test_bench(self):
        with tempfile.TemporaryDirectory() as folder:
            result, summary = (pathlib.Path(folder) / n for n in ("r.json", "r.summary.json"))
            r = run(ROOT / "bench/queue/pool_bench", "--build", BUILD, "--repeat", 1, "--size", 64,
                    "--count", 1000, "--json", result)
            self.assertIn(r.returncode, (0, 3), r.stderr)
            rows = json.loads(result.read_text("ascii"))["rows"]
            self.assertEqual(len(json.loads(summary.read_text("ascii"))["rows"]), len(rows))
        self.assertEqual([row["form"] for row in rows], ["own", "deep", "across"])
        for row in rows:
            self.assertEqual(len(row["ns"]["pool"]), 1)
            self.assertEqual(len(row["cpu_ns"]["pool"]), 1)
            self.assertIn("glibc", row["times"])

    def test_bench_without_programs(self):
        r = run(ROOT / "bench/queue/pool_bench", "--build", "/nowhere")
        self.assertEqual(r.returncode, 1)
        self.assertIn("/nowhere has no", r.stderr)


if __name__ == "__main__":
    brief.main()
