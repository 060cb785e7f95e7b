# SPDX-License-Identifier: MIT
"""What the tests of wait_bench share: running it, in a directory of the test's own."""

import glob
import json
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

ROWS = ["sweep", "pairs", "one-cpu", "hog", "quota", "ticks", "drift", "budget", "overhead",
        "cold", "sleep", "short", "pairs-at-once", "start", "together", "again", "beside"]

# Runs that are too small to mean anything.
SMALL = ["--scale", "1", "--repeat", "1", "--no-progress"]


def environment():
    """The caller's, without what would change the library's behaviour."""
    return {k: v for k, v in os.environ.items() if not k.startswith("IPCWAIT_")}


def children(pid):
    """The processes below @pid, at any depth."""
    parents = {}
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat, encoding="ascii", errors="replace") as f:
                text = f.read()
        except OSError:
            continue  # it has ended meanwhile
        parents[int(text.split()[0])] = int(text.rpartition(")")[2].split()[1])
    below, found = {pid}, set()
    while below:
        below = {child for child, parent in parents.items() if parent in below} - found
        found |= below
    return found


class BenchTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="wait_bench.")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def files(self):
        return sorted(os.listdir(self.dir))

    def run_it(self, *args, preexec_fn=None, stdout=subprocess.PIPE, **env):
        return subprocess.run([PROGRAM, *args], cwd=self.dir, env={**environment(), **env},
                              text=True, stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, timeout=SECONDS_MOST, check=False,
                              preexec_fn=preexec_fn)

    def measure(self, *args, status=0, **how):
        """Run with --json; the object, the table."""
        r = self.run_it(*args, "--json", "out.json", **how)
        self.assertEqual((r.returncode, r.stderr), (status, ""), r.stdout)
        self.assertEqual(self.files(), ["out.json"])
        with open(self.path("out.json"), encoding="ascii") as f:
            return json.load(f), r.stdout

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
        sys.exit("usage: %s WAIT_BENCH [UNITTEST ARGUMENT]..." % sys.argv[0])
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    brief.main()
