# SPDX-License-Identifier: MIT
"""Programs behind filters of system calls: those of containers and services, and one that allows nothing
but what the program itself calls."""

import json
import os
import sys

import common
import run_common

# Given to the test: the program that begins a filter, one that waits for descriptors, and one that
# starts another, which says what it has been given.
BEHIND, DESCRIPTOR_WAITS, START, SAY = "", "", "", ""

SKIPPED = 77
SIGSYS = 31

# Of tools/common/calls_form.h.
YIELD, READ_NOW, ALL = 1 << 0, 1 << 3, (1 << 13) - 1


class Filters(run_common.RunTest):
    def behind(self, profile, *command, **options):
        r = self.run_command([BEHIND, profile, *command], **options)
        if r.returncode == SKIPPED:
            self.skipTest("there can be no filter here")
        return r

    def counted_behind(self, profile, *args):
        r = self.behind(profile, common.PROGRAM, "run", "--module", run_common.MODULE,
                        "--policy", "spin", "--json", "--output", "out.json", *args)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        with open(self.path("out.json"), encoding="ascii") as f:
            return json.load(f)

    def check_spins(self, o, kind):
        """With success or not: that is up to the scheduler."""
        counts = o["kinds"][kind]
        self.assertGreater(counts["spun_useful_ns"] + counts["spun_wasted_ns"], 0, o)

    def calls_behind(self, profile):
        """What `ipcwait run` hands down: how many filters, and which calls they allow."""
        r = self.behind(profile, common.PROGRAM, "run", "--module", run_common.MODULE, "/bin/sh",
                        "-c", "echo $IPCWAIT_PRELOAD_CALLS")
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        if not r.stdout.strip():
            self.skipTest("the kernel does not tell how many filters there are")
        filters, calls = r.stdout.split(":")
        self.assertGreater(int(filters), 0)
        return int(calls, 16)

    def test_a_container_and_a_service(self):
        for profile in "docker", "service":
            self.assertEqual(self.calls_behind(profile), ALL, profile)
            o = self.counted_behind(profile, run_common.WAITS, "200")
            self.check_spins(o, "sem")
            o = self.counted_behind(profile, "--fd", DESCRIPTOR_WAITS, "200")
            self.check_spins(o, "fd")
            self.assertEqual(o["programs"], 1)

    def test_calls_that_kill(self):
        """They are found out, and are not made."""
        calls = self.calls_behind("no-yield")
        self.assertEqual(calls, ALL & ~(YIELD | READ_NOW))
        o = self.counted_behind("no-yield", "--fd", DESCRIPTOR_WAITS, "200")
        self.assertNotIn("fd", o["kinds"])
        o = self.counted_behind("no-yield", run_common.WAITS, "fork", "200")
        self.assertEqual((o["programs"], o["forks"]), (1, 1))

    def test_what_was_handed_down_holds_behind_the_same_filters_only(self):
        """A filter has come since: the module makes none of the calls, which would kill."""
        for filters in "0", "2", "1x", "-1", "":
            r = self.behind("no-yield", DESCRIPTOR_WAITS, "200", IPCWAIT_FD="1",
                            LD_PRELOAD=run_common.MODULE, IPCWAIT_POLICY="spin",
                            IPCWAIT_PRELOAD_CALLS="%s:%x" % (filters, ALL))
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "done\n", ""), filters)

    def test_it_would_kill(self):
        """The profile can fail: with calls that it does not allow handed down as allowed."""
        if not self.calls_behind("no-yield"):
            self.skipTest("nothing is handed down")
        r = self.behind("no-yield", DESCRIPTOR_WAITS, "200", IPCWAIT_FD="1",
                        LD_PRELOAD=run_common.MODULE, IPCWAIT_POLICY="spin",
                        IPCWAIT_PRELOAD_CALLS="1:%x" % ALL)
        self.assertEqual(r.returncode, -SIGSYS, r)

    def test_nothing_but_what_the_program_calls(self):
        """By LD_PRELOAD alone, with every option that makes the module do more."""
        more = {"IPCWAIT_FD": "1", "IPCWAIT_POLICY": "spin"}
        for options in {}, more, {**more, "IPCWAIT_RECORD": self.path("record")}, \
                {"IPCWAIT_CALIBRATION": self.path("calibration")}, {"IPCWAIT_PAGE": "1"}:
            for command in [DESCRIPTOR_WAITS, "200"], [run_common.WAITS, "200"], \
                    [run_common.WAITS, "fork", "200"], [run_common.WAITS, "200", "again", "20"]:
                r = self.behind("plain", *command, BEHIND=run_common.MODULE, **options)
                self.assertEqual((r.returncode, r.stderr), (0, ""), (command, options))

    def test_programs_that_are_started(self):
        """By every profile; also by the child of vfork(2), which has its parent's memory."""
        for profile in "docker", "service", "no-yield", "plain":
            for way in "execve", "vfork", "posix_spawn":
                r = self.behind(profile, START, way, SAY, BEHIND=run_common.MODULE,
                                LD_PRELOAD="" if profile == "plain" else run_common.MODULE)
                self.assertEqual((r.returncode, r.stderr), (0, ""), (profile, way))
                self.assertIn("one", r.stdout, (profile, way))

    def test_without_filters_nothing_is_handed_down(self):
        with open("/proc/self/status", encoding="ascii", errors="replace") as f:
            if "Seccomp:\t0" not in f.read():
                self.skipTest("there is a filter")
        r = self.ipcwait_run("/bin/sh", "-c", "echo ${IPCWAIT_PRELOAD_CALLS-none}")
        self.assertEqual((r.stdout, r.stderr), ("none\n", ""))


if __name__ == "__main__":
    BEHIND, DESCRIPTOR_WAITS, START, SAY = (os.path.abspath(sys.argv.pop(4)) for _ in range(4))
    run_common.main()
