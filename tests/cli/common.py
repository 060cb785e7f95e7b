# SPDX-License-Identifier: MIT
"""What the tests of the ipcwait command share: running it, in a directory of the test's own."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

PROGRAM = None

# Far more than any of these runs takes on a machine that is busy and stops its processes.
SECONDS_MOST = 600


class CliTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ipcwait.")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("IPCWAIT_")}
        self.env["HOME"] = self.dir
        self.env["IPCWAIT_CALIBRATION"] = self.path("calibration")
        self.env.pop("XDG_CACHE_HOME", None)

    def path(self, name):
        return os.path.join(self.dir, name)

    def files(self):
        return sorted(os.listdir(self.dir))

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as f:
            f.write(text)
        return self.path(name)

    def run_it(self, *args, **options):
        """Run it; options are those of subprocess.run() and more environment variables."""
        return self.run_command([PROGRAM, *args], **options)

    def run_command(self, command, **options):
        """The same of any program."""
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
               "stdin": subprocess.DEVNULL, "text": True}
        env = dict(self.env)
        for name, value in options.items():
            (env if name.isupper() else how)[name] = value
        return subprocess.run(command, cwd=self.dir, env=env,
                              timeout=SECONDS_MOST, check=False, **how)

    def check_one_line(self, r, status, *words):
        self.assertEqual(r.returncode, status, r)
        self.assertEqual(r.stderr.count("\n"), 1, r)
        self.assertTrue(r.stderr.startswith("ipcwait: ") and r.stderr.endswith("\n"), r)
        self.assertLess(len(r.stderr), 400)
        for word in words:
            self.assertIn(word, r.stderr)


def main():
    """The program is the first argument, unittest gets the rest."""
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit("usage: %s IPCWAIT [UNITTEST ARGUMENT]..." % sys.argv[0])
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    brief.main()
