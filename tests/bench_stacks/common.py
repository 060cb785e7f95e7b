# SPDX-License-Identifier: MIT
"""What the tests of the stack tools share: the tools by themselves, in a directory of a test."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, "..", "..", "bench")
TOOL = os.path.join(BENCH, "stacks")

# Far more than any of these runs takes on a machine that is busy with other things.
SECONDS_MOST = 1000

sys.path.insert(0, BENCH)


def data(name):
    return os.path.join(HERE, "data", name)


class StacksTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="bench_stacks.")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def run_it(self, *args, text="", env=None):
        return subprocess.run([sys.executable, TOOL, *args], cwd=self.dir, input=text,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
                              text=True, capture_output=True, timeout=SECONDS_MOST, check=False)

    def output(self, *args, **how):
        """What it prints if all is well."""
        r = self.run_it(*args, **how)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r.stdout)
        return r.stdout

    def refusal(self, *args, status=2, **how):
        """The one line that it says instead."""
        r = self.run_it(*args, **how)
        self.assertEqual((r.returncode, r.stdout, r.stderr.count("\n")), (status, "", 1), r.stderr)
        return r.stderr

    def rows(self, output):
        """{function: (inclusive count, exclusive count)} of a table."""
        found = {}
        for line in output.splitlines():
            words = line.split(None, 4)
            if len(words) == 5 and words[1].isdigit() and words[3].isdigit():
                found[words[4]] = (int(words[1]), int(words[3]))
        return found
