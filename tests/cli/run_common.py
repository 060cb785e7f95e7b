# SPDX-License-Identifier: MIT
"""What the tests of `ipcwait run` share."""

import json
import os
import subprocess
import sys

import common

# Given to the test: the preload module, and the program run_waits.
MODULE, WAITS = "", ""


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
        r = self.ipcwait_run("--json", "--output", "out.json", *args, **options)
        self.assertEqual((r.returncode, r.stderr), (status, ""), r)
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

    def start(self, *args, **options):
        p = subprocess.Popen([common.PROGRAM, "run", "--module", MODULE, *args], cwd=self.dir,
                             env=self.env, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, **options)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p


def main():
    """Arguments: ipcwait, the module, run_waits; unittest gets the rest."""
    global MODULE, WAITS
    MODULE, WAITS = map(os.path.abspath, (sys.argv.pop(2), sys.argv.pop(2)))
    common.main()
