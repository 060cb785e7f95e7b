# SPDX-License-Identifier: MIT
"""What scripts/bench --profile gets: the overview, two files, and how it hears of trouble."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import unittest
from types import SimpleNamespace

import common

import stacks

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

BUILD = PROGRAM = None


class Show(common.StacksTest):
    def record(self, *words, out=None):
        context = SimpleNamespace(build=BUILD, profile_by="wall")
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            try:
                stacks.record(context, [PROGRAM, *words], out)
            except stacks.Refused as e:
                return text.getvalue(), e
        return text.getvalue(), None

    def test_overview_and_files(self):
        text, error = self.record(out=self.path("kept"))
        self.assertIsNone(error)
        self.assertEqual(sorted(os.listdir(self.dir)), ["kept.folded", "kept.svg"])
        self.assertIn("callers of ", text)
        self.assertIn("sit", self.rows(text))

    def test_failure_comes_after_the_tables(self):
        text, error = self.record("status")
        self.assertIn("sit", self.rows(text))
        self.assertEqual((error.status, str(error)), (1, "the program ended with status 7"))

    def test_interrupted(self):
        """SIGINT to the tool and the program, as from a terminal."""
        p = subprocess.Popen([sys.executable, common.TOOL, "record", "--by", "wall", "--build",
                              BUILD, "--", PROGRAM, "long"], stdout=subprocess.PIPE, text=True,
                             start_new_session=True)
        self.assertEqual(p.stdout.readline(), "waiting\n")
        os.killpg(p.pid, signal.SIGINT)
        text, _ = p.communicate(timeout=common.SECONDS_MOST)
        self.assertEqual(p.returncode, 130, text)
        self.assertIn("interrupted", text)
        self.assertIn("sit", self.rows(text))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} BUILD_DIRECTORY PROGRAM [UNITTEST ARGUMENT]...")
    BUILD, PROGRAM = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    brief.main()
