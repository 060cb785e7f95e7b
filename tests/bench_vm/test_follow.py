# SPDX-License-Identifier: MIT
"""Hang, panic and early end of what stands in for QEMU: one line, and nothing is left behind."""

import os
import signal
import subprocess
import sys

import common

from vm.follow import Limits, follow

# Short silence only where it is meant to be reached.
PATIENT = Limits(first_s=50, silence_s=50, total_s=50)
HASTY = Limits(first_s=1, silence_s=1, total_s=50)


class Endings(common.VmTest):
    def follow(self, mode, limits=PATIENT):
        self.fake_everything(mode)
        words = "quiet -- --guest --rows glibc,spin --runs 2"
        return follow(["qemu-system-x86_64", "-append", words], limits)

    def check_nothing_left(self):
        for pid in self.pids():
            self.wait_until("the end of a process", lambda pid=pid: not common.alive(pid))

    def test_good(self):
        r = self.follow("good")
        self.assertIsNone(r["error"])
        self.assertEqual(len(r["stream"].of_kind("run")), 4)
        self.assertLessEqual(r["first_line_s"], r["wall_s"])

    def test_hang_in_the_firmware(self):
        r = self.follow("hang", HASTY)
        self.assertRegex(r["error"], r"^no (result )?line for 1 s; last: Booting from ROM\.\.\.$")
        self.check_nothing_left()

    def test_hang_later_keeps_what_came(self):
        r = self.follow("hang-late", Limits(first_s=50, silence_s=3, total_s=50))
        self.assertRegex(r["error"], r"^no line for 3 s; last: \[    0\.5\] a word of the kernel$")
        self.assertEqual(len(r["stream"].of_kind("run")), 1)
        self.check_nothing_left()

    def test_total_limit(self):
        r = self.follow("hang", Limits(first_s=50, silence_s=50, total_s=1))
        self.assertIn("not done after 1 s", r["error"])
        self.check_nothing_left()

    def test_panic(self):
        r = self.follow("panic")
        self.assertEqual(r["error"], "kernel panic: No working init found.")
        self.check_nothing_left()

    def test_early_end(self):
        r = self.follow("die")
        self.assertEqual(r["error"],
                         "ended with status 3 before its last line; last: qemu: no such thing")

    def test_torn_line(self):
        r = self.follow("torn")
        self.assertEqual(r["error"], "1 lines were lost on the way")
        self.assertEqual(len(r["stream"].of_kind("run")), 3)

    def test_babble_without_newlines(self):
        r = follow(["sh", "-c", "yes | tr -d '\\n'"], Limits(50, 50, 50))
        self.assertRegex(r["error"], r"^a line without end; last: y+\.\.\.$")

    def test_no_such_program(self):
        with self.assertRaises(FileNotFoundError):
            follow([str(self.dir / "missing")], PATIENT)


class Killed(common.VmTest):
    def start(self):
        self.fake_everything("hang-late")
        self.set_environment(TMPDIR=self.dir)  # what a killed program leaves there goes with it
        return subprocess.Popen(
            [sys.executable, str(common.BENCH / "vm"), "--build", str(self.dir / "build"),
             "--accel", "tcg", "--no-host"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end_with(self, number):
        process = self.start()
        try:
            pids = self.pids()
            process.send_signal(number)
            out, err = process.communicate(timeout=common.SECONDS_MOST)
        finally:
            process.kill()
            process.wait()
        self.assertEqual((out, err), (b"", b""))
        return process.returncode, pids

    def test_told_to_end(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                (self.dir / "pids").unlink(missing_ok=True)
                status, pids = self.end_with(number)
                self.assertEqual(status, 128 + number)
                for pid in pids:
                    self.wait_until("its end", lambda pid=pid: not common.alive(pid))

    def test_killed_takes_qemu_along(self):
        status, (qemu, child) = self.end_with(signal.SIGKILL)
        self.addCleanup(os.kill, child, signal.SIGKILL)  # a real QEMU has no child
        self.assertEqual(status, -signal.SIGKILL)
        self.wait_until("its end", lambda: not common.alive(qemu))


if __name__ == "__main__":
    common.main()
