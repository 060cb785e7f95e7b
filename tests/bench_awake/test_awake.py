# SPDX-License-Identifier: MIT
"""bench/awake: what it reads, what it takes for right, and how it counts. No timings."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench/awake"
sys.path.insert(0, str(ROOT / "bench"))

from awake import judging, starts                # noqa: E402
from awake.judging import Wakes                  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

STATUS = """CPUs        2 online, 2 usable
wakes       {} us of a halted CPU ({}){}; 3 rounds
qos         possible
"""

# An `ipcwait awake` whose answers are files in the folder.
COMMAND = """#!/bin/sh
here=${0%/*}
case $2 in
--status) cat "$here/status" ;;
*) cat "$here/said" >&2 ;;
esac
"""


class Reading(unittest.TestCase):
    def test_wakes(self):
        text = STATUS.format("15.1", "measured just now", ", 2.4 us of a polling one, 9.0 us of "
                             "one with a spinner")
        self.assertEqual(judging.wakes_of(text), Wakes(15.1, 2.4, 9.0))
        text = STATUS.format("7.2", "measured just now", ", 5.2 us of one with a spinner")
        self.assertEqual(judging.wakes_of(text), Wakes(7.2, None, 5.2))
        self.assertIsNone(judging.wakes_of(STATUS.format("30.0", "from a table", "")))
        self.assertIsNone(judging.wakes_of(""))

    def test_decisions(self):
        for line, decision in (("qos; a wake costs 15.1 us", "qos"),
                               ("qos, or spinners on some CPUs; a wake", "qos"),
                               ("spinners; a wake costs", "spinner"),
                               ("keeps no CPU awake: wakes are cheap", "nothing"),
                               ("keeps no CPU awake yet: qos: no", "nothing")):
            said = f"of another\nipcwait: awake: {line}\nipcwait: awake: held 0 times\n"
            self.assertEqual(judging.decision_of(said), (decision, line))
        self.assertEqual(judging.decision_of("ipcwait: awake: held 0 times"), (None, None))
        self.assertEqual(judging.decision_of("qos; a wake"), (None, None))

    def test_the_command_says_these_lines(self):
        """The words are those of the sources."""
        text = "".join((ROOT / "cli" / name).read_text(encoding="utf-8")
                       for name in ("awake_loop.c", "awake_print.c", "awake_machine.c"))
        for words in ('"keeps no CPU awake: ', '"spinners"', '"qos, or spinners on some CPUs"',
                      '%.1f us of a halted CPU (%s)', ', %.1f us of a polling one',
                      ', %.1f us of one with a spinner', '"measured just now"'):
            self.assertIn(words, text)


class Judging(unittest.TestCase):
    def test_medians(self):
        many = [Wakes(15, 2, None), Wakes(16, None, 9), Wakes(30, 3, 8)]
        self.assertEqual(judging.middle(many), Wakes(16, 2.5, 8.5))
        self.assertEqual(judging.middle([Wakes(7, None, 6)]), Wakes(7, None, 6))
        with self.assertRaises(ValueError):
            judging.middle([])

    def test_what_is_right(self):
        for wakes, right in ((Wakes(15.1, 2.4, 9.0), {"qos"}),
                             (Wakes(15.1, None, 9.0), {"spinner"}),
                             (Wakes(15.1, 16.0, 9.0), {"spinner"}),
                             (Wakes(15.1, 16.0, 16.6), {"nothing"}),
                             (Wakes(15.1, None, None), {"nothing"}),
                             (Wakes(3.0, 2.0, 1.0), {"nothing"})):
            self.assertEqual(judging.right_ones(wakes), right, wakes)

    def test_near_a_limit_two_are_right(self):
        for wakes, right in ((Wakes(10, 7.4, None), {"qos", "nothing"}),
                             (Wakes(10, 8.0, None), {"qos", "nothing"}),
                             (Wakes(10, 7.4, 5.0), {"qos", "spinner"}),
                             (Wakes(10, 8.3, None), {"nothing"}),
                             (Wakes(5.9, 1.0, None), {"qos", "nothing"}),
                             (Wakes(6.1, 1.0, None), {"qos", "nothing"}),
                             (Wakes(5.3, 1.0, None), {"nothing"})):
            self.assertEqual(judging.right_ones(wakes), right, wakes)

    def test_counts(self):
        many = [("at rest", "qos", ""), ("during", "nothing", ""), ("during", "qos", ""),
                ("right after", None, None)]
        self.assertEqual(judging.counted(many, {"qos"}),
                         {"at rest": (1, 1), "during": (1, 2), "right after": (0, 1)})


class Starting(unittest.TestCase):
    """With a command that says what the test wants."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        cli = pathlib.Path(self.folder.name, "cli")
        cli.mkdir()
        self.command = cli / "ipcwait"
        self.command.write_text(COMMAND, encoding="ascii")
        self.command.chmod(0o755)
        self.says("15.1", "measured just now", "ipcwait: awake: qos; a wake costs\n")

    def says(self, halted, where, said):
        (self.command.parent / "status").write_text(
            STATUS.format(halted, where, ", 2.4 us of a polling one"), encoding="ascii")
        (self.command.parent / "said").write_text(said, encoding="ascii")

    def bench(self):
        with mock.patch.object(starts, "REST_S", 0), mock.patch.object(starts, "BEFORE_S", 0), \
                mock.patch("builtins.print") as said:
            status = starts.main(["--starts", "9", "--careful", "3", self.folder.name])
        return status, "\n".join(" ".join(map(str, c.args)) for c in said.call_args_list)

    def test_all_right(self):
        status, said = self.bench()
        self.assertEqual(status, starts.OK)
        for when in starts.WHEN:
            self.assertRegex(said, rf"{when} +3 of 3 right")
        for other in starts.OTHERS:
            self.assertIn(f"during: {other}", said)
            self.assertIn(f"right after: {other}", said)

    def test_wrong(self):
        self.says("15.1", "measured just now", "ipcwait: awake: keeps no CPU awake: a wake\n")
        status, said = self.bench()
        self.assertEqual(status, starts.WRONG)
        self.assertRegex(said, r"during +0 of 3 right")

    def test_what_says_nothing(self):
        self.says("15.1", "measured just now", "")
        self.assertEqual(self.bench()[0], starts.FAILED)
        self.says("30.0", "from a table", "ipcwait: awake: qos;\n")
        status, said = self.bench()
        self.assertEqual(status, starts.FAILED)
        self.assertIn("no trial at rest", said)

    def test_no_command(self):
        done = subprocess.run([sys.executable, BENCH, "no-such-build"], check=False, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, starts.FAILED)
        self.assertIn("is missing", done.stderr)

    def test_nothing_runs_on(self):
        for other in starts.OTHERS:
            with mock.patch.object(starts, "BEFORE_S", 0), \
                    mock.patch.object(starts.subprocess, "Popen", wraps=subprocess.Popen) as made:
                with starts.beside(other):
                    self.assertEqual(made.call_count, len(os.sched_getaffinity(0)))
                    begun = [c.kwargs["start_new_session"] for c in made.call_args_list]
            self.assertTrue(all(begun), other)
        with mock.patch.object(starts, "BEFORE_S", 0), \
                mock.patch.object(starts.os, "killpg", wraps=os.killpg) as killed:
            with starts.beside("computes"):
                pass
        self.assertEqual(killed.call_count, len(os.sched_getaffinity(0)))


if __name__ == "__main__":
    brief.main()
