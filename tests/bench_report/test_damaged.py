# SPDX-License-Identifier: MIT
"""Parts of a file that are damaged, and the pieces that the figures are made of."""

import json
import unittest

import common
import make_result
from report import crossover, data, figures, names, page, place, show, tables


class Damaged(common.ReportTest):
    """What should be a number is none: a sentence or a '-', never an exception."""

    VALUES = (None, "x", [], {}, True, float("nan"), float("inf"), -1, 0, 1e308, 10 ** 400)

    good = {}

    def copy(self, *suites):
        """A result of its own with these suites."""
        if suites not in self.good:
            self.good[suites] = json.dumps(make_result.result(suites=suites))
        return json.loads(self.good[suites])

    def damage(self, key, value, *suites):
        result = self.copy(*suites)
        for row in result["ipcwait"]["summary"][::3]:
            row[key] = value
        return result

    def test_summary(self):
        for key in ("median", "low", "high", "values", "kept", "unit"):
            for value in self.VALUES:
                with self.subTest(key=key, value=str(value)[:9]):
                    self.markdown(self.damage(key, value, make_result.pareto, make_result.pairs))

    def test_parts(self):
        for key in ("runs", "summary", "seed", "guests", "hosts", "idle_states", "verdict",
                    "method", "environment", "command"):
            for value in (None, "x", 1, [], [1, "x", None, {}], {}, {"a": []}):
                with self.subTest(key=key, value=value):
                    result = self.copy(make_result.uncontended)
                    result["ipcwait"][key] = value
                    self.markdown(result)

    @unittest.skipIf(not common.HAVE_GNUPLOT, "needs gnuplot")
    def test_drawing(self):
        suites = (make_result.handoff, make_result.oversubscription, make_result.contention)
        for value in self.VALUES:
            with self.subTest(value=str(value)[:9]):
                self.html(self.damage("median", value, *suites))

    def test_histograms(self):
        for buckets in (None, [], [[]], [[1, 2]], "x", [[1, 2, 0]], [["a", "b", "c"]]):
            result = self.copy(make_result.wake)
            for run in result["ipcwait"]["runs"]:
                run["histograms"] = {"latency": {"buckets": buckets}}
            self.markdown(result)


class Pieces(unittest.TestCase):
    def test_names(self):
        self.assertEqual(names.split("handoff/impl:x/wait:5us/process_time/manual_time"),
                         ("handoff", {"impl": "x", "wait": "5us"}))
        self.assertEqual([names.duration_ns(t) for t in ("0", "500ns", "2us", "1ms", "3s", "x")],
                         [0, 500, 2000, 1e6, 3e9, None])

    def test_numbers(self):
        self.assertEqual([show.time_ns(v) for v in (0, 0.5, 999, 999.6, 1234, 5e6, 2e9, None)],
                         ["0 ns", "0.5 ns", "999 ns", "1 us", "1.23 us", "5 ms", "2 s", "-"])
        self.assertEqual([show.digits(v) for v in (1234, 0.012345, 10, -2.5, 1e-9)],
                         ["1230", "0.0123", "10", "-2.5", "0.000000001"])
        self.assertEqual(show.clean("a\nb\x1b\u202e"), "a?b??")

    def test_kept_runs(self):
        self.assertEqual(data.kept_marks({"values": [1, 2, 2, 3], "kept": [2, 3]}),
                         [False, True, False, True])
        same = {"values": [5, 5, 6, 5], "kept": [5, 6]}
        self.assertEqual(data.kept_marks(same, "order"), [False, True, True, False])
        self.assertEqual(data.kept_marks(same, "rank"), [True, False, True, False])
        gap = {"values": [1, None, 2, 3], "kept": [2]}
        self.assertEqual(data.kept_marks(gap, "order"), [False, False, True, False])

    def test_labels_do_not_touch(self):
        at = place.spread([10, 10, 11, 50], 15, 0, 100)
        self.assertEqual(sorted(at), at)
        self.assertTrue(all(b - a >= 15 for a, b in zip(at, at[1:])), at)

    def test_crossover(self):
        def line(impl, ys):
            return {"impl": impl, "points": [{"x": x, "y": y, "low": y * 0.9, "high": y * 1.1,
                                              "runs": []} for x, y in zip((1e3, 1e4, 1e5), ys)]}
        (one,) = crossover.find([line("spin", (1e3, 1e4, 1e5)), line("block", (1e4, 2e4, 4e4))])
        x, y = one["at"]
        self.assertTrue(1e4 < x < 1e5 and 2e4 < y < 4e4)
        self.assertEqual((one["low"], one["high"]), (1e4, 1e5))
        self.assertEqual(one["text"], "spin = block between 10 us and 100 us")
        self.assertEqual(crossover.find([line("spin", (1, 2, 3)), line("block", (1, 2, 3))]), [])

    def test_escaping(self):
        self.assertEqual(tables.md_cell("a|b`c<d>"), "a\\|b\\`c\\<d\\>")
        self.assertNotIn("<b>", page.missing_section([("x", "<b>", None, None, "<b>")]))
        self.assertEqual(len({f[0] for f in figures.FIGURES}), len(figures.FIGURES))


if __name__ == "__main__":
    common.main()
