# SPDX-License-Identifier: MIT
"""A library that takes five times its time is found to be slower, by the whole chain: the program, the
runner, and the comparison of two results."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

PROGRAM = sys.argv.pop(1)
TRIES = 20
HARNESS = Path(__file__).resolve().parents[2] / "bench/harness"
ASKED = ["uncontended", "--filter", "op:sem/impl:(ipcwait|glibc)$", "--min-time", "0.05",
         "--runs", "9", "--force", "--no-progress", "--program", PROGRAM]


def run(*args, slow=None):
    env = {k: v for k, v in os.environ.items() if k != "MALLOC_PERTURB_"}
    if slow:
        env["IPCWAIT_BENCH_SLOW"] = slow
    return subprocess.run([sys.executable, str(HARNESS), *args], env=env, capture_output=True,
                          text=True, timeout=1000)


class Slow(unittest.TestCase):
    def comparison(self):
        with tempfile.TemporaryDirectory() as folder:
            a, b = os.path.join(folder, "a.json"), os.path.join(folder, "b.json")
            for path, slow in ((a, None), (b, "impl:ipcwait,400")):
                r = run(*ASKED, "--out", path, slow=slow)
                self.assertEqual(r.returncode, 0, r)
            return run("--compare", a, b, "--force")

    def test_a_slowed_library_is_found(self):
        # A machine that stops the program may spread its times so far that nothing can be told.
        for _ in range(TRIES):
            r = self.comparison()
            if r.returncode != 0:
                break
        self.assertEqual(r.returncode, 3, r)
        self.assertIn("slower", r.stdout)
        self.assertIn("uncontended/op:sem/impl:ipcwait", r.stdout)


brief.main()
