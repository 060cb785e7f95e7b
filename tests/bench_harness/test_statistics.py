# SPDX-License-Identifier: MIT
"""Quantiles against published tables, intervals against chance with a fixed seed."""

import math
import random
import statistics
import unittest

import common
from harness import pooling, stats, summary

# Two-sided 95 % and 99 %, from any table of the t distribution.
T_TABLE = ((1, 12.706, 63.657), (2, 4.303, 9.925), (3, 3.182, 5.841), (5, 2.571, 4.032),
           (10, 2.228, 3.169), (30, 2.042, 2.750), (120, 1.980, 2.617))


class Quantiles(unittest.TestCase):
    def test_t(self):
        for dof, t95, t99 in T_TABLE:
            self.assertAlmostEqual(stats.t_quantile(0.95, dof), t95, places=3)
            self.assertAlmostEqual(stats.t_quantile(0.99, dof), t99, places=3)
            self.assertAlmostEqual(stats.t_two_sided(t99, dof), 0.01, places=4)
        self.assertAlmostEqual(stats.t_quantile(0.95, 1e6), 1.95997, places=4)
        self.assertEqual(stats.t_two_sided(0, 3), 1)
        self.assertEqual(stats.t_two_sided(math.inf, 3), 0)

    def test_beta(self):
        for x in (0.1, 0.5, 0.9):
            self.assertAlmostEqual(stats.incomplete_beta(1, 1, x), x)
            self.assertAlmostEqual(stats.incomplete_beta(2, 1, x), x * x)
            self.assertAlmostEqual(stats.incomplete_beta(2, 3, x),
                                   1 - stats.incomplete_beta(3, 2, 1 - x))


class Trimming(unittest.TestCase):
    def test_kept(self):
        for values, order, rank in (
                ([], [], []), ([3], [3], [3]), ([3, 1, 2], [3, 1, 2], [3, 1, 2]),
                ([9, 1, 5, 7], [1, 5], [5, 7]), ([9, 1, 5, 7, 2], [1, 5, 7], [5, 7, 2]),
                ([1, 1, 1, 1], [1, 1], [1, 1])):
            self.assertEqual(stats.kept(values, "order"), order)
            self.assertEqual(stats.kept(values, "rank"), rank)

    def test_a_missing_value_keeps_its_round(self):
        for values, order, rank in (
                ([None, 1, 2, 3, 4], [1, 2, 3], [2, 3]), ([9, None, 2, 3, 4], [2, 3], [3, 4]),
                ([9, None, None, None, 1], [0, 4], [0, 4]), ([None, 5], [1], [1]), ([], [], [])):
            self.assertEqual(stats.kept_at(values, "order"), order)
            self.assertEqual(stats.kept_at(values, "rank"), rank)
        rows = {"q/a": [{"real_time": 1.0 + i, **({"latency_p99_ns": i} if i != 2 else {})}
                        for i in range(1, 6)]}
        entry = summary.of_rows(["q/a"], rows, "order")[1]
        self.assertEqual((entry["values"], entry["kept"]), ([1, None, 3, 4, 5], [3, 4]))

    def test_spread(self):
        self.assertEqual(stats.spread([1], "order"), (None, 0))
        self.assertEqual(stats.spread([1, 3], "order"), (2, 1))
        self.assertEqual(stats.spread([100, 1, 2, 3, -100], "order"), (1, 2))
        # Winsorized to 1, 1, 2, 3, 3: the sum of squares is 4, three are kept.
        self.assertEqual(stats.spread([100, 1, 2, 3, -100], "rank"), (2, 2))

    def test_variance_of_a_median(self):
        for n, exact in ((1, 1), (3, 0.4487), (5, 0.2868), (7, 0.2104)):
            self.assertLess(abs(stats.median_variance(n) / exact - 1), 0.05)


class Pooling(unittest.TestCase):
    def spreads(self, deviations, seed):
        chance = random.Random(seed)
        return [(s * s * chance.expovariate(1), 2) for s in deviations]

    def test_alike_members_share_their_variance(self):
        variance, weight = pooling.prior(self.spreads([0.05] * 200, 1))
        self.assertGreater(weight, 8)
        self.assertLess(abs(math.sqrt(variance) / 0.05 - 1), 0.3)

    def test_unlike_members_do_not(self):
        chance = random.Random(2)
        wild = [math.exp(chance.gauss(0, 2.5)) for _ in range(200)]
        self.assertLess(pooling.prior(self.spreads(wild, 3))[1], 2)

    def test_a_few_strange_members_change_nothing(self):
        alike = self.spreads([0.05] * 100, 1)
        usual, weight = pooling.prior(alike)
        strange = pooling.prior(alike + [(0.0, 2)] * 8 + [(1e4, 2)] * 8)
        self.assertLess(abs(math.log(strange[0] / usual)), 0.4)
        self.assertGreater(strange[1], weight / 3)

    def test_a_wild_member_stands_for_itself(self):
        self.assertEqual(pooling.moderated([*self.spreads([0.05] * 50, 1), (9.0, 2)])[-1], (9.0, 2))

    def test_quantiles_of_f(self):
        # The median and the upper quartile with 2 and 10 degrees, from any table.
        self.assertAlmostEqual(pooling.quantile(0.5, 2, 10), 0.743, places=3)
        self.assertAlmostEqual(pooling.quantile(0.75, 2, 10), 1.598, places=3)

    def test_small_groups_do_not(self):
        self.assertEqual(pooling.moderated([(4.0, 2), (1.0, 2)]), [(4.0, 2), (1.0, 2)])
        self.assertEqual(pooling.moderated([(None, 0)]), [(None, 0)])
        self.assertEqual(pooling.moderated([(0.0, 2)] * 5), [(0.0, 2)] * 5)

    def test_a_member_without_runs_gets_the_groups(self):
        variance, dof = pooling.moderated([*self.spreads([0.05] * 20, 1), (None, 0)])[-1]
        self.assertGreater(variance, 0)
        self.assertGreater(dof, 0)


def session(chance, deviations, trim, runs=5, jumping=0):
    """Summary of benchmarks with these relative deviations of their runs. Of @jumping one has runs
    that are 85 % slower, three of ten."""
    def value(i, deviation):
        jump = jumping and i % jumping == 0 and chance.random() < 0.3
        return 100 * math.exp(chance.gauss(0, deviation)) * (1.85 if jump else 1)

    rows = {f"q/{i}": [{"real_time": value(i, s)} for _ in range(runs)]
            for i, s in enumerate(deviations)}
    return summary.of_rows(list(rows), rows, trim)


class Intervals(unittest.TestCase):
    def coverage(self, deviations, trim):
        """How often the median of a repetition is within the interval."""
        chance, hits, total = random.Random(7), 0, 0
        for _ in range(1200 // len(deviations)):
            first, second = (session(chance, deviations, trim) for _ in range(2))
            for a, b in zip(first, second):
                hits += a["low"] <= b["median"] <= a["high"]
                total += 1
        return hits / total

    def test_repetitions_are_within_the_interval(self):
        for trim in ("order", "rank"):
            for name, deviations in (("alike", [0.05] * 20), ("few", [0.05] * 2),
                                     ("unlike", [0.01 * 2 ** (i % 5) for i in range(20)]),
                                     ("one wild", [0.02] * 19 + [0.5])):
                with self.subTest(trim=trim, deviations=name):
                    self.assertGreater(self.coverage(deviations, trim), 0.92)

    def test_no_times_that_nobody_saw(self):
        """Two values in turn: the interval goes no further than a usual one beyond them."""
        rows = {f"q/{i}": [{"real_time": 100 * math.exp(0.01 * (run * i % 3))} for run in range(5)]
                for i in range(1, 12)}
        rows["q/jumps"] = [{"real_time": v} for v in (24.2, 45.8, 24.0, 45.1, 24.3)]
        entry = summary.of_rows(list(rows), rows, "order")[-1]
        self.assertLess(24.0 * 0.9, entry["low"])
        self.assertLessEqual(entry["low"], 24.0)
        self.assertLess(entry["high"], 45.8 * 1.1)
        self.assertGreaterEqual(entry["high"], 45.8)

    def test_jumping_and_unlike_benchmarks(self):
        """docs/benchmarks/harness.md says what is left of 95 % where nothing is normal."""
        chance, hits, total, jumped = random.Random(5), 0, 0, [0, 0]
        for _ in range(60):
            deviations = [0.015 * math.exp(chance.gauss(0, 0.8)) for _ in range(24)]
            first, second = (session(chance, deviations, "order", jumping=4) for _ in range(2))
            for i, (a, b) in enumerate(zip(first, second)):
                inside = a["low"] <= b["median"] <= a["high"]
                hits, total = hits + inside, total + 1
                if i % 4 == 0:
                    jumped = [jumped[0] + inside, jumped[1] + 1]
        self.assertGreater(hits / total, 0.92)
        self.assertGreater(jumped[0] / jumped[1], 0.80)

    def test_the_range_of_nine_runs_holds_whatever_the_distribution(self):
        """Without any variance: 79 % with five runs, 96 % with nine."""
        chance, inside = random.Random(3), {5: 0, 9: 0}
        for runs in inside:
            for _ in range(2000):
                first, second = ([chance.random() for _ in range(runs)] for _ in range(2))
                middle = statistics.median(stats.kept(second, "order"))
                inside[runs] += min(first) <= middle <= max(first)
        self.assertAlmostEqual(inside[5] / 2000, 0.786, delta=0.04)
        self.assertAlmostEqual(inside[9] / 2000, 0.962, delta=0.02)

    def test_resolution(self):
        for value, width in ((55, 1), (63.9, 1), (64, 1), (128, 2), (8895.5, 128)):
            self.assertAlmostEqual(summary.resolution("latency_p50_ns", value), width / value)
        self.assertEqual(summary.resolution("real_time", 100), 0)
        self.assertEqual(summary.resolution("latency_mean_ns", 100), 0)
        rows = {f"q/{i}": [{"latency_p50_ns": 8895.5}] * 5 for i in range(4)}
        entry = summary.of_rows(list(rows), rows, "order")[0]
        self.assertGreater(entry["high"] - entry["low"], 128)

    def test_intervals_are_not_too_wide_either(self):
        entries = session(random.Random(1), [0.05] * 40, "order")
        widths = [e["high"] / e["median"] - 1 for e in entries]
        self.assertLess(statistics.median(widths), 0.15)

    def test_zeros_and_missing_figures(self):
        rows = {"q/a": [{"real_time": 1.0, "share": 0.0, "bad": math.nan, "flag": True}] * 5,
                "q/b": [{"error_occurred": True, "error_message": "not built"}],
                "q/c": [{"real_time": 2.0, "time_unit": "us"}]}
        entries = {(e["name"], e.get("metric")): e for e in summary.of_rows(list(rows), rows,
                                                                            "order")}
        self.assertEqual(sorted(k for k in entries if k[0] == "q/a"),
                         [("q/a", "real_time"), ("q/a", "share")])
        self.assertEqual((entries["q/a", "share"]["low"], entries["q/a", "share"]["high"]), (0, 0))
        self.assertEqual(entries["q/b", None]["error"], "not built")
        self.assertEqual(entries["q/c", "real_time"]["median"], 2000)
        self.assertIsNone(entries["q/c", "real_time"]["low"])


if __name__ == "__main__":
    common.main()
