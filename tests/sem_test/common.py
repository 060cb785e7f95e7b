# SPDX-License-Identifier: MIT
"""What the tests of sem_test share: running it, in a directory of the test's own."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

PROGRAM = None

# Far more than any of these runs takes on a machine that is busy with other things.
SECONDS_MOST = 1000


def environment():
    """The caller's, without what would change the library's behaviour."""
    return {k: v for k, v in os.environ.items() if not k.startswith("IPCWAIT_")}


class SemTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="sem_test.")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def files(self):
        return sorted(os.listdir(self.dir))

    def run_it(self, *args):
        return subprocess.run([PROGRAM, *args], cwd=self.dir, env=environment(), text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=SECONDS_MOST, check=False)

    def start_it(self, *args):
        p = subprocess.Popen([PROGRAM, *args], cwd=self.dir, env=environment(), text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def wait_until(self, what, condition):
        """Poll: what these tests wait for are states of other processes."""
        end = time.monotonic() + SECONDS_MOST
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain for " + what)
            time.sleep(0.02)


def main():
    """The program is the first argument, unittest gets the rest."""
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit("usage: %s SEM_TEST [UNITTEST ARGUMENT]..." % sys.argv[0])
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    brief.main()
