# SPDX-License-Identifier: MIT
"""Scoreboard, guests, profiles and reports: how they are called, and what becomes of failures."""

import sys
import types
from unittest import mock

import common
from common import FAKE


class PartError(Exception):
    """As a part would define it."""


PartError.__module__ = "vm.errors"


def fails(error):
    def function(*_arguments):
        raise error
    return function


def part(name, **functions):
    module = types.ModuleType(name)
    vars(module).update(functions)
    return mock.patch.dict(sys.modules, {name: module})


class Parts(common.HarnessTest):
    def run_parts(self, *args):
        own = ["--program", str(FAKE), "--build", self.path("build"), "--no-progress"]
        return self.run_here(*own, *args)

    def test_scoreboard(self):
        seen = []

        def run(context):
            context.progress("measuring")
            seen.append(context)
            return [{"id": "I-1"}]
        with part("seed", run=run):
            r = self.run_parts("--scoreboard", "--out", "out.json")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        own = self.load("out.json")["ipcwait"]
        self.assertEqual((own["seed"], own["suite"]), ([{"id": "I-1"}], "scoreboard"))
        self.assertTrue(own["complete"])
        self.assertEqual(self.log(), [])
        context = seen[0]
        self.assertTrue(context.quick)
        self.assertEqual(str(context.build), self.path("build"))
        for key in ("root", "cache", "program", "fsroot", "probes", "full", "min_time_s"):
            self.assertTrue(hasattr(context, key), key)

    def test_together_with_benchmarks(self):
        with part("vm", run=lambda context: [{"label": "guest"}]):
            r = self.run_parts("handoff", "--vm", "--runs", "1", "--min-time", "0.01", "--full",
                               "--out", "out.json")
        self.assertEqual(r.returncode, 0, r.stderr)
        result = self.load("out.json")
        self.assertEqual(len(result["benchmarks"]), 6)
        self.assertEqual(result["ipcwait"]["guests"], [{"label": "guest"}])

    def test_what_was_measured_is_kept_when_a_part_fails(self):
        for error, status, word in ((PartError("no QEMU"), 2, "no QEMU"),
                                    (KeyError("x"), 1, "bench/vm failed: KeyError")):
            with self.subTest(word=word), part("vm", run=fails(error)), \
                    part("seed", run=lambda context: [{"id": "I-1"}]):
                r = self.run_parts("--scoreboard", "--vm", "--out", "out.json")
                self.assertEqual(r.returncode, status)
                self.assertEqual(r.stderr.count("\n"), 1)
                self.assertIn(word, r.stderr)
                self.assertIn("out.json", r.stderr)
                own = self.load("out.json")["ipcwait"]
                self.assertEqual((own["seed"], own["complete"]), ([{"id": "I-1"}], False))

    def test_a_failed_part_can_be_resumed(self):
        with part("vm", run=fails(PartError("no QEMU"))):
            self.run_parts("--vm", "--out", "out.json")
        with part("vm", run=lambda context: [{"label": "guest"}]):
            r = self.run_parts("--resume", "out.json")
        self.assertEqual(r.returncode, 0, r.stderr)
        own = self.load("out.json")["ipcwait"]
        self.assertEqual((own["guests"], own["complete"]), ([{"label": "guest"}], True))

    def test_profile(self):
        seen = []
        with part("stacks", record=lambda context, argv, out: seen.append((context, argv, out))):
            r = self.run_parts("--profile", "handoff/impl:glibc/wait:5us", "--profile-by", "wall")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        ((context, argv, out),) = seen
        self.assertEqual(context.profile_by, "wall")
        self.assertEqual(argv[:2], [str(FAKE),
                                    "--benchmark_filter=^handoff/impl:glibc/wait:5us$"])
        self.assertRegex(out.name, r"^profile-handoff-impl-glibc-wait-5us-\d+T\d+Z$")

    def test_reports(self):
        self.write("a.json", common.made(1))
        seen = []
        with part("report", write_html=lambda result, path: seen.append(path),
                  write_markdown=lambda result, path: seen.append(path)):
            r = self.run_here("--from", "a.json", "--report", self.path("x.html"),
                              "--markdown", self.path("x.md"))
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(seen, [self.path("x.html"), self.path("x.md")])
        with part("report"):
            r = self.run_here("--from", "a.json", "--report", self.path("x.html"))
        self.check_refused(r, "write_html")


if __name__ == "__main__":
    common.main()
