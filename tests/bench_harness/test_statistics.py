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

    def test_gamma_derivatives(self):
        self.assertAlmostEqual(pooling.digamma(1), -0.5772156649, places=9)
        self.assertAlmostEqual(pooling.digamma(0.5), -1.9635100260, places=9)
        self.assertAlmostEqual(pooling.trigamma(1), math.pi ** 2 / 6, places=9)
        self.assertAlmostEqual(pooling.trigamma(0.5), math.pi ** 2 / 2, places=8)
        for x in (0.3, 1, 5, 80):
            self.assertAlmostEqual(pooling.trigamma_inverse(pooling.trigamma(x)), x, places=5)


class Trimming(unittest.TestCase):
    def test_kept(self):
        for values, order, rank in (
                ([], [], []), ([3], [3], [3]), ([3, 1, 2], [3, 1, 2], [3, 1, 2]),
                ([9, 1, 5, 7], [1, 5], [5, 7]), ([9, 1, 5, 7, 2], [1, 5, 7], [5, 7, 2]),
                ([1, 1, 1, 1], [1, 1], [1, 1])):
            self.assertEqual(stats.kept(values, "order"), order)
            self.assertEqual(stats.kept(values, "rank"), rank)

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

    def test_small_groups_do_not(self):
        self.assertEqual(pooling.moderated([(4.0, 2), (1.0, 2)]), [(4.0, 2), (1.0, 2)])
        self.assertEqual(pooling.moderated([(None, 0)]), [(None, 0)])
        self.assertEqual(pooling.moderated([(0.0, 2)] * 5), [(0.0, 2)] * 5)

    def test_a_member_without_runs_gets_the_groups(self):
        variance, dof = pooling.moderated([*self.spreads([0.05] * 20, 1), (None, 0)])[-1]
        self.assertGreater(variance, 0)
        self.assertGreater(dof, 0)


def session(chance, deviations, trim, runs=5):
    """Summary of benchmarks with these relative deviations of their runs."""
    rows = {f"q/{i}": [{"real_time": 100 * math.exp(chance.gauss(0, s))} for _ in range(runs)]
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
