# SPDX-License-Identifier: MIT
"""server, serverchannel, seda and file: their totals, and what they refuse."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

FOLDER = pathlib.Path(sys.argv.pop(1))
COUNT = 300


def run(name, *words):
    return subprocess.run([FOLDER / name, *words], capture_output=True, text=True, timeout=1000,
                          stdin=subprocess.DEVNULL, check=False)


def wrap(number):
    return (number + 2**63) % 2**64 - 2**63


class Totals(unittest.TestCase):
    def total(self, name, *words):
        r = run(name, *words)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        return int(r.stdout.rpartition("Final total: ")[2])

    def test_servers(self):
        # 50 workers, 2 x 30 bytes, 100 added to itself 1000 times.
        expected = wrap(50 * 60 * 100000 * (COUNT * (COUNT - 1) // 2))
        for name in ("server", "serverchannel"):
            for capacity in ((), ("-capacity=0",), ("-capacity=1",), ("--capacity=64",)):
                with self.subTest(name=name, capacity=capacity):
                    self.assertEqual(self.total(name, f"-count={COUNT}", *capacity), expected)

    def test_seda(self):
        expected = COUNT * (COUNT - 1) // 2 + COUNT * 4 * 30 * 1000 * 10000
        for capacity in (0, 1, 16):
            with self.subTest(capacity=capacity):
                self.assertEqual(self.total("seda", f"-count={COUNT}", f"-capacity={capacity}"),
                                 expected)

    def test_file(self):
        for batch in (1, 7, 64, 1024):
            r = run("file", "-count=5000", f"-batch={batch}")
            self.assertEqual((r.returncode, r.stderr), (0, ""), r)
            self.assertEqual(r.stdout.count(" 150000 bytes"), 2, r.stdout)


class BadInput(unittest.TestCase):
    def test_refused(self):
        for name in ("server", "serverchannel", "seda", "file"):
            for word in ("-count=0", "-count=1000000001", "-count=x", "-count", "-none=1", "7",
                         "-capacity=1000001" if name != "file" else "-batch=1025", "--", ""):
                with self.subTest(name=name, word=word):
                    r = run(name, word)
                    self.assertEqual((r.returncode, r.stdout), (2, ""), r)
                    self.assertEqual(r.stderr.count("\n"), 1, r)


if __name__ == "__main__":
    brief.main()
