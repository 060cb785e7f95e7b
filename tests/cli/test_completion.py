# SPDX-License-Identifier: MIT
"""Completion: what bash offers, with the program itself answering."""

import os
import re
import shutil
import subprocess
import unittest

import common

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli",
                      "completion", "ipcwait.bash")


@unittest.skipUnless(shutil.which("bash"), "no bash")
class Bash(common.CliTest):
    def offers(self, *words):
        """For the last of these words, behind the program's name."""
        line = " ".join("'%s'" % w for w in (common.PROGRAM, *words))
        code = ". '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _ipcwait; printf '%%s\\n' " \
            '"${COMPREPLY[@]}"' % (SCRIPT, line, len(words))
        r = subprocess.run(["bash", "-c", code], cwd=self.dir, env=self.env, text=True,
                           capture_output=True, timeout=common.SECONDS_MOST, check=True)
        self.assertEqual(r.stderr, "")
        return r.stdout.split()

    def commands(self):
        return re.findall(r"^  ([a-z]+) ", self.run_it("help").stdout, re.M)

    def test_commands(self):
        self.assertEqual(self.offers(""), self.commands())
        self.assertEqual(self.offers("re"), ["record", "report", "replay"])
        self.assertEqual(self.offers("help", "do"), ["doctor"])

    def test_options_of_every_command(self):
        for command in self.commands():
            if command in ("help", "version"):
                continue
            text = self.run_it(command, "--help").stdout
            self.assertEqual(self.offers(command, "--"),
                             sorted(set(re.findall(r"--[a-z][a-z-]*", text))), command)

    def test_values(self):
        self.assertEqual(self.offers("run", "--policy", "b"), ["block"])
        self.assertEqual(self.offers("report", "--folded", "--by", ""), ["waits", "time", "cpu"])

    def test_files(self):
        self.write("waits.record", "")
        self.assertEqual(self.offers("report", "wai"), ["waits.record"])
        self.assertEqual(self.offers("run", "prog", "wai"), ["waits.record"])
        self.assertEqual(self.offers("record", "-o", "wai"), ["waits.record"])
        self.assertEqual(self.offers("awake", "--budget", "50", "prog", "wai"), ["waits.record"])


if __name__ == "__main__":
    common.main()
