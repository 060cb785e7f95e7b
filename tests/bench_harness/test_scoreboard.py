# SPDX-License-Identifier: MIT
"""Scoreboard and guests: what is printed of them, what fails, what was disturbed, what is refused
before anything is measured."""

import json
import os
import unittest
from unittest import mock

import common
from common import FAKE
from harness import cli, interrupts, part_noise, session
from seed import text  # noqa: F401 (bench/seed is replaced below, but not its texts)
from test_parts import board, fails, guests, part, PartError, without_noise


def row(name="I-1", **more):
    return {"id": name, "title": "A title", "unit": "us", "seed": {"VM": "22 s"}, "ours": {},
            "peers": {}, "state": "measured", "why": None, "refers": [], "claim": "It holds",
            "same_direction": "not told apart", "columns": ["a"], "lines": [["b"]], **more}


class PartsTest(common.HarnessTest):
    def run_parts(self, *args):
        own = ["--program", str(FAKE), "--build", self.path("build")]
        return self.run_here(*own, *args)

    def run_board(self, made, *args):
        with board(lambda context, wanted: iter([made])):
            return self.run_parts("--scoreboard", "--out", "out.json", "--no-progress", *args)


class Shown(PartsTest):
    def test_rows_and_guests_are_printed(self):
        with guests(lambda context: iter([{"label": "gue\x1bst"}])):
            with board(lambda context, wanted: iter([row(title="A \x1b[2Jtitle")])):
                r = self.run_parts("--scoreboard", "--vm", "--out", "out.json", "--no-progress")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertRegex(r.stdout, r"(?s)I-1  A \?\[2Jtitle.*seed: VM 22 s.*It holds: not told "
                         r"apart\n    a\n    b\n.*gue\?st\n  its rows\n.*result: ")
        self.assertEqual(self.run_here("--from", "out.json").stdout.partition("gue")[0],
                         r.stdout.partition("gue")[0])

    def test_rows_of_another_version_are_named(self):
        result = common.made(1)
        result["ipcwait"].update(seed=[{"id": "I-1"}], guests=[{"label": "g", "rows": 3}])
        self.write("a.json", result)
        r = self.run_here("--from", "a.json")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("I-1: cannot be shown", r.stdout)
        self.assertIn("g: cannot be shown", r.stdout)

    def test_failures(self):
        r = self.run_board(row(state="failed", why="FAILED: total 3"))
        self.assertEqual(r.returncode, 1)
        self.assertEqual(r.stderr, "scripts/bench: I-1: FAILED: total 3\n")
        for error, status in (("1 of 3 runs: crashed", 1), ("not available: 1 CPU here", 0)):
            with guests(lambda context: iter([{"label": "g", "error": error}])):
                r = self.run_parts("--vm", "--out", "out.json", "--no-progress")
            self.assertEqual(r.returncode, status, r.stderr)
            self.assertEqual("crashed" in r.stderr, bool(status))

    def test_few_lines_of_progress(self):
        def rows_of(context, wanted):
            for name in wanted:
                for number in range(5):
                    context.progress(f"run {number}")
                yield row(name)
        with board(rows_of, [f"I-{n}" for n in range(1, 41)]):
            r = self.run_parts("--scoreboard", "--out", "out.json")
        self.assertEqual(r.returncode, 0, r.stderr)
        lines = r.stderr.splitlines()
        self.assertEqual(len(lines), 10, r.stderr)
        self.assertRegex(lines[0], r"^4 of 40 rows of the scoreboard after \d+ s$")


class Noise(PartsTest):
    def disturb(self, ticks):
        fields = self.stat.read_text("ascii").split(" ", 3)
        fields[2] = str(int(fields[2]) + ticks)
        self.stat.write_text(" ".join(fields), "ascii")

    def run_disturbed(self, ticks, *args, **made):
        def iterate(context, wanted):
            for name in wanted:
                self.disturb(ticks)
                yield row(name, **made)
        with mock.patch.object(part_noise, "SECONDS_LEAST", 1e-9), board(iterate, ["I-1", "I-2"]):
            return self.run_parts("--scoreboard", "--out", "out.json", "--no-progress", *args)

    def test_a_disturbed_scoreboard_is_not_reported(self):
        r = self.run_disturbed(100)
        self.check_refused(r, "while the scoreboard ran, other programs used", 4)
        own = self.load("out.json")["ipcwait"]
        self.assertTrue(own["verdict"]["noisy"])
        self.assertGreater(own["verdict"]["parts"]["seed"]["other_cpus"], 1)
        self.assertEqual([r["id"] for r in own["seed"]], ["I-1", "I-2"])
        self.assertGreater(own["seed"][0]["noise"]["other_cpus"], 1)
        self.check_refused(self.run_here("--from", "out.json"), "the scoreboard", 4)
        r = self.run_here("--from", "out.json", "--force")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("TOO NOISY", r.stdout)
        r = self.run_disturbed(100, "--force")
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_a_quiet_one_is(self):
        self.assertEqual(self.run_disturbed(0).returncode, 0)

    def test_guests_too(self):
        def iterate(context):
            self.disturb(100)
            yield {"label": "g"}
        with mock.patch.object(part_noise, "SECONDS_LEAST", 1e-9), guests(iterate):
            r = self.run_parts("--vm", "--out", "out.json", "--no-progress")
        self.check_refused(r, "while guests ran", 4)

    def test_no_proc(self):
        self.stat.unlink()
        self.assertEqual(self.run_board(row()).returncode, 0)
        own = self.load("out.json")["ipcwait"]
        self.assertIsNone(own["seed"][0]["noise"]["other_cpus"])
        self.assertEqual(own["verdict"]["parts"], {"seed": None})


class Figures(unittest.TestCase):
    def reading(self, at_s, busy_s, ours_s):
        return {"at_s": at_s, "cpu": {"busy_s": busy_s, "steal_s": 0.0}, "ours_s": ours_s}

    def test_own_time_is_not_that_of_others(self):
        found = part_noise.between(self.reading(0, 10, 0), self.reading(2, 14, 3.5))
        self.assertEqual((found["own_cpu_s"], found["other_cpus"]), (3.5, 0.25))

    def test_what_is_below_zero_makes_up_for_what_is_too_much(self):
        def piece(other):
            return {"noise": {"wall_s": 1.0, "other_cpus": other, "steal_cpus": 0.0}}
        self.assertEqual(part_noise.whole([piece(0.5), piece(-0.5)])["other_cpus"], 0)
        self.assertIsNone(part_noise.complaint("seed", [piece(0.5), piece(-0.4)]))
        self.assertIn("0.15 CPUs", part_noise.complaint("seed", [piece(0.5), piece(-0.2)]))
        self.assertIsNone(part_noise.complaint("guests", []))
        self.assertIsNone(part_noise.complaint("guests", [{"label": "of an earlier version"}]))

    def test_both_reasons_are_told(self):
        verdict = {"noisy": True, "why": "the runs"}
        noisy = [{"noise": {"wall_s": 9.0, "other_cpus": 1.0, "steal_cpus": 0.5}}]
        part_noise.add_to(verdict, {"guests": noisy})
        self.assertRegex(verdict["why"], r"^the runs; while guests ran, .*1.00 CPUs .* 0.50 ")


class Refused(PartsTest):
    def check_early(self, r, word):
        self.check_refused(r, word)
        self.assertEqual(self.log(), [])
        self.assertFalse((self.dir / "out.json").exists())

    def test_what_is_missing_is_told_before_anything_is_measured(self):
        with guests(fails(KeyError("x")), find=fails(PartError("no QEMU"))):
            self.check_early(self.run_parts("all", "--vm", "--out", "out.json"), "no QEMU")
        error = type("ReportError", (Exception,), {"__module__": "report.errors"})
        with part("report", write_html=None), \
                part("report.gnuplot", check=fails(error("no gnuplot"))):
            self.check_early(self.run_parts("--report", "r.html", "--out", "out.json"),
                             "no gnuplot")


class Kept(PartsTest):
    def test_guests_of_an_interrupted_run(self):
        def interrupted(context):
            yield {"label": "a", "by": "first"}
            yield {"label": "b", "by": "first"}
            raise interrupts.Interrupted
        with guests(interrupted):
            r = self.run_parts("--vm", "--full", "--out", "out.json", "--no-progress")
        self.assertEqual(r.returncode, 130, r.stderr)
        self.assertIn("after 2 guests; go on with", r.stderr)
        seen = []

        def again(context):
            seen.append((context.full, context.quick))
            yield {"label": "a", "by": "second"}
            yield {"label": "c", "by": "second"}
        with guests(again):
            r = self.run_parts("--resume", "out.json", "--no-progress")
        self.assertEqual((r.returncode, seen), (0, [(True, False)]), r.stderr)
        found = without_noise(self.load("out.json")["ipcwait"]["guests"])
        self.assertEqual([(g["label"], g["by"]) for g in found],
                         [("b", "first"), ("a", "second"), ("c", "second")])

    def test_mistakes_of_ours_are_one_line(self):
        with mock.patch.object(cli.options, "parse", side_effect=KeyError("x\ny")):
            self.check_refused(self.run_here("--list"), "KeyError in ", 1)
        with mock.patch.object(session, "run_rounds", side_effect=ZeroDivisionError("x")):
            r = self.run_parts("--out", "out.json", "--no-progress")
        self.assertEqual((r.returncode, r.stderr.count("\n")), (1, 1), r.stderr)
        self.assertIn("ZeroDivisionError", r.stderr)
        self.assertIn("out.json", r.stderr)
        self.assertFalse(self.load("out.json")["ipcwait"]["complete"])


class Environment(common.HarnessTest):
    def test_what_changes_the_waiting_does_not_reach_a_program(self):
        with open(self.path("env.sh"), "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\nenv >{self.path('seen')}\nexec {FAKE} \"$@\"\n")
        os.chmod(self.path("env.sh"), 0o755)
        r = self.run_it("--program", self.path("env.sh"), "--build", self.path("build"), "--list",
                        IPCWAIT_POLICY="throughput", IPCWAIT_CALIBRATION="user",
                        IPCWAIT_BENCH_SLOW="x,5")
        self.assertEqual(r.returncode, 0, r.stderr)
        seen = dict(line.partition("=")[::2]
                    for line in (self.dir / "seen").read_text("ascii").splitlines())
        self.assertEqual((seen.get("IPCWAIT_POLICY"), seen["IPCWAIT_CALIBRATION"],
                          seen["IPCWAIT_BENCH_SLOW"]), (None, "none", "x,5"))

    def test_what_is_preset_is_written_down(self):
        result, r = self.measure("--runs", "1", "--filter", "glibc/wait:5us", MALLOC_ARENA_MAX="1",
                                 GLIBC_TUNABLES="glibc.malloc.check=0",
                                 LD_LIBRARY_PATH="/somewhere/private")
        preset = result["ipcwait"]["method"]["preset"]
        self.assertEqual(preset, {"GLIBC_TUNABLES": "glibc.malloc.check=0",
                                  "LD_LIBRARY_PATH": "private", "MALLOC_ARENA_MAX": "1"})
        self.assertIn("MALLOC_ARENA_MAX is set", r.stdout)
        env = result["ipcwait"]["environment"]
        self.assertIsNone(env["git"])
        self.assertIn("--program", env["git_reason"])
        self.assertNotIn("somewhere", json.dumps(result))


if __name__ == "__main__":
    common.main()
