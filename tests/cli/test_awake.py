# SPDX-License-Identifier: MIT
"""`ipcwait awake`: arguments, statuses, signals; what it asks of the kernel, and that this ends with it.

Whether it helps is for a benchmark. Where the device may not be held, or cannot be read back, the
tests that need it say so and are left out.
"""

import errno
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
import unittest

import common
import run_common
from awake_common import AwakeTest, CPUS, DEVICE, HAND_OFFS, ROOT, SH, TRUE, polls, requested_us


class Statuses(AwakeTest):
    def test_statuses_are_passed_on(self):
        for options, statuses in [([], (0, 1, 125, 127, 255)), (["--explain"], (3,)),
                                  (["--backend", "qos"], (125,)),
                                  (["--backend", "spinner"], (0, 127))]:
            for status in statuses:
                r = self.awake(*options, SH, "-c", "exit %d" % status)
                self.assertEqual(r.returncode, status, r)

    def test_a_signal_that_ends_the_program(self):
        self.need_something_to_do()
        for number in signal.SIGKILL, signal.SIGTERM, signal.SIGPIPE:
            r = self.awake(SH, "-c", "kill -%d $$" % number)
            self.assertEqual(r.returncode, -number, r)

    def test_missing_programs(self):
        for name in "no-such-program", "./no-such", "":
            self.check_one_line(self.awake("--", name), 127, "cannot run")
        self.make("data", b"text\n", 0o644)
        for name in "./data", ".", "/dev/null":
            self.check_one_line(self.awake(name), 126, "cannot run", name)

    def test_programs_of_every_kind(self):
        """There is no module: scripts without an interpreter are no matter."""
        self.make("bare", b"echo $1\nexit 4\n")
        r = self.awake("./bare", "one")
        self.assertEqual((r.returncode, r.stdout), (4, "one\n"))
        r = self.awake("--", SH, "-c", 'printf "%s|" "$0" "$@"', "--explain", "", "a b")
        self.assertEqual(r.stdout, "--explain||a b|")
        r = self.awake(SH, "-c", "echo $LD_PRELOAD")
        self.assertEqual(r.stdout, "\n")

    def test_streams_are_the_programs(self):
        p = self.start_awake(SH, "-c", "cat; echo err >&2", stdin=subprocess.PIPE)
        out, err = p.communicate("in\n")
        self.assertEqual((p.returncode, out), (0, "in\n"))
        self.assertIn("err\n", err)


class BadInput(AwakeTest):
    BAD = [
        (["--no-such", "true"], "--no-such"),
        (["-x", "true"], "-x"),
        (["--budget"], "--budget"),
        (["--budget", "0", "true"], "'0'"),
        (["--budget", "10001", "true"], "'10001'"),
        (["--budget", "-5", "true"], "'-5'"),
        (["--budget", "5%", "true"], "'5%'"),
        (["--budget=", "true"], "''"),
        (["--backend"], "--backend"),
        (["--backend", "hog", "true"], "'hog'"),
        (["--backend=a\nuto", "true"], "a?uto"),
        (["--explain=1", "true"], "--explain takes"),
        (["--status", "true"], "--status"),
        (["--status=0"], "--status takes"),
    ]

    def test_every_bad_argument(self):
        for args, word in self.BAD:
            with self.subTest(args=args):
                r = self.awake(*args)
                self.check_one_line(r, 125, word)
                self.assertEqual((r.stdout, self.files()), ("", []))

    def test_help(self):
        r = self.awake("--help")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in "--budget", "--backend", "--status", "--explain", "125":
            self.assertIn(word, r.stdout)
        self.assertLess(max(map(len, r.stdout.splitlines())), 90)

    def test_help_lists_it(self):
        self.assertIn("awake", self.run_it("help").stdout)


class NothingToDo(AwakeTest):
    """One line says why, and the program runs as if it had been started without."""

    def check_runs(self, *words, **options):
        r = self.awake(SH, "-c", "exit 5", **options)
        self.check_one_line(r, 5, *words)
        self.check_one_line(self.awake(**options), 125, *words)

    def test_one_cpu(self):
        def alone():
            os.sched_setaffinity(0, CPUS[:1])

        self.check_runs("one CPU", preexec_fn=alone)
        self.assertIn("one CPU", self.status(preexec_fn=alone)["choice"])

    def test_nested(self):
        self.need_something_to_do()
        r = self.awake(common.PROGRAM, "awake", "--explain", SH, "-c", "exit 6")
        self.check_last_line(r, 6)
        # It takes no backend, and what it measures may be that nothing pays.
        r = self.awake(common.PROGRAM, "run", "--module", run_common.MODULE, "--awake",
                       SH, "-c", "exit 7")
        self.check_last_line(r, 7, "keeps CPUs awake already|keeps no CPU awake: ")

    def check_last_line(self, r, status, words="keeps CPUs awake already"):
        """The outer one may have had something to say itself."""
        self.assertEqual(r.returncode, status, r)
        self.assertRegex(r.stderr.splitlines()[-1], words)
        self.assertLessEqual(r.stderr.count("\n"), 2, r)

    def test_whoever_watched_is_gone(self):
        p = subprocess.Popen([TRUE])
        p.wait()
        for text in str(p.pid), "", "x", "-1", "1", "99999999999999999999":
            r = self.awake(SH, "-c", "exit 8", IPCWAIT_AWAKE_BY=text)
            self.assertEqual(r.returncode, 8)
            self.assertNotIn("already", r.stderr)

    @unittest.skipUnless(ROOT, "needs another user")
    def test_no_permission(self):
        def nobody():
            os.setgid(65534)
            os.setuid(65534)

        if requested_us() is None or not polls() or len(CPUS) < 2:
            self.skipTest("there is no device, or no state that polls")
        os.chmod(self.dir, 0o777)
        if self.awake("--help", preexec_fn=nobody).returncode != 0:
            self.skipTest("others may not run it here")
        r = self.awake("--backend", "qos", SH, "-c", "exit 9", preexec_fn=nobody)
        self.check_one_line(r, 9, DEVICE, os.strerror(errno.EACCES))
        r = self.awake(SH, "-c", "exit 9", preexec_fn=nobody)
        # Each measures anew: it holds by spinners, or says why it does not.
        self.check_one_line(r, 9, DEVICE, os.strerror(errno.EACCES))
        self.assertRegex(r.stderr, "spinner")
        self.assertIn(os.strerror(errno.EACCES), self.status(preexec_fn=nobody)["qos"])


class Status(AwakeTest):
    def test_all_lines_are_there(self):
        s = self.status()
        for name in "CPUs", "idle", "device", "requests", "wakes", "qos", "spinner", "choice":
            self.assertIn(name, s)
        self.assertIn("%d usable" % len(CPUS), s["CPUs"])

    def test_what_a_trial_has_found_is_kept(self):
        """If other programs leave it enough of the CPUs."""
        if "measured just now" in self.status()["wakes"]:
            with open(self.path("calibration.awake"), encoding="ascii") as f:
                self.assertRegex(f.read(), r"^ipcwait-awake 1 [-0-9a-f]+ \d+ \d+ [1-9]\d* \d+ \d+\n$")
        before = self.files()
        self.status(IPCWAIT_CALIBRATION="none")
        self.assertEqual(self.files(), before)

    def test_what_it_cannot_believe_is_ignored(self):
        for text in "", "ipcwait-awake 1 another-boot 0 1 15100 9000 2400\n", "x" * 5000:
            self.write("calibration.awake", text)
            self.assertNotIn("an earlier trial", self.status()["wakes"])

    def test_a_no_of_the_trial_is_asked_again(self):
        r = self.awake(TRUE)
        self.assertEqual(r.returncode, 0, r)
        for line in r.stderr.splitlines():
            if "keeps no CPU awake" in line and len(CPUS) > 1:
                self.assertRegex(line, r"the next trial is in \d+ s$|the trial goes on$|"
                                 "control group|idle=poll")

    def test_somebody_holds_it(self):
        if not requested_us():
            self.skipTest("the device cannot be read, or another process holds it")
        self.assertIn("none at present", self.status()["requests"])
        with open(DEVICE, "wb", buffering=0) as f:
            f.write(struct.pack("i", 0))
            self.assertIn("asks for 0 us", self.status()["requests"])
        self.check_nothing_is_held()


class Holding(AwakeTest):
    """With processes that hand over, for as long as it takes."""

    def start_hand_offs(self, seconds="60", *options):
        p = self.start_awake("--explain", *options, sys.executable, "-c", HAND_OFFS, seconds,
                             preexec_fn=os.setpgrp)
        self.addCleanup(self.end_group, p.pid)
        # Before the program is there the machine is tried out, beside a request too.
        while p.poll() is None and not self.children(p.pid):
            time.sleep(0.005)
        return p

    @staticmethod
    def children(pid):
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
            return f.read().split()

    @staticmethod
    def end_group(leader):
        """With it go the processes that outlive a command that was killed."""
        try:
            os.killpg(leader, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def test_hand_offs_are_held_and_the_end_is_told(self):
        self.need_device()
        p = self.start_hand_offs("3")
        held = self.wait_for_request(True, 3)
        err = p.communicate()[1]
        self.assertEqual(p.returncode, 0)
        if not held:
            self.skipTest("too busy here for idles that are short: " + err)
        self.assertRegex(err, r"held [1-9]\d* times, [\d.]+ of [\d.]+ s")
        self.assertEqual(err.count("\n"), 2, err)
        self.check_nothing_is_held()

    def test_killed_it_holds_nothing(self):
        self.need_device()
        p = self.start_hand_offs()
        if not self.wait_for_request(True, 10):
            self.skipTest("too busy here for idles that are short")
        p.kill()
        p.wait()
        self.check_nothing_is_held()

    def test_stopped_it_holds_nothing(self):
        self.need_device()
        p = self.start_hand_offs()
        if not self.wait_for_request(True, 10):
            self.skipTest("too busy here for idles that are short")
        p.send_signal(signal.SIGTSTP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(p.pid, os.WUNTRACED)[1]))
        self.check_nothing_is_held()

    def test_stopped_while_it_tries_out(self):
        self.need_device()
        for _ in range(10):
            p = self.start_awake("sleep", "60", preexec_fn=os.setpgrp)
            self.addCleanup(self.end_group, p.pid)
            while requested_us() and not self.children(p.pid):
                pass
            if not requested_us():
                break
        else:
            self.skipTest("too busy here to see the trial")
        p.send_signal(signal.SIGTSTP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(p.pid, os.WUNTRACED)[1]))
        self.check_nothing_is_held()

    def test_two_at_once(self):
        self.need_device()
        first, second = self.start_hand_offs(), self.start_hand_offs("2")
        if not self.wait_for_request(True, 10):
            self.skipTest("too busy here for idles that are short")
        second.communicate()
        self.assertEqual(second.returncode, 0)
        first.kill()
        first.wait()
        self.check_nothing_is_held()

    def test_the_spinners(self):
        self.means = "--backend", "spinner"
        if self.status(*self.means)["spinner"] != "possible" or len(CPUS) < 2:
            self.skipTest("no spinners here")
        r = self.awake("--explain", sys.executable, "-c", HAND_OFFS, "1")
        self.assertEqual(r.returncode, 0, r)
        self.assertRegex(r.stderr, r"held \d+ times")

    def test_run_awake(self):
        r = self.ipcwait_run("--awake", SH, "-c", "exit 3")
        self.assertEqual(r.returncode, 3, r)
        r = self.ipcwait_run("--awake", SH, "-c", "kill -TERM $$")
        self.assertEqual(r.returncode, -signal.SIGTERM, r)
        r = self.ipcwait_run("--awake", "--json", "--output", "o", run_common.WAITS, "20")
        self.assertEqual(r.returncode, 0, r)
        with open(self.path("o"), encoding="ascii") as f:
            self.assertEqual(json.load(f)["programs"], 1)


class Signals(AwakeTest):
    @classmethod
    def setUpClass(cls):
        # As a shell leaves it that starts something behind it.
        for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
            if signal.getsignal(number) == signal.SIG_IGN:
                cls.addClassCleanup(signal.signal, number, signal.SIG_IGN)
                signal.signal(number, signal.SIG_DFL)

    def test_until_interrupted(self):
        self.need_something_to_do()
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
            p = self.start_awake("--explain")
            self.assertIn("a wake costs", p.stderr.readline())
            p.send_signal(number)
            self.assertIn("held", p.communicate()[1])
            self.assertEqual(p.returncode, 0)

    def test_what_is_ignored_ends_nothing(self):
        """As nohup(1) starts it."""
        self.need_something_to_do()
        p = self.start_awake("--explain", preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                                                           signal.SIG_IGN))
        self.assertIn("a wake costs", p.stderr.readline())
        p.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):
            p.wait(0.3)
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(), 0)

    def test_what_one_sends_is_passed_on(self):
        self.need_something_to_do()
        for name in "TERM", "INT", "USR1":
            p = self.start_awake(SH, "-c", "trap 'echo got; exit 9' %s; echo ready; "
                                 "while :; do sleep 0.02; done" % name)
            self.assertEqual(p.stdout.readline(), "ready\n")
            p.send_signal(getattr(signal, "SIG" + name))
            self.assertEqual(p.stdout.readline(), "got\n", name)
            self.assertEqual(p.wait(), 9)

    def test_it_stops_with_the_program_and_goes_on(self):
        self.need_something_to_do()
        p = self.start_awake(SH, "-c", "trap 'echo got; exit 9' TERM; echo ready; "
                             "while :; do sleep 0.02; done", preexec_fn=os.setpgrp)
        self.assertEqual(p.stdout.readline(), "ready\n")
        p.send_signal(signal.SIGTSTP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(p.pid, os.WUNTRACED)[1]))
        p.send_signal(signal.SIGTERM)
        self.go_on_until_told(p)
        self.assertEqual(p.stdout.readline(), "got\n")
        self.assertEqual(p.wait(), 9)

    def test_no_descriptor_is_left_to_the_program(self):
        r = self.awake(SH, "-c", "ls -l /proc/self/fd")
        self.assertNotIn("cpuidle", r.stdout)
        self.assertNotIn(DEVICE, r.stdout)
        self.assertEqual(r.returncode, 0)


if __name__ == "__main__":
    run_common.main()
