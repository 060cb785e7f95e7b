# SPDX-License-Identifier: MIT
"""What the tests of policy_sim share: running it, in a directory of the test's own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
SECONDS_MOST = 100


class SimTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="policy_sim.")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def files(self):
        return sorted(os.listdir(self.dir))

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return name

    def write_waits(self, name, waits):
        return self.write(name, "".join("%d\n" % w for w in waits))

    def run_it(self, *args, stdout=subprocess.PIPE, path=None):
        env = dict(os.environ)
        if path is not None:
            env["PATH"] = path
        return subprocess.run([PROGRAM, *args], cwd=self.dir, env=env, text=True,
                              stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, timeout=SECONDS_MOST, check=False)

    def simulate(self, *args, status=0):
        """Run with --json; the object, the table."""
        r = self.run_it(*args, "--json", "out.json")
        self.assertEqual((r.returncode, r.stderr), (status, ""), r.stdout)
        with open(self.path("out.json"), encoding="ascii") as f:
            return json.load(f), r.stdout

    def check_refused(self, args, *words, path=None):
        """One line that has these words, exit 2, and nothing was written."""
        before = self.files()
        r = self.run_it(*args, path=path)
        self.assertEqual((r.returncode, r.stdout), (2, ""), r)
        self.assertEqual(r.stderr.count("\n"), 1, r)
        self.assertTrue(r.stderr.startswith("policy_sim: ") and r.stderr.endswith("\n"), r)
        self.assertLess(len(r.stderr), 400)
        for word in words:
            self.assertIn(word, r.stderr)
        self.assertEqual(self.files(), before)


def main():
    """The program is the first argument, unittest gets the rest."""
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit("usage: %s POLICY_SIM [UNITTEST ARGUMENT]..." % sys.argv[0])
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__", verbosity=2)
