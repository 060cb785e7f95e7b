# SPDX-License-Identifier: MIT
"""The marks of a row, from quotients within the rounds, and what stands in a cell."""

import math
import random
import unittest

import common
from harness import plan, quantity, ranking, store, summary, table


def question(chance, ratios, deviation, rounds=0.0, rows=10, runs=5):
    """Rows of variants with these times; whole rounds differ by @rounds."""
    found = {}
    for row in range(rows):
        moves = [chance.gauss(0, rounds) for _ in range(runs)]
        for impl, ratio in enumerate(ratios):
            found[f"q/impl:x{impl}/n:{row}"] = [
                {"real_time": 100 * ratio * math.exp(move + chance.gauss(0, deviation))}
                for move in moves]
    entries = {e["name"]: e for e in summary.of_rows(list(found), found, "order")}
    return [{f"x{impl}": entries[f"q/impl:x{impl}/n:{row}"] for impl in range(len(ratios))}
            for row in range(rows)]


def share(mark, ratios, deviation, rounds=0.0):
    """How often the last variant has @mark."""
    chance, count = random.Random(3), 0
    for _ in range(20):
        rows = question(chance, ratios, deviation, rounds)
        count += sum(m[f"x{len(ratios) - 1}"] == mark
                     for m in ranking.marks(rows, "order"))
    return count / 200


class Marks(unittest.TestCase):
    def test_a_tenth_is_told_with_three_per_cent_noise(self):
        self.assertLess(share("*", (1, 1.1), 0.03), 0.3)
        self.assertLess(share("*", (1, 1.2), 0.03), 0.03)

    def test_rounds_that_move_do_not_hide_it(self):
        self.assertLess(share("*", (1, 1.1), 0.03, rounds=0.3), 0.3)

    def test_equal_variants_share_the_star(self):
        self.assertGreater(share("*", (1, 1), 0.03), 0.93)
        self.assertGreater(share("*", (1, 1, 1, 1, 1), 0.03), 0.93)

    def test_wild_ones_are_not_told(self):
        self.assertGreater(share("?", (1, 1.05), 0.5), 0.4)
        self.assertLess(share("*", (1, 1.05), 0.5), 0.6)

    def test_the_lowest_has_a_star_and_one_run_tells_nothing(self):
        rows = question(random.Random(1), (1, 3), 0.0, runs=1)
        self.assertEqual(ranking.marks(rows, "order")[0], {"x0": "*", "x1": "?"})
        alone = [{"x0": rows[0]["x0"], "x1": None}]
        self.assertEqual(ranking.marks(alone, "order"), [{}])

    def test_quotients_are_of_the_same_round(self):
        row = question(random.Random(1), (1, 2), 0.0)[0]
        row["x1"]["values"][2] = None
        kept = ranking.against_best(row, "order")[0]["kept"]
        self.assertEqual(len(kept), 2)
        for log_ratio in kept:
            self.assertAlmostEqual(log_ratio, math.log(2))

    def test_no_difference_at_all(self):
        rows = question(random.Random(1), (1, 1, 2), 0.0)
        self.assertEqual(ranking.marks(rows, "rank")[0], {"x0": "*", "x1": "*", "x2": " "})


def text_of(rows, width=200, **changes):
    result = store.empty("quick", [], {}, {"runs": 5, "trim": "order"})
    result["ipcwait"].update(summary=summary.of_rows(list(rows), rows, "order"), complete=True,
                             **changes)
    return table.text(result, width)


class Cells(unittest.TestCase):
    def test_other_cpu_time_than_the_headers_is_not_shown(self):
        known = {"latency_p50_ns": 100.0, "cpu_time": 777.0}
        lines = text_of({"handoff/impl:a/wait:0": [known] * 5,
                         "handoff/impl:a/wait:5us": [{**known, "waiter_cpu_ns": 50.0}] * 5})
        self.assertIn("CPU time of the waiter", lines[0])
        self.assertRegex(lines[2], r"^wait:0 .* / -$")
        self.assertRegex(lines[3], r"^wait:5us .* / 50.0 ns$")

    def test_pareto_has_means_and_the_tail_where_there_is_one(self):
        mean = {"latency_mean_ns": 500.0, "latency_p50_ns": 60.0, "cpu_time": 1.0}
        lines = text_of({"pareto/impl:a/budget:own": [mean] * 5,
                         "pareto/impl:b/budget:own": [{**mean, "latency_p99_ns": 9000.0}] * 5})
        self.assertTrue(lines[0].startswith("pareto: mean latency +- interval, p99 /"))
        self.assertIn("500 ns", lines[2])
        self.assertIn(", - / 1.00 ns", lines[2])
        self.assertIn(", 9.00 us / 1.00 ns", lines[2])

    def test_a_wide_interval_is_a_range(self):
        rows = {f"q/impl:a/n:{i}": [{"real_time": v} for v in (24200, 45800, 24000, 23900, 45000)]
                for i in range(4)}
        lines = text_of(rows)
        self.assertIn("24.0 us (23.9 .. 45.8 us)", lines[2])
        self.assertNotIn("+-", lines[2])
        self.assertTrue(any("--runs 9" in line for line in lines))
        self.assertEqual(quantity.span_ns(60, 24000), "(60.0 ns .. 24.0 us)")

    def test_the_noise_floor_says_how_many_and_not_too_little(self):
        rows = {f"handoff/impl:{impl}/wait:{wait}": [{"latency_p50_ns": 128.0}] * 5
                for impl in ("a", "a-again") for wait in ("0", "1ms")}
        floor = next(line for line in text_of(rows) if line.startswith("noise floor"))
        self.assertIn("(2 pairs of twins)", floor)
        self.assertIn("1.6% (median)", floor)

    def test_remarks(self):
        rows = {"q/impl:a": [{"real_time": 1.0}] * 5}
        lines = text_of(rows, verdict={"noisy": False, "why": "not judged: no /proc",
                                       "rounds": ["round 3: all moved"]})
        self.assertIn("noise: not judged: no /proc", lines)
        self.assertIn("disturbed: round 3: all moved", lines)


class Order(unittest.TestCase):
    def test_each_is_first_once_and_runs_after_different_ones(self):
        listed = [f"q/impl:{i}" for i in "abcd"]
        orders = [plan.order(listed, n) for n in range(4)]
        self.assertEqual([o[0] for o in orders], listed)
        for order in orders:
            self.assertEqual(sorted(order), listed)
        before_b = {o[o.index("q/impl:b") - 1] for o in orders if o[0] != "q/impl:b"}
        self.assertGreater(len(before_b), 1)


if __name__ == "__main__":
    common.main()
