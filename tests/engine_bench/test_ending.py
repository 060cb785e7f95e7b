# SPDX-License-Identifier: MIT
"""Ending before its time leaves nothing behind: no file, no process, no control group."""

import glob
import os
import signal

import common

ENDLESS = ["--scale", "1000", "--no-progress", "--json", "out.json"]


def alive(pid):
    """Not a zombie that nobody has waited for yet."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def groups(pid):
    """Control groups that the row of this program's child made."""
    return [g for child in common.children(pid)
            for g in glob.glob("/sys/fs/cgroup/**/wait_bench.%d" % child, recursive=True)]


class Ending(common.BenchTest):
    def check_nothing_left(self, p, number, below, made):
        p.wait(common.SECONDS_MOST)
        self.assertEqual(p.returncode, 128 + number)
        self.assertEqual(p.stderr.read(), "")
        self.assertEqual(self.files(), [])
        self.wait_until("the end of %s" % below, lambda: not any(map(alive, below)))
        self.assertEqual([g for g in made if os.path.exists(g)], [])

    def end(self, number, row):
        p = self.start_it(row, *ENDLESS)
        self.wait_until("a row's process", lambda: common.children(p.pid))
        self.assertEqual(len(self.files()), 1)
        below, made = common.children(p.pid), groups(p.pid)
        p.send_signal(number)
        self.check_nothing_left(p, number, below, made)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                self.end(number, "budget")

    def test_with_processes_and_a_control_group(self):
        for row in ("hog", "quota"):
            p = self.start_it(row, *ENDLESS)
            self.wait_until("runs", lambda p=p: len(common.children(p.pid)) >= 2 or
                            p.poll() is not None)
            if p.poll() is not None:
                continue  # no control groups here, or one CPU
            below, made = common.children(p.pid), groups(p.pid)
            if row == "quota":
                self.assertTrue(made)
            p.send_signal(signal.SIGTERM)
            self.check_nothing_left(p, signal.SIGTERM, below, made)
            if os.path.exists(self.path("out.json")):
                os.unlink(self.path("out.json"))

    def test_a_row_that_dies_fails_the_program(self):
        p = self.start_it("budget", *ENDLESS)
        self.wait_until("a row's process", lambda: common.children(p.pid))
        for child in common.children(p.pid):
            os.kill(child, signal.SIGKILL)
        p.wait(common.SECONDS_MOST)
        self.assertEqual(p.returncode, 1)
        self.assertRegex(p.stderr.read(), r"^wait_bench: budget was ended by: Killed\n$")
        self.assertEqual(self.files(), [])

    def test_nothing_outlives_the_program(self):
        p = self.start_it("hog", *ENDLESS)
        self.wait_until("runs", lambda: len(common.children(p.pid)) >= 2 or
                        p.poll() is not None)
        if p.poll() is not None:
            self.skipTest("one CPU")
        below = common.children(p.pid)
        p.kill()
        self.wait_until("the end of %s" % below, lambda: not any(map(alive, below)))

    def test_output_that_nobody_gets_is_a_failure(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            r = self.run_it("one-cpu", *common.SMALL, stdout=full)
        self.assertEqual((r.returncode, r.stderr), (1, "wait_bench: cannot write the table\n"))


if __name__ == "__main__":
    common.main()
