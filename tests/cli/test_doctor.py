# SPDX-License-Identifier: MIT
"""`ipcwait doctor`: machines of several kinds, and what is said of them."""

import json
import os
import pty
import subprocess
import sys

import common
import info_trees

CHECKS = ["cpus", "quota", "hypervisor", "steal", "load", "idle", "rseq", "clock",
          "system_calls", "call_filter", "calibration", "gain", "policy", "spins", "place"]


# Computes on one CPU, and says so.
BUSY = "import os; os.sched_setaffinity(0, {%d}); os.write(1, b'x')\nwhile True: pass"


class Doctor(common.CliTest):
    def examine(self, *args, status=None, **options):
        r = self.run_it("doctor", "--json", *args, **options)
        self.assertEqual(r.stderr, "", r)
        o = json.loads(r.stdout)
        self.assertEqual((o["program"], o["format"]), ("ipcwait doctor", 1))
        self.assertEqual([f["check"] for f in o["findings"]], CHECKS)
        problems = sum(f["verdict"] == "problem" for f in o["findings"])
        self.assertEqual(o["problems"], problems)
        self.assertEqual(r.returncode, 3 if problems else 0)
        if status is not None:
            self.assertEqual(r.returncode, status, o)
        return {f["check"]: f for f in o["findings"]}

    def tree(self, files, **more):
        for name, text in {**files, **more}.items():
            if text is None:
                continue
            path = self.path(os.path.join("tree", name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as f:
                f.write(text + "\n")
        return self.path("tree")

    def setUp(self):
        super().setUp()
        del self.env["IPCWAIT_CALIBRATION"]         # the user's own, of whom HOME is here

    def about(self, files, **more):
        return self.examine("--root", self.tree(files, **more))

    def test_a_guest(self):
        """Of info_trees: two CPUs, 1.5 CPUs of quota, 5 % stolen, idle=poll."""
        found = self.about(info_trees.guest())
        self.assertEqual(found["quota"]["verdict"], "note")
        self.assertIn("1.5 CPUs", found["quota"]["text"])
        self.assertEqual(found["hypervisor"]["verdict"], "ok")
        self.assertEqual(found["steal"]["verdict"], "problem")
        self.assertEqual(found["idle"]["verdict"], "note")
        self.assertIn("idle=poll", found["idle"]["text"])
        for check in "calibration", "policy", "spins", "system_calls", "place":
            self.assertEqual(found[check]["verdict"], "unknown", check)

    def test_a_small_quota(self):
        found = self.about({**info_trees.guest(),
                            "sys/fs/cgroup/pods/cpu.max": "149000 100000"})
        self.assertEqual(found["quota"]["verdict"], "problem")
        self.assertIn("cpu.max", found["quota"]["advice"])

    def test_one_cpu_in_a_tree(self):
        files = {**info_trees.guest(), "proc/self/status": "Cpus_allowed:\t2\n"
                                                           "Cpus_allowed_list:\t1"}
        found = self.about(files)
        self.assertEqual(found["cpus"]["verdict"], "problem")
        self.assertIn("affinity", found["cpus"]["advice"])

    def test_a_slow_clock(self):
        clocks = info_trees.CLOCKS + "current_clocksource"
        found = self.about({**info_trees.guest(), clocks: "hpet"})
        self.assertEqual(found["clock"]["verdict"], "problem")
        self.assertIn("hpet", found["clock"]["text"])

    def test_a_filter_of_system_calls(self):
        for mode, verdict in ("0", "ok"), ("1", "note"), ("2", "note"), (None, "unknown"):
            status = "Seccomp:\t%s\nSeccomp_filters:\t1" % mode if mode else "Name:\tx"
            found = self.about({**info_trees.guest(), "proc/self/status": status})
            self.assertEqual(found["call_filter"]["verdict"], verdict, mode)
            if verdict == "note":
                self.assertIn("`ipcwait run`", found["call_filter"]["advice"])

    def test_an_empty_tree(self):
        found = self.about({"proc/none": "x"})
        self.assertNotIn("problem", {f["verdict"] for f in found.values()})

    def test_this_machine(self):
        found = self.examine()
        self.assertNotEqual(found["policy"]["verdict"], "unknown")
        self.assertEqual(found["calibration"]["verdict"], "note")
        self.assertIn("calibrate", found["calibration"]["advice"])
        self.assertIn(found["place"]["verdict"], ("ok", "note", "unknown"))
        self.assertRegex(found["place"]["text"], "wakes|not judged")

    def test_a_busy_machine(self):
        """Where a thread runs says nothing while others want the CPUs."""
        for cpu in os.sched_getaffinity(0):
            p = subprocess.Popen([sys.executable, "-c", BUSY % cpu], stdout=subprocess.PIPE)
            self.addCleanup(p.wait)
            self.addCleanup(p.kill)
            self.addCleanup(p.stdout.close)
            p.stdout.read(1)
        found = self.examine()
        self.assertEqual(found["place"]["verdict"], "unknown")
        self.assertIn("other programs want the CPUs", found["place"]["text"])

    def test_one_cpu(self):
        def pin():
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        found = self.examine(status=3, preexec_fn=pin)
        self.assertEqual(found["cpus"]["verdict"], "problem")
        self.assertEqual(found["spins"]["verdict"], "problem")
        self.assertEqual(found["place"]["verdict"], "unknown")
        self.assertIn("one CPU", found["place"]["text"])

    def test_policy(self):
        found = self.examine(IPCWAIT_POLICY="block", status=3)
        self.assertEqual(found["policy"]["verdict"], "problem")
        self.assertEqual(found["spins"]["verdict"], "problem")
        self.assertEqual(self.examine(IPCWAIT_POLICY="latency")["policy"]["verdict"], "note")

    def test_a_damaged_calibration(self):
        self.write("calibration", "nonsense")
        os.chmod(self.path("calibration"), 0o600)
        r = self.run_it("doctor", "--json", IPCWAIT_CALIBRATION=self.path("calibration"))
        found = {f["check"]: f for f in json.loads(r.stdout)["findings"]}
        self.assertEqual((r.returncode, found["calibration"]["verdict"]), (3, "problem"))

    def test_a_calibration_that_is_named_and_missing(self):
        found = self.examine(status=3, IPCWAIT_CALIBRATION=self.path("calibration"))
        self.assertEqual(found["calibration"]["verdict"], "problem")
        self.assertIn("not there", found["calibration"]["text"])

    def test_nothing_is_recorded(self):
        self.examine(IPCWAIT_RECORD=self.path("record"))
        self.assertEqual(self.files(), [])

    def test_for_people(self):
        r = self.run_it("doctor")
        self.assertIn(r.returncode, (0, 3))
        self.assertNotIn("\033", r.stdout)
        for line in r.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertRegex(r.stdout.splitlines()[-1], r"^(Nothing is in the way|\d+ problem)")

    def on_a_terminal(self, **env):
        ours, theirs = pty.openpty()
        with subprocess.Popen([common.PROGRAM, "doctor"], env={**self.env, **env}, stdout=theirs,
                              stdin=subprocess.DEVNULL) as p:
            os.close(theirs)
            text = b""
            try:
                while True:
                    more = os.read(ours, 65536)
                    if not more:
                        break
                    text += more
            except OSError:
                pass
            p.wait()
        os.close(ours)
        return text

    def test_colour(self):
        self.assertIn(b"\033[", self.on_a_terminal())
        self.assertNotIn(b"\033[", self.on_a_terminal(NO_COLOR="1"))

    def test_bad_arguments(self):
        for args, word in [(["x"], "'x'"), (["--root", "no/such"], "no/such"),
                           (["--nonsense"], "--nonsense")]:
            self.check_one_line(self.run_it("doctor", *args), 2, word)


if __name__ == "__main__":
    common.main()
