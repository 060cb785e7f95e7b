# SPDX-License-Identifier: MIT
"""What the tests of `ipcwait awake` share."""

import os
import shutil
import struct
import subprocess
import time

import common
import run_common

DEVICE = "/dev/cpu_dma_latency"
SH, TRUE = shutil.which("sh"), shutil.which("true")
ROOT = os.geteuid() == 0
CPUS = sorted(os.sched_getaffinity(0))

# Two processes that hand a byte to each other, for as long as the seconds in the first argument.
HAND_OFFS = """
import os, sys, time
end = time.monotonic() + float(sys.argv[1])
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    while os.read(a[0], 1) != b"e":
        os.write(b[1], b"x")
    os._exit(0)
while time.monotonic() < end:
    os.write(a[1], b"x")
    os.read(b[0], 1)
os.write(a[1], b"e")
os.wait()
"""


def requested_us():
    """What the kernel goes by; None if it does not tell."""
    try:
        with open(DEVICE, "rb", buffering=0) as f:
            return struct.unpack("i", f.read(4))[0]
    except (OSError, struct.error):
        return None


def polls():
    try:
        with open("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", encoding="ascii") as f:
            return f.read() == "POLL\n"
    except OSError:
        return False


class AwakeTest(run_common.RunTest):
    backends = {}   # what each comes to, measured once
    means = ()      # what makes it do something on machines where nothing is gained

    def awake(self, *args, **options):
        return self.run_it("awake", *self.means, *args, **options)

    def start_awake(self, *args, **options):
        p = subprocess.Popen([common.PROGRAM, "awake", *self.means, *args], cwd=self.dir, env=self.env,
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             **options)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def status(self, *args, **options):
        r = self.run_it("awake", "--status", *args, **options)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        lines = [line for line in r.stdout.splitlines() if not line.startswith(" ")]
        return {line[:12].strip(): line[12:] for line in lines}

    def need_something_to_do(self):
        """What does not pay here is done all the same if it is asked for by name. Without a name it
        is measured anew each time whether it pays, and a busy machine says now so and now so."""
        if not AwakeTest.backends:
            for backend in "qos", "spinner":
                choice = self.status("--backend", backend)["choice"]
                AwakeTest.backends[backend] = choice
        for backend, choice in AwakeTest.backends.items():
            if choice.startswith(backend):
                self.means = "--backend", backend
                return
        self.skipTest(choice)

    def need_device(self):
        if not requested_us() or not polls() or len(CPUS) < 2:
            self.skipTest("the device cannot be held and read back here, or another process holds it")
        if not self.status()["choice"].startswith("qos"):
            self.skipTest("nothing to gain here: " + self.status()["choice"])

    def check_nothing_is_held(self):
        self.assertTrue(self.wait_for_request(False), "a process still asks for 0 us")

    def wait_for_request(self, want, seconds=common.SECONDS_MOST):
        """Until a process asks for 0 us, or no process does."""
        end = time.monotonic() + seconds
        while (requested_us() == 0) != want:
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True
