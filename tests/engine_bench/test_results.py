# SPDX-License-Identifier: MIT
"""Runs that are too small to mean anything: are the reports complete and right?"""

import os
import statistics
import unittest

import common

TWO_CPUS = len(os.sched_getaffinity(0)) >= 2


def one_cpu():
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def values(row, point, variant, key):
    """Of the rounds that are kept."""
    (line,) = [x for x in row["lines"] if (x["point"], x["variant"]) == (point, variant)]
    return [r[key] for r in line["rounds"] if r["kept"]]


@unittest.skipIf(not TWO_CPUS, "needs two CPUs")
class Results(common.BenchTest):
    def row(self, *args, **how):
        results, table = self.measure(*args, **how)
        (row,) = results["rows"]
        return row, table

    def check_row(self, row):
        if row["not_available"]:
            self.assertEqual((row["lines"], row["bars"]), ([], []))
            return
        self.assertTrue(row["lines"])
        if row["row"] != "short":  # where B is small it has nothing to judge
            self.assertTrue(row["bars"])
        for bar in row["bars"]:
            reached = bar["value"] is not None and (
                bar["value"] <= bar["limit"] if bar["relation"] == "<=" else
                bar["value"] >= bar["limit"])
            if bar["value"] != bar["limit"]:  # it was rounded for the file
                self.assertEqual(bar["reached"], reached, bar)

    def test_all_rows(self):
        results, table = self.measure("--all", *common.SMALL)
        self.assertEqual([row["row"] for row in results["rows"]], common.ROWS)
        for row in results["rows"]:
            with self.subTest(row=row["row"]):
                self.check_row(row)
                self.assertIn("\n%s: " % row["row"], table)
        bars = [bar for row in results["rows"] for bar in row["bars"]]
        reached = sum(bar["reached"] for bar in bars)
        self.assertTrue(table.endswith("\n%d of %d bars reached.\n" % (reached, len(bars))))
        self.assertEqual(table.count("NOT reached"), len(bars) - reached)
        self.assertLessEqual(max(map(len, table.splitlines())), 120)
        self.assertGreater(results["machine"]["clock_reading_ns"], 0)
        self.assertEqual(results["settings"], ["IPCWAIT_CALIBRATION=none"])

    def test_sweep_covers_the_range_and_judges_each_point_twice(self):
        row, _ = self.row("sweep", *common.SMALL)
        points = list(dict.fromkeys(line["point"] for line in row["lines"]))
        self.assertGreaterEqual(len(points), 12)
        self.assertEqual((points[0], points[-1]), ("0.5 us", "10 ms"))
        self.assertEqual(len(row["lines"]), 7 * len(points))
        self.assertEqual([b["text"].split(":")[0] for b in row["bars"]],
                         [p for p in points for _ in range(2)])
        self.assertIn("of spin only", row["bars"][0]["text"])
        self.assertIn("of block only", row["bars"][-1]["text"])

    def test_sweep_figures_follow_from_the_rounds(self):
        row, _ = self.row("sweep", "--scale", "1", "--repeat", "3")
        (own,) = values(row, "0.5 us", "ADAPTIVE", "added_latency_us_median")
        (spin,) = values(row, "0.5 us", "spin only", "added_latency_us_median")
        self.assertAlmostEqual(row["bars"][0]["value"], own / (1.15 * spin + 0.3), places=9)
        (own,) = values(row, "10 ms", "ADAPTIVE", "waiter_cpu_us")
        (block,) = values(row, "10 ms", "block only", "waiter_cpu_us")
        self.assertAlmostEqual(row["bars"][-1]["value"],
                               own / max(1.25 * block, block + 2), places=9)

    def test_who_never_spins_uses_less_than_the_wait(self):
        # A thread that spins and is kept from running uses no CPU time either.
        for _ in range(20):
            row, _ = self.row("sweep", *common.SMALL)
            (block,) = values(row, "10 ms", "block only", "waiter_cpu_us")
            (spin,) = values(row, "10 ms", "spin only", "waiter_cpu_us")
            if block * 3 < spin:
                break
        self.assertLess(block * 3, spin)

    def test_first_and_last_are_dropped_from_three_on(self):
        kept = {1: [True], 2: [True, True], 3: [False, True, False],
                5: [False, True, True, True, False]}
        for repeat, expected in kept.items():
            row, _ = self.row("one-cpu", "--scale", "1", "--repeat", str(repeat))
            for line in row["lines"]:
                self.assertEqual([r["kept"] for r in line["rounds"]], expected)
                seconds = [r["seconds"] for r in line["rounds"] if r["kept"]]
                self.assertAlmostEqual(line["medians"]["seconds"],
                                       statistics.median(seconds), places=9)
            ratios = [a / b for a, b in
                      zip(values(row, "one CPU", "ADAPTIVE", "seconds"),
                          values(row, "one CPU", "block only", "seconds"))]
            self.assertAlmostEqual(row["bars"][0]["value"], statistics.median(ratios),
                                   places=9)

    def test_a_pair_on_one_cpu_may_use_no_other(self):
        p = self.start_it("one-cpu", "--scale", "1000", "--no-progress")

        def cpus():
            found = []
            for child in common.children(p.pid):
                try:
                    found.append(len(os.sched_getaffinity(child)))
                except ProcessLookupError:
                    pass  # a run has ended
            return found
        self.wait_until("a run on one CPU", lambda: 1 in cpus() or p.poll() is not None)
        self.assertIsNone(p.poll())

    def test_a_quota_slows_down(self):
        results, _ = self.measure("hog", "quota", "--scale", "60", "--repeat", "1")
        quota = results["rows"][1]
        if quota["not_available"]:
            self.skipTest(quota["not_available"])
        for line in quota["lines"]:
            self.assertLess(line["medians"]["cpu_seconds"],
                            line["medians"]["seconds"] * 0.5 + 0.15)

    def test_ticks_by_a_timer(self):
        row, table = self.row("ticks", "--tick", "timer", *common.SMALL)
        self.assertIn("1 ms, timer", table)
        self.assertEqual([line["variant"] for line in row["lines"]],
                         ["spin only", "block only", "LATENCY", "ADAPTIVE"])

    def test_drift_has_curves(self):
        # On a busy machine a point takes longer.
        for scale in (10, 20, 40, 80, 160):
            row, _ = self.row("drift", "--scale", str(scale), "--repeat", "1")
            if row["not_available"]:
                self.skipTest(row["not_available"])
            if min(len(c["seconds"]) for c in row["curves"]) >= 4:
                break
        self.assertEqual([c["name"].split(",")[0] for c in row["curves"]],
                         ["B", "truth"] * 2)
        for curve in row["curves"]:
            self.assertEqual(len(curve["seconds"]), len(curve["values"]))
            self.assertGreaterEqual(len(curve["seconds"]), 4)
            self.assertTrue(all(v > 0 for v in curve["values"]))

    def test_budget_is_one_round_and_blocking_wastes_nothing(self):
        # On a busy machine the two ends may not meet in a short run, and then nobody waits.
        for scale in (1, 4, 16, 64):
            row, _ = self.row("budget", "--scale", str(scale), "--repeat", "5")
            if all(line["medians"]["waits"] > 0 for line in row["lines"]):
                break
        for line in row["lines"]:
            self.assertEqual(len(line["rounds"]), 1)
            self.assertGreater(line["medians"]["waits"], 0)
            if line["variant"] == "BLOCK":
                self.assertEqual(line["medians"]["spun_wasted_ms"], 0)

    def test_steady_rows_have_their_reference_twice(self):
        for name, first, bars in (("sleep", "block only", 24), ("short", "spin only", None)):
            row, _ = self.row(name, *common.SMALL)
            points = list(dict.fromkeys(line["point"] for line in row["lines"]))
            variants = list(dict.fromkeys(line["variant"] for line in row["lines"]))
            self.assertEqual((variants[0], variants[-1]), (first, "the same"))
            self.assertEqual(len(row["lines"]), len(points) * len(variants))
            for point in points:
                (own,) = values(row, point, first, "cpu_of_the_references")
                self.assertEqual(own, 1)
                (share,) = values(row, point, "the same", "cpu_of_the_references")
                self.assertGreater(share, 0)
            if bars:
                self.assertEqual(len(row["bars"]), bars)

    def test_cold_compares_with_the_better(self):
        row, _ = self.row("cold", *common.SMALL)
        points = list(dict.fromkeys(line["point"] for line in row["lines"]))
        self.assertEqual(len(points), 22)
        self.assertEqual([b["text"].split(":")[0] for b in row["bars"]], points)
        for point, bar in zip(points[:-1], row["bars"]):
            cost = {v: values(row, point, v, "latency_and_cpu_us")[0]
                    for v in ("spin only", "block only", "ADAPTIVE")}
            if None in cost.values():  # all hand-offs went astray
                self.assertIsNone(bar["value"])
                continue
            better = min(cost["spin only"], cost["block only"])
            self.assertAlmostEqual(bar["value"],
                                   cost["ADAPTIVE"] / max(1.15 * better, better + 1), places=9)
        (in_vain,) = values(row, points[-1], "ADAPTIVE", "spun_in_vain_us_per_object")
        (block,) = values(row, points[-1], "ADAPTIVE", "block_cost_us")
        self.assertAlmostEqual(row["bars"][-1]["value"], in_vain / block, places=9)

    def test_pairs_at_once_are_judged_cell_by_cell_and_together(self):
        row, _ = self.row("pairs-at-once", "--scale", "5", "--repeat", "1")
        points = list(dict.fromkeys(line["point"] for line in row["lines"]))
        self.assertEqual((len(points), len(row["bars"])), (24, 25))
        product = 1
        for point, bar in zip(points, row["bars"]):
            rate = {v: values(row, point, v, "hand_offs_per_second")[0]
                    for v in ("glibc", "spin 50 us", "ADAPTIVE")}
            if not min(rate.values()):
                self.skipTest("a pair had no CPU for %s" % point)
            own = rate["ADAPTIVE"] / max(rate["glibc"], rate["spin 50 us"])
            self.assertAlmostEqual(bar["value"] / own, 1, places=9)
            product *= own
        self.assertAlmostEqual(row["bars"][-1]["value"] / product ** (1 / 24), 1, places=9)
        self.assertEqual({b["relation"] for b in row["bars"]}, {">="})

    def test_start_is_held_against_glibc(self):
        row, _ = self.row("start", *common.SMALL)
        points = list(dict.fromkeys(line["point"] for line in row["lines"]))
        alone = [point for point in points if ", alone, " in point]
        worst = [b for b in row["bars"] if "worst" in b["text"]]
        medians = [b for b in row["bars"] if b not in worst]
        self.assertEqual((len(points), len(alone)), (24, 6))
        self.assertEqual((len(medians), len(worst)), (24, 6))
        for point, bar in [*zip(points, medians), *zip(alone, worst)]:
            (own,), (glibc,) = (values(row, point, v, "seconds") for v in ("moves", "glibc"))
            self.assertEqual(bar["text"].split(":")[0], point)
            self.assertAlmostEqual(bar["value"] / (own / glibc), 1, places=9)

    def test_together_is_held_against_the_better(self):
        row, _ = self.row("together", *common.SMALL)
        points = list(dict.fromkeys(line["point"] for line in row["lines"]))
        self.assertEqual((len(points), len(row["bars"])), (18, 36))
        for point, time, cpu in zip(points, row["bars"][::2], row["bars"][1::2]):
            us, cpu_us = ({v: values(row, point, v, key)[0]
                           for v in ("moves", "glibc", "glibc together")}
                          for key in ("us_a_turn", "cpu_us_a_turn"))
            better = min("glibc", "glibc together", key=us.get)
            self.assertAlmostEqual(time["value"] / (us["moves"] / us[better]), 1, places=9)
            self.assertAlmostEqual(cpu["value"] / (cpu_us["moves"] / cpu_us[better]), 1, places=9)

    def test_again_holds_the_second_short_phase_against_the_first(self):
        row, _ = self.row("again", *common.SMALL)
        points = list(dict.fromkeys(line["point"] for line in row["lines"]))
        self.assertEqual((len(points), len(row["bars"])), (24, 48))
        for point, median, worst in zip(points, row["bars"][::2], row["bars"][1::2]):
            for variant in ("glibc", "ADAPTIVE", "moves"):
                (short,), (again,), (quotient,) = (
                    values(row, point, variant, key)
                    for key in ("short_us_a_turn", "again_us_a_turn", "again_of_short"))
                self.assertAlmostEqual(quotient / (again / short), 1, places=9)
            # The variants end with moves, which is judged.
            self.assertEqual((median["value"], worst["value"]), (quotient, quotient))

    def test_beside_is_held_against_glibc(self):
        row, _ = self.row("beside", "--scale", "20", "--repeat", "1")
        points = list(dict.fromkeys(line["point"] for line in row["lines"]))
        self.assertEqual((len(points), len(row["bars"])), (12, 24))
        for point, rate, cpu in zip(points, row["bars"][::2], row["bars"][1::2]):
            self.assertEqual((rate["relation"], cpu["relation"]), (">=", "<="))
            for key, bar in (("hand_offs_per_second", rate), ("cpu_us_per_hand_off", cpu)):
                (own,), (glibc,) = (values(row, point, v, key) for v in ("ADAPTIVE", "glibc"))
                if not own or not glibc:
                    self.skipTest("a pair had no CPU for %s" % point)
                self.assertAlmostEqual(bar["value"] / (own / glibc), 1, places=9)

    def test_both_worlds(self):
        results, table = self.measure("drift", "short", *common.SMALL, "--wakes", "both")
        self.assertEqual([(r["row"], r["wakes"]) for r in results["rows"]],
                         [("drift", "as found"), ("drift", "cheap"),
                          ("short", "as found"), ("short", "cheap")])
        found, cheap = results["rows"][2:]
        self.assertEqual(found["not_available"], "")
        self.assertIn("\nshort: ", table)
        self.assertIn("\nshort, wakes cheap: ", table)
        self.assertTrue(results["rows"][1]["not_available"])
        if cheap["not_available"]:
            self.assertIn("/dev/cpu_dma_latency", cheap["not_available"])
        else:
            self.check_row(cheap)

    def test_settings_are_the_callers(self):
        results, table = self.measure("one-cpu", *common.SMALL, IPCWAIT_POLICY="block",
                                      IPCWAIT_CALIBRATION="none")
        self.assertEqual(sorted(results["settings"]),
                         ["IPCWAIT_CALIBRATION=none", "IPCWAIT_POLICY=block"])
        self.assertIn("IPCWAIT_POLICY=block", table)

    def test_exit_status_tells_whether_bars_were_reached(self):
        r = self.run_it("sweep", "one-cpu", *common.SMALL, "--check")
        self.assertEqual(r.returncode, 3 if "NOT reached" in r.stdout else 0)

    def test_an_old_json_file_is_replaced(self):
        with open(self.path("out.json"), "w", encoding="ascii") as f:
            f.write("old" * 100000)
        results, _ = self.measure("one-cpu", *common.SMALL)
        self.assertEqual(results["program"], "wait_bench")


class OneCpu(common.BenchTest):
    def test_rows_that_need_two_cpus_say_so(self):
        results, table = self.measure("--all", *common.SMALL, preexec_fn=one_cpu)
        for row in results["rows"]:
            if row["row"] == "one-cpu":
                self.assertEqual(row["not_available"], "")
            else:
                self.assertTrue(row["not_available"])
                self.assertIn("%s: not available: " % row["row"], table)


if __name__ == "__main__":
    common.main()
