# SPDX-License-Identifier: MIT
"""Inclusive and exclusive shares, callers and callees, differences, filters."""

import os
import sys
import re
import unittest

import common

from stacks import samples, tables, text_formats, trees

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

RECURSIVE = "main;f;f;f;g 6\nmain;f;g;f 2\nmain;h 2\n"


def read(text, name="x"):
    return text_formats.read_folded(text, name)


def body(lines):
    """(count, text with its indentation) of the rows of a tree."""
    rows = [re.fullmatch(r" *[\d.]+ +(\d+)  (.*)", line) for line in lines[3:]]
    return [(int(m[1]), m[2]) for m in rows]


class Shares(common.StacksTest):
    def test_recursion_counts_once(self):
        table = tables.shares(read(RECURSIVE))
        self.assertEqual(table, {"main": (10, 0), "f": (8, 2), "g": (8, 6), "h": (2, 2)})

    def test_exclusive_adds_up(self):
        p = read(RECURSIVE)
        self.assertEqual(sum(s.excl for s in tables.shares(p).values()), samples.total(p))

    def test_sorted_by_either(self):
        p = read("a;b;c 5\na;d 9\n")
        self.assertEqual([line.split()[-1] for line in tables.functions(p, "incl")[2:]],
                         ["a", "d", "c", "b"])
        self.assertEqual([line.split()[-1] for line in tables.functions(p, "excl")[2:]],
                         ["d", "c"])

    def test_top_says_what_is_missing(self):
        self.assertIn("and 3 more", tables.functions(read("a;b;c 5\na;d 9\n"), top=1)[-1])

    def test_difference(self):
        rows = tables.differences(read("m;a 50\nm;b 50\n"), read("m;a 150\nm;c 50\n"))
        self.assertEqual([(r[0], r[1], r[2], r[3]) for r in rows],
                         [("b", 50, None, -50.0), ("a", 50, 150, 25.0), ("c", None, 50, 25.0),
                          ("m", 100, 200, 0.0)])

    def test_missing_side_is_a_dash(self):
        lines = tables.difference(read("m;b 5\n", "one"), read("m;c 5\n", "two"))
        self.assertIn("  100.00        –       -100.00", "\n".join(lines))
        self.assertIn("       –   100.00       +100.00", "\n".join(lines))

    def test_chance_shrinks_with_samples(self):
        self.assertGreater(tables.chance(50, 100), tables.chance(5000, 10000))
        self.assertGreater(tables.chance(0, 100), 0)


class Trees(common.StacksTest):
    def test_callers_skip_direct_recursion(self):
        self.assertEqual(body(trees.lines(read(RECURSIVE), "f", True)), [(6, "main"), (2, "g")])

    def test_callers_in_depth(self):
        self.assertEqual(body(trees.lines(read(RECURSIVE), "g", True, depth=9)),
                         [(8, "f"), (6, "  f"), (6, "    f"), (6, "      main"),
                          (6, "        (nothing above)"), (2, "  main"),
                          (2, "    (nothing above)")])

    def test_callees(self):
        self.assertEqual(body(trees.lines(read(RECURSIVE), "f", False, depth=2)),
                         [(6, "g"), (6, "  (in itself)"), (2, "(in itself)")])

    def test_levels_add_up(self):
        p = read("m;x;a;l 3\nm;y;a;k 4\nz;a 1\n")
        for upwards in (True, False):
            self.assertEqual(sum(n for n, name in body(trees.lines(p, "a", upwards))), 8)

    def test_deep_stacks(self):
        deep = ";".join(f"f{i}" for i in range(3000))
        rows = body(trees.lines(read(f"{deep} 1\n"), "f0", False, depth=1000))
        self.assertEqual(len(rows), 1000)

    def test_by_wildcard_and_without_parameters(self):
        p = read("m;a(int) 3\nm;a(long) 4\n")
        self.assertIn("a (2 functions): 7 samples", trees.lines(p, "a", True)[0])
        self.assertIn("a(l*: 4 samples", trees.lines(p, "a(l*", True)[0])


class Filters(common.StacksTest):
    TEXT = "one-10/10;m;a 3\none-10/11;m;b 4\ntwo-20/20;m;c 5\n"

    def total(self, **which):
        return samples.total(samples.only(read(self.TEXT), **which))

    def test_thread_and_process(self):
        self.assertEqual(self.total(thread="one"), 7)
        self.assertEqual(self.total(thread="11"), 4)
        self.assertEqual(self.total(thread="t*"), 5)
        self.assertEqual(self.total(process="10"), 7)
        self.assertEqual(self.total(thread="one", process="10"), 7)


if __name__ == "__main__":
    brief.main()
