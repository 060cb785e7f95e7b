# SPDX-License-Identifier: MIT
"""`ipcwait run`: what it counts of a tree of processes, and how it shows that."""

import json
import os
import resource
import shutil
import subprocess
import sys
import unittest

import run_common

SH, TRUE = shutil.which("sh"), shutil.which("true")
ROOT = os.geteuid() == 0


class Counts(run_common.RunTest):
    def setUp(self):
        super().setUp()
        self.waits = run_common.WAITS

    def check_waits(self, o, programs, forks):
        self.assertEqual((o["programs"], o["forks"], o["sharing"]), (programs, forks, 0))
        self.assertIsNone(o["why_no_module"])
        for name, n in o["all"].items():
            self.assertEqual(n, sum(kind[name] for kind in o["kinds"].values()), name)
        self.assertGreater(sum(o["all"].values()), 0)
        self.assertGreaterEqual(o["seconds"], 0)

    def test_one_program(self):
        o = self.counted(self.waits, "200")
        self.check_waits(o, 1, 0)
        self.assertEqual(o["command"], [self.waits, "200"])
        self.assertEqual(o["module"], os.path.realpath(run_common.MODULE))

    def test_nothing_to_count(self):
        o = self.counted(TRUE)
        self.assertEqual((o["programs"], o["forks"], sum(o["all"].values())), (1, 0, 0))
        self.assertEqual((o["kinds"], o["reasons"]), ({}, {}))

    def test_however_it_ends(self):
        self.check_waits(self.counted(self.waits, "200", "_exit"), 1, 0)
        self.check_waits(self.counted(self.waits, "200", "kill", status=137), 1, 0)

    def test_all_descriptors_closed(self):
        self.check_waits(self.counted(self.waits, "close", "200"), 1, 0)
        self.check_waits(self.counted(self.waits, "close", "fork", "200"), 1, 1)

    def test_another_program_in_its_place(self):
        self.check_waits(self.counted(self.waits, "200", "again", "close", "again", "0"), 3, 0)

    def test_children(self):
        self.check_waits(self.counted(self.waits, "fork", "fork", "200", "kill", status=134), 1, 2)
        o = self.counted(SH, "-c", "%s 200; %s 200 again 0 & wait" % (self.waits, self.waits))
        self.assertEqual(o["programs"], 4)
        self.assertGreater(sum(o["all"].values()), 0)

    def test_children_that_do_not_follow(self):
        o = self.counted("--no-follow", SH, "-c", "%s 200; exit" % self.waits)
        self.assertEqual((o["programs"], sum(o["all"].values())), (1, 0))

    def test_more_processes_than_slots(self):
        o = self.counted(self.waits, "children", "1100")
        self.assertEqual((o["programs"], o["forks"], o["sharing"]), (1, 1100, 77))
        r = self.ipcwait_run("--stats", self.waits, "children", "1100")
        self.assertIn("77 processes had to share", r.stderr)

    @unittest.skipUnless(ROOT, "only root can give up its rights")
    def test_a_tally_that_cannot_be_opened(self):
        script = "import os, sys\nos.setuid(65534)\np = os.fork()\n" \
                 "if p: sys.exit(os.waitpid(p, 0)[1])\n"
        o = self.counted(sys.executable, "-c", script)
        self.assertEqual((o["programs"], o["forks"], o["sharing"]), (1, 1, 1))

    @unittest.skipUnless(ROOT, "only root can give up its rights")
    def test_programs_that_cannot_be_counted(self):
        """Another user may not open the counters; it says so, and is not silently left out."""
        script = "import os, sys\nos.setgid(65534)\nos.setuid(65534)\n" \
                 "try:\n    os.execv(sys.argv[1], sys.argv[1:])\n" \
                 "except OSError:\n    sys.exit(77)\n"
        os.chmod(self.dir, 0o755)
        module = self.path("module.so")
        shutil.copy(run_common.MODULE, module)
        for option in "--json", "--stats":
            r = self.run_it("run", "--module", module, option, sys.executable, "-c", script, TRUE)
            if r.returncode == 77:
                self.skipTest("another user cannot run a program")
            self.assertEqual(r.returncode, 0, r)
            if option == "--json":
                o = json.loads(r.stderr)
                self.assertEqual((o["programs"], o["uncounted"]), (1, 1))
            else:
                self.assertIn("1 program or more could not be counted", r.stderr)
        self.assertEqual(self.counted(TRUE)["uncounted"], 0)

    def test_a_path_that_leads_elsewhere(self):
        other = self.write("other", "text")
        for path in "/no/such", other, "1:/no/such", "1:" + other, "1:/dev/null", "1:relative", \
                "", ":", "1", "1:", "1:/" + "x" * 5000, "1:" + self.dir, "9" * 50 + ":" + other:
            r = self.ipcwait_run(self.waits, "50", IPCWAIT_PRELOAD_TALLY=path)
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""), path)
        with open(other, encoding="ascii") as f:
            self.assertEqual(f.read(), "text")

    def test_a_tally_that_is_another_one_by_now(self):
        p = self.start("--json", SH, "-c", "echo $IPCWAIT_PRELOAD_TALLY; read x",
                       stdin=subprocess.PIPE)
        inode, path = p.stdout.readline().rstrip().split(":")
        for number in int(inode), int(inode) + 1:
            r = self.ipcwait_run(self.waits, "20", IPCWAIT_PRELOAD_TALLY="%d:%s" % (number, path))
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))
        p.stdin.close()
        self.assertEqual(json.loads(p.stderr.read())["programs"], 2)

    def test_who_lives_on(self):
        """A process that outlives the command goes on, and so do its children."""
        end = self.path("end")
        script = "(while [ -d %s -a ! -e %s.go ]; do sleep 0.02; done; %s 50; " \
                 "echo $? >%s.new; mv %s.new %s) >/dev/null 2>&1 &" \
                 % (self.dir, end, self.waits, end, end, end)
        o = self.counted(SH, "-c", script)
        # The shell, and perhaps the first that it has started since.
        self.assertGreaterEqual(o["programs"], 1)
        self.write("end.go", "")
        self.until(lambda: os.path.exists(end))
        with open(end, encoding="ascii") as f:
            self.assertEqual(f.read(), "0\n")

    def test_text(self):
        r = self.ipcwait_run("--stats", self.waits, "200")
        self.assertEqual(r.returncode, 0)
        self.assertTrue(r.stderr.startswith("ipcwait: run: "), r.stderr)
        for word in "1 program and 0 forks counted", "CPU time", "spun", "slept", "waits":
            self.assertIn(word, r.stderr)
        self.assertLess(max(map(len, r.stderr.splitlines())), 110)

    def test_reasons_to_sleep(self):
        r = self.ipcwait_run("--stats", "--policy", "block", self.waits, "200")
        self.assertIn("  Reasons to sleep: preset_block (100 %).\n", r.stderr)
        self.assertRegex(r.stderr, r"  0 of \d+ waits \(0 %\) began on the CPU of their waker.\n$")
        r = self.ipcwait_run("--stats", TRUE)
        self.assertNotIn("Reasons", r.stderr)

    def test_json_on_stderr(self):
        r = self.ipcwait_run("--json", "--stats", self.waits, "20")
        self.assertEqual(json.loads(r.stderr)["programs"], 1)

    def test_limits_of_files(self):
        r = self.ipcwait_run("--stats", TRUE, preexec_fn=lambda: limit_files(1 << 20))
        self.check_one_line(r, 125, "cannot count")


def limit_files(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


if __name__ == "__main__":
    run_common.main()
