# SPDX-License-Identifier: MIT
"""What the command counts of a program each of whose waits sleeps once, against how many those are,
and against the system calls that strace sees.

test_agree_timed.py compares what it counts of CPython, whose waits may end at the last look.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import common
import run_common

ROUNDS = 150
KINDS = "sem", "cond", "mutex"
PROGRAM = ""


def strace_works():
    return shutil.which("strace") and subprocess.run(
        ["strace", "-f", "-o", os.devnull, "true"], check=False, capture_output=True
    ).returncode == 0


class Agree(run_common.RunTest):
    def setUp(self):
        super().setUp()
        self.env["IPCWAIT_POLICY"] = "block"

    def counted_by(self, tracer, *command):
        r = subprocess.run([*tracer, common.PROGRAM, *command, PROGRAM, str(ROUNDS)],
                           cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, text=True,
                           capture_output=True, timeout=common.SECONDS_MOST, check=False)
        self.assertEqual(r.returncode, 0, r)

    def counted_in_file(self):
        with open(self.path("out"), encoding="ascii") as f:
            return json.load(f)

    def check_counts(self, o):
        self.assertEqual({kind: o["kinds"][kind]["futex_waits"] for kind in KINDS},
                         dict.fromkeys(KINDS, ROUNDS))

    def test_stat(self):
        self.counted_by([], "stat", "--json", "--output", self.path("out"), "--")
        self.check_counts(self.counted_in_file())

    def test_record(self):
        self.counted_by([], "record", "--output", self.path("waits"), "--")
        r = self.run_it("report", "--json", self.path("waits"))
        self.assertEqual(r.returncode, 0, r)
        objects = json.loads(r.stdout)["objects"]
        self.assertEqual({kind: sum(o["slept"] for o in objects if o["kind"] == kind)
                          for kind in KINDS}, dict.fromkeys(KINDS, ROUNDS))

    def test_a_page(self):
        """What stat -p, and so top, reads of a process that runs already."""
        p = self.start("--page", PROGRAM, str(ROUNDS), "pause", stdin=subprocess.PIPE)
        self.addCleanup(p.stdin.close)
        self.assertRegex(p.stdout.readline(), r"^paused \d+\n$")
        stat = self.start_stat("--json", "--pid", str(p.pid))
        p.stdin.write("\n")
        p.stdin.flush()
        self.assertEqual(p.wait(), 0)
        self.check_counts(json.loads(stat.communicate(timeout=common.SECONDS_MOST)[0]))

    @unittest.skipUnless(strace_works(), "no strace, or it may trace nothing")
    def test_calls(self):
        """The calls that put the waiter to sleep, by the thread that makes them."""
        self.counted_by(["strace", "-f", "-e", "trace=futex", "-o", self.path("trace")],
                        "stat", "--json", "--output", self.path("out"), "--")
        self.check_counts(self.counted_in_file())
        with open(self.path("trace"), encoding="ascii", errors="replace") as f:
            calls = re.findall(r"^(\d+) +futex\(\w+, FUTEX_WAIT\w*_PRIVATE\b", f.read(), re.M)
        self.assertEqual([calls.count(thread) for thread in sorted(set(calls))],
                         [len(KINDS) * ROUNDS])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(4))
    run_common.main()
