# SPDX-License-Identifier: MIT
"""Scoreboard, guests, profiles and reports: how they are called, and what becomes of failures."""

import contextlib
import sys
import types
from unittest import mock

import common
from common import FAKE
from harness import interrupts


class PartError(Exception):
    """As a part would define it."""


PartError.__module__ = "vm.errors"


def fails(error):
    def function(*_arguments):
        raise error
    return function


def board(iterate, ids=("I-1",)):
    """A scoreboard with these rows."""
    ids = list(ids)
    return part("seed", IDS=ids, iterate=iterate,
                ordered=lambda found: sorted(found, key=lambda row: ids.index(row["id"])))


def rows_of(context, wanted):
    del context
    yield from ({"id": name, "state": "measured"} for name in wanted)


def without_noise(pieces):
    """What they say but for the figures of the machine."""
    return [{k: v for k, v in piece.items() if k != "noise"} for piece in pieces]


@contextlib.contextmanager
def guests(iterate, find=lambda: "qemu"):
    """bench/vm, with a QEMU."""
    with part("vm", iterate=iterate), part("vm.qemu", find=find), \
            part("vm.table", text=lambda guest: f"{guest['label']}\n  its rows"):
        yield


def one_guest(context):
    context.progress("booting")
    yield {"label": "guest"}


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

        def iterate(context, wanted):
            self.assertEqual(wanted, ["I-1"])
            context.progress("measuring")
            seen.append(context)
            yield {"id": "I-1"}
        with board(iterate):
            r = self.run_parts("--scoreboard", "--out", "out.json")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        own = self.load("out.json")["ipcwait"]
        self.assertEqual((without_noise(own["seed"]), own["suite"]),
                         ([{"id": "I-1"}], "scoreboard"))
        self.assertTrue(own["complete"])
        self.assertEqual(self.log(), [])
        context = seen[0]
        self.assertTrue(context.quick)
        self.assertEqual(str(context.build), self.path("build"))
        for key in ("root", "cache", "program", "fsroot", "probes", "full", "min_time_s"):
            self.assertTrue(hasattr(context, key), key)

    def test_together_with_benchmarks(self):
        with guests(one_guest):
            r = self.run_parts("handoff", "--vm", "--runs", "1", "--min-time", "0.01", "--full",
                               "--out", "out.json")
        self.assertEqual(r.returncode, 0, r.stderr)
        result = self.load("out.json")
        self.assertEqual(len(result["benchmarks"]), 6)
        self.assertEqual(without_noise(result["ipcwait"]["guests"]), [{"label": "guest"}])
        self.assertIn("\n  its rows\n", r.stdout)

    def test_what_was_measured_is_kept_when_a_part_fails(self):
        for error, status, word in ((PartError("no QEMU"), 2, "no QEMU"),
                                    (KeyError("x"), 1, "bench/vm failed: KeyError")):
            with self.subTest(word=word), guests(fails(error)), \
                    board(rows_of):
                r = self.run_parts("--scoreboard", "--vm", "--out", "out.json")
                self.assertEqual(r.returncode, status)
                self.assertEqual(r.stderr.count("\n"), 1)
                self.assertIn(word, r.stderr)
                self.assertIn("out.json", r.stderr)
                own = self.load("out.json")["ipcwait"]
                self.assertEqual(([r["id"] for r in own["seed"]], own["complete"]),
                                 (["I-1"], False))

    def test_a_failed_part_can_be_resumed(self):
        with guests(fails(PartError("no QEMU"))):
            self.run_parts("--vm", "--out", "out.json")
        with guests(one_guest):
            r = self.run_parts("--resume", "out.json")
        self.assertEqual(r.returncode, 0, r.stderr)
        own = self.load("out.json")["ipcwait"]
        self.assertEqual((without_noise(own["guests"]), own["complete"]),
                         ([{"label": "guest"}], True))

    def test_rows_are_kept_as_they_are_measured(self):
        ids = ["I-1", "I-2", "I-3", "G-1"]

        def interrupted(context, wanted):
            for name in ("G-1", "I-2"):
                yield {"id": name, "state": "measured", "by": "first"}
                found = self.load("out.json")["ipcwait"]["seed"]
                self.assertIn(name, [r["id"] for r in found])   # in the file, whatever follows
            raise interrupts.Interrupted
        with board(interrupted, ids):
            r = self.run_parts("--scoreboard", "--out", "out.json")
        self.assertEqual(r.returncode, 130, r.stderr)
        self.assertRegex(r.stderr, r"^scripts/bench: interrupted after 2 of 4 rows of the "
                         r"scoreboard; go on with: scripts/bench --resume .*\n$")
        own = self.load("out.json")["ipcwait"]
        self.assertEqual(([r["id"] for r in own["seed"]], own["complete"]),
                         (["I-2", "G-1"], False))
        wanted = []
        with board(lambda c, w: [wanted.append(w), *rows_of(c, w)][1:], ids):
            r = self.run_parts("--resume", "out.json")
        self.assertEqual((r.returncode, wanted), (0, [["I-1", "I-3"]]), r.stderr)
        own = self.load("out.json")["ipcwait"]
        self.assertTrue(own["complete"])
        self.assertEqual([(r["id"], r.get("by")) for r in own["seed"]],
                         [("I-1", None), ("I-2", "first"), ("I-3", None), ("G-1", "first")])

    def test_a_scoreboard_that_fails_keeps_its_rows(self):
        def breaks(context, wanted):
            yield {"id": wanted[0]}
            raise KeyError("x")
        with board(breaks, ["I-1", "I-2"]):
            r = self.run_parts("--scoreboard", "--out", "out.json")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("bench/seed failed: KeyError", r.stderr)
        self.assertEqual(without_noise(self.load("out.json")["ipcwait"]["seed"]),
                         [{"id": "I-1"}])

    def test_a_whole_scoreboard_is_not_measured_again(self):
        with guests(fails(PartError("no QEMU"))), board(rows_of):
            self.run_parts("--scoreboard", "--vm", "--out", "out.json")
        with guests(one_guest), board(fails(KeyError("x"))):
            r = self.run_parts("--resume", "out.json")
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_rows_that_nobody_knows_are_not_resumed(self):
        with guests(fails(PartError("no QEMU"))), board(rows_of):
            self.run_parts("--scoreboard", "--vm", "--out", "out.json")
        whole = self.load("out.json")
        for damage, word in (({"seed": [{"id": "X-1"}]}, "damaged"), ({"seed": [3]}, "damaged"),
                             ({"method": {**whole["ipcwait"]["method"], "parts": 3}},
                              "what was to be measured")):
            changed = {**whole, "ipcwait": {**whole["ipcwait"], **damage}}
            self.write("changed.json", changed)
            with board(rows_of):
                self.check_refused(self.run_parts("--resume", "changed.json"), word)

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
                  write_markdown=lambda result, path: seen.append(path)), \
                part("report.gnuplot", check=lambda: None):
            r = self.run_here("--from", "a.json", "--report", self.path("x.html"),
                              "--markdown", self.path("x.md"))
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(seen, [self.path("x.html"), self.path("x.md")])
        with part("report"):
            r = self.run_here("--from", "a.json", "--report", self.path("x.html"))
        self.check_refused(r, "write_html")


if __name__ == "__main__":
    common.main()
