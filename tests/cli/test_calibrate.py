# SPDX-License-Identifier: MIT
"""`ipcwait calibrate`: what it shows and writes. No test depends on what was measured."""

import json
import os
import pty
import shutil
import stat
import subprocess
import sys
import time
import unittest

import common

AGES = [5000, 20000, 50000, 100000, 200000, 500000, 2000000, 10000000]
CPUS = sorted(os.sched_getaffinity(0))
# CPUs that others must keep, or the host say to have taken, before "too busy" is believed.
BUSY = 0.1


def taken_s():
    """CPU seconds of other programs, and those that the host has given to others."""
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    own = os.times()
    return ((user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK") -
            sum(own[:4]))


def one_cpu():
    os.sched_setaffinity(0, {CPUS[0]})


@unittest.skipIf(len(CPUS) < 2, "a calibration needs two CPUs")
class Calibrate(common.CliTest):
    def calibrate(self, *args, **options):
        """Saved in any case: what else runs is not what is tested."""
        force = [] if "--no-save" in args else ["--force"]
        began, before = time.monotonic(), taken_s()
        for _ in range(6):
            r = self.run_it("calibrate", *force, *args, **options)
            if r.returncode != 1 or "too busy" not in r.stderr:
                break
        else:
            busy = (taken_s() - before) / (time.monotonic() - began)
            self.assertGreater(busy, BUSY, "nothing tells who made it busy: %s" % r)
            self.skipTest("the machine is too busy to calibrate: %.2f CPUs are taken" % busy)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        return r.stdout

    def check_object(self, o, saved):
        self.assertEqual((o["program"], o["format"]), ("ipcwait calibrate", 1))
        self.assertRegex(o["measured_at"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(o["saved_in"], saved)
        for name in "pause_ns", "line_ns", "empty_wake_ns", "latency_ns", "waker_ns", "block_ns":
            self.assertGreater(o[name], 0, name)
        self.assertLessEqual(o["block_ns"], o["latency_ns"] + o["waker_ns"])
        self.assertGreaterEqual(len(o["pairs"]), 1)
        for pair in o["pairs"]:
            self.check_pair(pair)

    def check_pair(self, pair):
        self.assertIn(pair["nearest_shared"], (None, "core", "l2", "l3", "package", "other"))
        self.assertIn(pair["waker_cpu"], CPUS)
        self.assertIn(pair["sleeper_cpu"], CPUS)
        self.assertNotEqual(pair["waker_cpu"], pair["sleeper_cpu"])
        self.assertEqual([age["idle_ns"] for age in pair["latency"]], AGES)
        for age in pair["latency"]:
            if age["samples_used"]:
                self.assertLessEqual(age["p10_ns"], age["median_ns"])
                self.assertLessEqual(age["median_ns"], age["p90_ns"])
            else:
                self.assertIsNone(age["median_ns"])
                self.assertIsNone(age["waker_ns"])

    def test_table_and_saved_file(self):
        text = self.calibrate()
        for word in "B, what a sleep costs", "wakes CPU", "from a table", "saved in", "#":
            self.assertIn(word, text)
        self.assertLess(max(map(len, text.splitlines())), 110)
        self.assertEqual(self.files(), ["calibration"])
        mode = os.stat(self.path("calibration")).st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o600)
        self.assertIn("saved earlier", self.calibrate("--no-save"))

    def test_nothing_is_saved(self):
        self.assertNotIn("saved in", self.calibrate("--no-save"))
        self.assertEqual(self.files(), [])

    def test_what_was_disturbed_is_not_saved(self):
        hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in CPUS[:4]]
        try:
            r = self.run_it("calibrate")
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
        self.check_one_line(r, 1)
        self.assertRegex(r.stderr, "--force|too busy")
        self.assertNotIn("saved in", r.stdout)
        self.assertEqual(self.files(), [])

    def test_default_place(self):
        del self.env["IPCWAIT_CALIBRATION"]
        self.assertIn("saved in " + self.path(".cache/ipcwait/calibration"), self.calibrate())

    def test_json_to_stdout(self):
        o = json.loads(self.calibrate("--json", "-"))
        self.check_object(o, self.path("calibration"))
        self.assertFalse(o["thorough"])

    def test_json_to_a_file(self):
        self.write("out.json", "old")
        self.assertIn("B, what a sleep costs", self.calibrate("--json=out.json", "--no-save"))
        with open(self.path("out.json"), encoding="ascii") as f:
            self.check_object(json.load(f), None)
        self.assertEqual(self.files(), ["out.json"])

    def test_thorough(self):
        quick = json.loads(self.calibrate("--json=-", "--no-save"))
        o = json.loads(self.calibrate("--json=-", "--no-save", "--thorough"))
        self.assertTrue(o["thorough"])
        self.assertGreater(o["samples_used"], 2 * quick["samples_used"])

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_svg(self):
        self.calibrate("--no-save", "--svg", "a.svg")
        with open(self.path("a.svg"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn("<svg", text)
        self.assertTrue(text.rstrip().endswith("</svg>"))
        self.assertIn("CPU %d wakes CPU" % CPUS[0], text)
        self.assertEqual(self.files(), ["a.svg"])

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_svg_says_where_when_and_how_well(self):
        o = json.loads(self.calibrate("--no-save", "--json=-", "--svg=a.svg"))
        with open(self.path("a.svg"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn(os.uname().release, text)
        self.assertIn("of %d CPUs" % os.sysconf("SC_NPROCESSORS_ONLN"), text)
        self.assertIn(o["measured_at"][:16].replace("T", " ") + " UTC", text)
        self.assertIn("libipcwait " + o["libipcwait"], text)
        self.assertIn("B, what a sleep costs: %.1f us" % (o["block_ns"] / 1000), text)
        self.assertIn("DISTURBED: " if o["disturbed"] else
                      "Not disturbed: other programs kept %.2f CPUs" % o["other_programs_cpus"],
                      text)

    def test_gnuplot_that_fails(self):
        os.mkdir(self.path("bin"))
        gnuplot = self.write("bin/gnuplot", "#!/bin/sh\nexit 3\n")
        os.chmod(gnuplot, 0o700)
        r = self.run_it("calibrate", "--no-save", "--svg=a.svg",
                        PATH=self.path("bin") + ":" + os.environ["PATH"])
        self.check_one_line(r, 1, "gnuplot failed")
        self.assertEqual(self.files(), ["bin"])

    def test_what_cannot_be_saved_is_shown(self):
        for place, word in (self.path("no/such/place"), "No such file"), ("none", "no place"):
            r = self.run_it("calibrate", "--force", IPCWAIT_CALIBRATION=place)
            self.check_one_line(r, 1, word)
            self.assertIn("B, what a sleep costs", r.stdout)
            self.assertNotIn("saved in", r.stdout)

    def test_a_damaged_file_is_replaced(self):
        self.write("calibration", "nonsense\n")
        r = self.run_it("calibrate", "--force")
        self.assertEqual(r.returncode, 0, r)
        self.assertEqual(r.stderr.count("\n"), 1)
        self.assertIn("libipcwait: the saved calibration ignored", r.stderr)
        self.assertIn("saved earlier", self.calibrate("--no-save"))

    def test_progress_on_a_terminal_only(self):
        main, terminal = pty.openpty()
        self.addCleanup(os.close, main)
        r = self.run_it("calibrate", "--no-save", stderr=terminal)
        os.close(terminal)
        self.assertEqual(r.returncode, 0)
        shown = os.read(main, 65536).decode()
        self.assertIn("[####", shown)
        self.assertNotIn("\n", shown)


class OneCpu(common.CliTest):
    def test_cannot_be_measured(self):
        r = self.run_it("calibrate", preexec_fn=one_cpu)
        self.check_one_line(r, 1, "one CPU")
        self.assertEqual((r.stdout, self.files()), ("", []))


if __name__ == "__main__":
    common.main()
