# SPDX-License-Identifier: MIT
"""What the tests of `ipcwait run` share."""

import json
import os
import select
import signal
import subprocess
import sys
import time

import common

# Given to the test: the preload module, and the program run_waits.
MODULE, WAITS = "", ""

# Of the pages of this user's processes.
FOLDER = "/dev/shm/ipcwait-%d" % os.geteuid()


class RunTest(common.CliTest):
    def setUp(self):
        super().setUp()
        self.env.pop("LD_PRELOAD", None)

    def ipcwait_run(self, *args, **options):
        return self.run_it("run", "--module", MODULE, *args, **options)

    def check_plain(self, r, status, *words):
        """It ran, after one line that says why without the module."""
        self.check_one_line(r, status, "without the module", *words)

    def counted(self, *args, status=0, **options):
        """@status: as a shell has it, 128 + N for the end by signal N."""
        r = self.ipcwait_run("--json", "--output", "out.json", *args, **options)
        self.assertEqual((r.returncode, r.stderr), (status if status < 128 else 128 - status, ""), r)
        with open(self.path("out.json"), encoding="ascii") as f:
            o = json.load(f)
        self.assertEqual((o["program"], o["format"]), ("ipcwait run", 1))
        self.assertEqual(o["status"], status)
        return o

    def make(self, name, content, mode=0o755):
        with open(self.path(name), "wb") as f:
            f.write(content)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def until(self, what):
        """Waits until @what says that it is so."""
        end = time.monotonic() + common.SECONDS_MOST
        while not what():
            self.assertLess(time.monotonic(), end, "it does not come")
            time.sleep(0.01)

    @staticmethod
    def go_on_until_told(p):
        """SIGCONT until it has said something: what had stopped it at first may have been another
        than what stops it of itself a moment later."""
        while not select.select([p.stdout], [], [], 0.2)[0]:
            p.send_signal(signal.SIGCONT)

    def start(self, *args, **options):
        p = subprocess.Popen([common.PROGRAM, "run", "--module", MODULE, *args], cwd=self.dir,
                             env=self.env, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, **options)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def state(self, pid):
        with open("/proc/%d/stat" % pid, encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0]

    def has_page(self, pid):
        """It has one open: then it sleeps between two looks only."""
        folder = "/proc/%d/fd" % pid
        try:
            return any(os.readlink(os.path.join(folder, fd)).startswith(FOLDER + "/")
                       for fd in os.listdir(folder))
        except OSError:
            return False

    def start_stat(self, *args):
        """It has looked for the first time when this returns, and blocks what may end it."""
        q = subprocess.Popen([common.PROGRAM, "stat", *args], stdout=subprocess.PIPE, env=self.env,
                             text=True)
        self.addCleanup(q.stdout.close)
        self.addCleanup(q.wait)
        self.addCleanup(q.kill)
        self.until(lambda: q.poll() is not None or
                   (self.has_page(q.pid) and self.state(q.pid) == "S"))
        return q


def main():
    """Arguments: ipcwait, the module, run_waits; unittest gets the rest."""
    global MODULE, WAITS
    MODULE, WAITS = map(os.path.abspath, (sys.argv.pop(2), sys.argv.pop(2)))
    common.main()
