# SPDX-License-Identifier: MIT
"""What figures are made of: quotients, best ones, frontiers and histograms, from known runs."""

import statistics

import common
import make_result
from report import (crossover, data, fig_contention, fig_oversubscription, fig_pareto, fig_roi,
                    fig_wake, returns, rounds)


def entry(name, metric, values):
    kept = values[1:-1]
    return {"name": name, "metric": metric, "unit": "ns", "values": values, "kept": kept,
            "median": statistics.median(kept), "low": min(kept), "high": max(kept)}


def result(rows, trim="order"):
    """@rows: {name: {metric: values}}"""
    return {"ipcwait": {"method": {"trim": trim}, "summary": [
        entry(name, metric, values) for name, metrics in rows.items()
        for metric, values in metrics.items()]}}


def cells(rows, trim="order"):
    return data.cells(result(rows, trim)["ipcwait"])


class Quotients(common.ReportTest):
    def test_within_rounds(self):
        """Round 2 took ten times as long for both: that is no difference between them."""
        made = rounds.quotient([90, 20, 200, 30, 90], [10, 10, 100, 10, 10], "order")
        self.assertEqual((made["y"], made["low"], made["high"]), (2, 2, 3))
        self.assertEqual(made["runs"], [9, 2, 2, 3, 9])
        self.assertEqual(rounds.quotient([1, 2, 9, 4], [1, 1, 1, 1], "rank")["y"], 3)
        self.assertIsNone(rounds.quotient([1, 2], [1, 2, 3], "order"))
        self.assertIsNone(rounds.quotient([None, None], [1, 2], "order"))

    def test_apart(self):
        self.assertTrue(rounds.apart([1, 2], [3, 4]))
        self.assertFalse(rounds.apart([1, 3], [3, 4]))
        self.assertFalse(rounds.apart([], [3, 4]))


class Returns(common.ReportTest):
    ROWS = {"handoff/impl:glibc/wait:1ms": {"real_time": [1030.0] * 5, "cpu_time": [1040.0] * 5,
                                            "waiter_cpu_ns": [10.0] * 5},
            "handoff/impl:spin/wait:1ms": {"real_time": [1000.0] * 5, "cpu_time": [2000.0] * 5,
                                           "waiter_cpu_ns": [1000.0] * 5}}

    def test_both_readings(self):
        """1 / (time x CPU time): the added latency, 20 times shorter, has no part in it."""
        glibc, spin = cells(self.ROWS).values()
        whole = returns.relative(spin, glibc, returns.ALL)["y"]
        alone = returns.relative(spin, glibc, returns.WAITER)["y"]
        self.assertAlmostEqual(whole, 1030 * 1040 / (1000 * 2000))
        self.assertAlmostEqual(alone, 1030 * 10 / (1000 * 1000))
        self.assertIs(returns.reference([spin, glibc]), glibc)

    def test_figure(self):
        model = fig_roi.collect(result(self.ROWS))
        self.assertEqual([line[1:] for line in model["pivot"]["lines"]],
                         [["glibc", "x1", "x1", "x1", "x1"],
                          ["spin", "x0.536", "x0.536", "x0.536", "x0.0103"]])

    def test_without_the_counter(self):
        rows = {k: {m: v for m, v in row.items() if m != returns.WAITER}
                for k, row in self.ROWS.items()}
        lines = fig_roi.collect(result(rows))["pivot"]["lines"]
        self.assertEqual([line[-1] for line in lines], ["-", "-"])


class Best(common.ReportTest):
    def contention(self, **times):
        rows = {f"contention/impl:{k.replace('_', '-')}/threads:2/section:0": {"real_time": v}
                for k, v in times.items()}
        model = fig_contention.collect(result(rows))
        return {impl: found["0", "2"] for _, impl, found in model["maps"]}, model["alt"]

    def test_contention(self):
        found, alt = self.contention(glibc=[9, 10, 11, 12, 9], glibc_again=[9, 5, 6, 5, 9],
                                     nsync=[9, 12, 13, 12, 9], abseil=[9, 20, 21, 22, 9],
                                     tbb=[9, 11, 30, 31, 9])
        self.assertEqual({k: m for k, (_, m) in found.items()},
                         {"glibc": "*", "nsync": "*", "abseil": "", "tbb": "?",
                          "glibc-again": ""})
        self.assertEqual(found["glibc"][0], 1)
        self.has("nsync best, or not told apart from it, in 1 of 1 cells", alt)
        self.has("tbb best, or not told apart from it, in 0 of 1 cells, 1 too scattered", alt)
        self.assertNotIn("again", alt)

    def pareto(self, **points):
        """{impl: (CPU, latency)}, each with the same spread."""
        spread = (5, 0.98, 1, 1.02, 5)
        rows = {f"pareto/impl:{k.replace('_', '-')}/budget:own": {
            "waiter_cpu_ns": [x * s for s in spread], "latency_mean_ns": [y * s for s in spread],
            "latency_p50_ns": [1.0] * 5} for k, (x, y) in points.items()}
        return fig_pareto.collect(result(rows))

    def test_frontier(self):
        model = self.pareto(glibc=(100, 100), glibc_again=(50, 50), block=(101, 101),
                            spin=(500, 10), nsync=(300, 300))
        standing = {line[1]: line[-1] for line in model["pivot"]["lines"]}
        ahead = "on the frontier, or not told apart"
        self.assertEqual(standing, {"glibc": ahead, "block": ahead, "spin": ahead,
                                    "nsync": "beaten", "glibc-again": "a twin"})
        self.assertNotIn("again", model["alt"])

    def test_mean_and_tail(self):
        """The axis is the mean; p99 has a panel where there is one."""
        model = self.pareto(glibc=(100, 100), spin=(500, 10))
        self.assertEqual({r["metric"] for r in model["rows"]},
                         {"waiter_cpu_ns", "latency_mean_ns"})
        self.assertEqual(len(model["panels"]), 1)
        usual = fig_pareto.collect(make_result.result(suites=(make_result.pareto,), extras=False))
        self.assertEqual([p["title"] for p in usual["panels"]],
                         [returns.MIXED + ": mean", returns.MIXED + ": p99"])


class Lines(common.ReportTest):
    def test_crossing_from_zero(self):
        """A length of 0 has no logarithm: there is a bracket, and nothing between."""
        def line(impl, ys):
            return {"impl": impl, "points": [{"x": x, "y": y, "low": y, "high": y, "runs": []}
                                             for x, y in zip((0, 5e3), ys)]}
        (one,) = crossover.find([line("spin", (1, 9)), line("block", (3, 4))])
        self.assertIsNone(one["at"])
        self.assertEqual(crossover.sentence([one], "cost"),
                         "In cost: spin = block between 0 ns and 5 us.")
        self.assertEqual(crossover.apart([one]), [])

    def test_throughput_is_absolute(self):
        name = "oversubscription/kind:sem/impl:{}/threads_per_cpu:{}"
        rows = {name.format("glibc", 1): {"real_time": [1e4] * 5},
                name.format("glibc", 4): {"real_time": [1e3] * 5},
                name.format("ipcwait", 1): {"real_time": [5e2] * 5},
                name.format("ipcwait", 4): {"real_time": [8e2] * 5, "latency_p99_ns": [7e3] * 5}}
        model = fig_oversubscription.collect(result(rows))
        ((_, rates, _),) = model["parts"]
        ends = {s["impl"]: s["points"][-1]["y"] for s in rates}
        self.assertGreater(ends["ipcwait"], ends["glibc"])
        self.assertEqual([line[1:] for line in model["pivot"]["lines"]],
                         [["ipcwait", "1", "2 M/s", "x1", "-"],
                          ["ipcwait", "4", "1.25 M/s", "x0.625", "7 us"],
                          ["glibc", "1", "100 k/s", "x1", "-"],
                          ["glibc", "4", "1 M/s", "x10", "-"]])

    def test_tail_of_a_sample(self):
        (cell,) = cells({"contention/impl:a": {"post_p99_ns": [1.0] * 5,
                                               "wait_sampled_p99_ns": [2.0] * 5}}).values()
        self.assertEqual(data.tail(cell), "wait_sampled_p99_ns")


class Wakes(common.ReportTest):
    def lines(self, count, trim="order"):
        """Runs 0 and 4 are far slower, and were not kept."""
        name = "wake/impl:futex/idle:1ms"
        made = result({name: {"latency_p50_ns": [9e6, 10, 11, 12, 9e6]}}, trim)
        made["ipcwait"]["runs"] = [
            {"name": name, "round": i, "used": True, "histograms": {"latency": {"buckets": [
                [10 + i, 11 + i, count] if 0 < i < 4 else [9000000, 9000001, count]]}}}
            for i in range(5)]
        return fig_wake.collect(made)["pivot"]["lines"]

    def test_kept_runs_only(self):
        ((_, _, number, *latencies),) = self.lines(1000)
        self.assertEqual(number, "3000")
        self.assertEqual(latencies, ["13 ns", "14 ns", "14 ns", "14 ns", "14 ns"])

    def test_few_wakes_have_no_tail(self):
        ((_, _, _, *latencies),) = self.lines(10)
        self.assertEqual(latencies, ["13 ns", "14 ns", "-", "-", "14 ns"])


if __name__ == "__main__":
    common.main()
