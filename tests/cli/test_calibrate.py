# SPDX-License-Identifier: MIT
"""`ipcwait calibrate`: what it shows and writes. No test depends on what was measured."""

import json
import os
import pty
import shutil
import stat
import subprocess
import sys
import unittest

import common

AGES = [5000, 20000, 50000, 100000, 200000, 500000, 2000000, 10000000]
CPUS = sorted(os.sched_getaffinity(0))

def one_cpu():
    os.sched_setaffinity(0, {CPUS[0]})


@unittest.skipIf(len(CPUS) < 2, "a calibration needs two CPUs")
class Calibrate(common.CliTest):
    def calibrate(self, *args, **options):
        """Saved in any case: what else runs is not what is tested."""
        force = [] if "--no-save" in args else ["--force"]
        r = self.try_it("calibrate", *force, *args, **options)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        return r.stdout

    def try_it(self, *args, **options):
        """A machine may be too busy to be measured; test_calibrate_timed.py judges whether it is."""
        for _ in range(3):
            r = self.run_it(*args, **options)
            if r.returncode != 1 or "too busy" not in r.stderr:
                return r
        return self.skipTest("the machine is too busy to calibrate")

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

    def test_what_was_disturbed_is_not_saved(self):
        for _ in CPUS[:4]:
            hog = subprocess.Popen([sys.executable, "-c", "print(1, flush=True)\nwhile True: pass"],
                                   stdout=subprocess.PIPE)
            self.addCleanup(hog.stdout.close)
            self.addCleanup(hog.wait)
            self.addCleanup(hog.kill)
            hog.stdout.readline()
        r = self.run_it("calibrate")
        self.check_one_line(r, 1)
        self.assertRegex(r.stderr, "--force|too busy")
        self.assertNotIn("saved in", r.stdout)
        self.assertEqual(self.files(), [])

    def test_default_place(self):
        del self.env["IPCWAIT_CALIBRATION"]
        self.assertIn("saved in " + self.path(".cache/ipcwait/calibration"), self.calibrate())

    def test_json_to_stdout(self):
        o = json.loads(self.calibrate("--json", "-", "--thorough"))
        self.check_object(o, self.path("calibration"))
        self.assertTrue(o["thorough"])

    def test_files_and_nothing_is_saved(self):
        svg = bool(shutil.which("gnuplot"))
        self.write("out.json", "old")
        text = self.calibrate("--json=out.json", "--no-save", *["--svg=a.svg"] * svg)
        self.assertIn("B, what a sleep costs", text)
        self.assertNotIn("saved in", text)
        self.assertEqual(self.files(), [*["a.svg"] * svg, "out.json"])
        with open(self.path("out.json"), encoding="ascii") as f:
            o = json.load(f)
        self.check_object(o, None)
        self.assertFalse(o["thorough"])
        if svg:
            self.check_figure(o)

    def check_figure(self, o):
        """It is whole, and says where, when and how well."""
        with open(self.path("a.svg"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn("<svg", text)
        self.assertTrue(text.rstrip().endswith("</svg>"))
        self.assertIn("CPU %d wakes CPU" % CPUS[0], text)
        self.assertIn(os.uname().release, text)
        self.assertIn("of %d CPUs" % os.sysconf("SC_NPROCESSORS_ONLN"), text)
        self.assertIn(o["measured_at"][:16].replace("T", " ") + " UTC", text)
        self.assertIn("libipcwait " + o["libipcwait"], text)
        self.assertIn("B, what a sleep costs: %.1f us" % (o["block_ns"] / 1000), text)
        self.assertIn("DISTURBED: " if o["disturbed"] else
                      "Not disturbed: other programs kept %.2f CPUs" % o["other_programs_cpus"],
                      text)

    def test_progress_on_a_terminal_only(self):
        main, terminal = pty.openpty()
        self.addCleanup(os.close, main)
        self.addCleanup(os.close, terminal)
        for _ in range(3):
            r = self.run_it("calibrate", "--no-save", stderr=terminal)
            shown = os.read(main, 65536).decode()
            if r.returncode == 0:
                break
            # It says so instead of the bar.
            self.assertIn("too busy", shown)
        else:
            self.skipTest("the machine is too busy to calibrate")
        self.assertIn("[####", shown)
        self.assertNotIn("\n", shown)

    def test_gnuplot_that_fails(self):
        os.mkdir(self.path("bin"))
        gnuplot = self.write("bin/gnuplot", "#!/bin/sh\nexit 3\n")
        os.chmod(gnuplot, 0o700)
        r = self.try_it("calibrate", "--no-save", "--svg=a.svg",
                        PATH=self.path("bin") + ":" + os.environ["PATH"])
        self.check_one_line(r, 1, "gnuplot failed")
        self.assertEqual(self.files(), ["bin"])

    def test_what_cannot_be_saved_is_shown(self):
        for place, word in (self.path("no/such/place"), "No such file"), ("none", "no place"):
            r = self.try_it("calibrate", "--force", IPCWAIT_CALIBRATION=place)
            self.check_one_line(r, 1, word)
            self.assertIn("B, what a sleep costs", r.stdout)
            self.assertNotIn("saved in", r.stdout)

    def test_a_damaged_file_is_replaced(self):
        self.write("calibration", "nonsense\n")
        r = self.try_it("calibrate", "--force")
        self.assertEqual(r.returncode, 0, r)
        self.assertEqual(r.stderr.count("\n"), 1)
        self.assertIn("libipcwait: the saved calibration ignored", r.stderr)
        self.assertIn("saved earlier", self.calibrate("--no-save"))


class OneCpu(common.CliTest):
    def test_cannot_be_measured(self):
        r = self.run_it("calibrate", preexec_fn=one_cpu)
        self.check_one_line(r, 1, "one CPU")
        self.assertEqual((r.stdout, self.files()), ("", []))


if __name__ == "__main__":
    common.main()
