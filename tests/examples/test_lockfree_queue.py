# SPDX-License-Identifier: MIT
"""lockfree_queue: all that goes in comes out, in every form; what it refuses."""

import os
import itertools
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

PROGRAM = sys.argv.pop(1)


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=1000,
                          stdin=subprocess.DEVNULL, check=False)


class LockfreeQueue(unittest.TestCase):
    def test_every_form(self):
        for (p, c), batch, blocking in itertools.product(((1, 1), (2, 3), (4, 4)), (1, 64),
                                                         ([], ["--blocking"])):
            with self.subTest(producers=p, consumers=c, batch=batch, blocking=blocking):
                r = run("100001", "--producers", p, "--consumers", c, "--batch", batch, *blocking)
                self.assertEqual((r.returncode, r.stderr), (0, ""), r)
                self.assertTrue(r.stdout.startswith("100001 items in "), r.stdout)

    def test_fewer_items_than_producers(self):
        self.assertEqual(run("1", "--producers", 8, "--consumers", 8).returncode, 0)
        self.assertEqual(run("1k").returncode, 0)

    def test_bad_input(self):
        for words in (["0"], ["x"], ["1", "2"], ["4000000001"], ["--producers", 0],
                      ["--producers", 65], ["--consumers"], ["--batch", 1025], ["--none"]):
            with self.subTest(words=words):
                r = run(*words)
                self.assertEqual((r.returncode, r.stdout), (2, ""), r)
                self.assertEqual(r.stderr.count("\n"), 1, r)
        self.assertIn("--blocking", run("--help").stdout)


if __name__ == "__main__":
    brief.main()
