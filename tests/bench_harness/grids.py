# SPDX-License-Identifier: MIT
"""What the tests of the grids share: a grid is shown from a result, and refuses what is none."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import common


class GridTest(unittest.TestCase):
    SCRIPT = None

    def show(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "result.json")
            path.write_text(text, encoding="ascii")
            return subprocess.run([sys.executable, self.SCRIPT, "--from", path], text=True,
                                  check=False, capture_output=True, timeout=common.SECONDS_MOST)

    def test_what_is_no_result(self):
        for text in ("", "[]", "{}", '{"ipcwait": {"summary": [], "verdict": {"noisy": false}}}'):
            with self.subTest(text=text):
                r = self.show(text)
                self.assertEqual((r.returncode, r.stdout), (1, ""))
                self.assertRegex(r.stderr, rf"^{self.SCRIPT.name}: .*\n$")
