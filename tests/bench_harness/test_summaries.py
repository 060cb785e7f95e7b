# SPDX-License-Identifier: MIT
"""Summaries of results: what they keep, how small they are, and who can read them."""

import json
import subprocess
import sys

import common
from common import BENCH, made

import summaries
from harness.errors import Ending
from summaries import layout

ROOT = BENCH.parent
RUN = {"why": None, "noisy": False, "time_s": 2e-6, "cpu_s": 3e-6}


def rounds_result(program, key):
    """Of bench/preload or bench/descriptors: a program, or a cell, in three rounds."""
    rounds = [{"none": RUN, "ours": {**RUN, "time_s": s, "noisy": s == 4e-6}}
              for s in (1e-6, 4e-6, 1.6e-6)]
    row = {"arm": "ours", "figure": "speed", "against": "none", "values": [2.0, 0.5, 1.25],
           "median": 1.25, "low": None, "high": None, "limit": 0.98, "sign": ">=", "verdict": "d"}
    entry = {"name": program, "rounds": rounds, "rows": [row, {**row, "arm": "none"}]}
    return {"finished": "2026-11-26T12:00:00Z", "environment": {"machine": {"cpus_usable": 2}},
            "method": {"rounds": 3}, "verdict": {"why": None}, key: [entry]}


def wake_result():
    """A result with histograms: 100 wakes of 1 us, one of 50 us, in each of five rounds."""
    name = "wake/impl:glibc/idle:1ms"
    result = made(3)
    rows = [{"latency_p50_ns": 1000.0, "real_time": 1e6}] * 5
    own = result["ipcwait"]
    own["summary"] += common.summary.of_rows([name], {name: rows}, "order")
    own["runs"] = [{"name": name, "round": r, "used": True, "histograms":
                    {"latency": {"buckets": [[992, 1000, 100], [49000, 50000, 1]]}}}
                   for r in range(5)]
    return result, name


class Layout(common.HarnessTest):
    def test_numbers(self):
        for value, text in ((1234.56, "1235"), (0.000123456, "0.0001235"), (2.0, "2"),
                            (True, "true"), (float("inf"), "null"), (None, "null"),
                            (12345678, "12350000")):
            self.assertEqual(json.dumps(layout.short(value)), text)

    def test_text_is_what_was_given(self):
        tree = {"a": list(range(100)), "b": {"c": [[1, "x" * 90], None], "d": {}}, "e": "é",
                "f": {str(i): i for i in range(50)}}
        text = layout.text(tree)
        self.assertEqual(json.loads(text), tree)
        self.assertLess(max(map(len, text.splitlines())), 2 * layout.LINE)
        self.assertLess(text.count("\n"), 25)


class OfBench(common.HarnessTest):
    def write_summary(self, result, name="r.json"):
        return str(summaries.write(self.write(name, result)))

    def test_beside_the_result(self):
        result, r = self.measure("--runs", "2")
        path = self.path("out.summary.json")
        self.assertIn("summary: out.summary.json (", r.stdout)
        found = self.load("out.summary.json")
        self.assertEqual(found["summary_of"], "scripts/bench")
        listed = {f"{q}/{rest}" for q, suite in found["suites"].items() for rest in suite["rows"]}
        self.assertEqual(listed, {e["name"] for e in result["ipcwait"]["summary"]})
        self.assertEqual(self.run_here("--from", path).returncode, 0)

    def test_without_folders_of_the_machine(self):
        result = made(1)
        result["ipcwait"]["command"] = ["bench/harness", "--json", "/tmp/raw.json"]
        self.write_summary(result)
        self.assertEqual(self.load("r.summary.json")["command"],
                         ["bench/harness", "--json", "raw.json"])

    def test_medians_and_intervals(self):
        result = made(1)
        there = summaries.opened(self.write_summary(result))["ipcwait"]
        entries = {(e["name"], e["metric"]): e for e in there["summary"]}
        self.assertEqual(len(entries), len(result["ipcwait"]["summary"]))
        for raw in result["ipcwait"]["summary"]:
            entry = entries[raw["name"], raw["metric"]]
            for key, digits in (("median", 4), ("low", 3), ("high", 3)):
                self.assertEqual(entry[key], layout.short(raw[key], digits))
            self.assertEqual((entry["values"], entry["kept"], entry["unit"]), ([], [], "ns"))

    def test_quotients_are_those_within_the_rounds(self):
        """The medians are alike, and the quotient is 2 in each round."""
        result = made(1, cells=1)
        entries = {e["name"].split("/")[1]: e for e in result["ipcwait"]["summary"]
                   if e["metric"] == "real_time"}
        for impl, values in (("ipcwait", [50, 50, 100, 200, 200]),
                             ("glibc", [100, 100, 200, 400, 400])):
            entries[f"impl:{impl}"].update(values=values, kept=values[1:-1], median=100)
        found = summaries.of(result)["suites"]["handoff"]
        self.assertEqual(found["columns"][-1], "times")
        self.assertEqual(found["rows"]["impl:glibc/wait:0us"][-1], 2)
        self.assertIsNone(found["rows"]["impl:ipcwait/wait:0us"][-1])

    def test_the_same_answer(self):
        from report import headline     # pylint: disable=import-outside-toplevel
        result = made(1, slow={"glibc": 3})
        for e in result["ipcwait"]["summary"]:
            e["metric"] = {"real_time": "latency_mean_ns"}.get(e["metric"], e["metric"])
        before = headline.collect(result)
        after = headline.collect(summaries.opened(self.write_summary(result)))
        self.assertEqual((after["answer"], after["more"]), (before["answer"], before["more"]))
        self.assertIn("faster than glibc", after["answer"])

    def test_no_marks_and_no_claims_without_runs(self):
        text = self.run_here("--from", self.write_summary(made(1))).stdout
        self.assertIn("there are no marks", text)
        self.assertNotIn("*", text)

    def test_quantiles_of_wakes(self):
        from report import fig_wake     # pylint: disable=import-outside-toplevel
        result, name = wake_result()
        path = self.write_summary(result)
        total, *ends = self.load("r.summary.json")["quantiles"][name]
        self.assertEqual((total, ends[0], ends[-1]), (303, 1000, 50000))
        curve = fig_wake.collect(summaries.opened(path))["columns"][0][1]["1ms"]
        self.assertEqual(fig_wake.at_share(curve, 0.5), 1000)
        self.assertEqual(fig_wake.at_share(curve, 1.0), 50000)

    def test_who_needs_runs_refuses_it(self):
        whole, short = self.write("a.json", made(1)), self.write_summary(made(2), "b.json")
        for args in (("--compare", whole, short), ("--resume", short),
                     ("--import", whole, short, "--out", "joined.json")):
            self.check_refused(self.run_here(*args), "has no runs")

    def test_damage(self):
        whole = json.loads((self.dir / self.write_summary(made(1))).read_text("utf-8"))
        for key, value in (("suites", 3), ("format", 99), ("summary_of", "sem_test"),
                           ("suites", {"q": {"columns": ["real_time"], "rows": {"x": []}}}),
                           ("suites", {"q": {"columns": ["real_time"], "rows": {"x": ["a", 1]}}}),
                           ("quantiles", {"x": []}), ("seed", [1]), ("errors", None)):
            with self.subTest(key=key, value=value):
                path = self.write("bad.json", {**whole, key: value})
                self.check_refused(self.run_here("--from", path), "bad.json")

    def test_scoreboard(self):
        row = {"id": "I-1", "title": "t", "seed": {}, "ours": {"ipcwait": 1.23456, "x": None},
               "peers": None, "unit": "", "claim": None, "same_direction": None,
               "state": "measured", "why": None, "refers": [], "raw": {"runs": [1]}, "columns": ["a", "peak kB"],
               "lines": [["b", 7]], "noise": {}}
        result = made(1)
        result["ipcwait"]["seed"] = [row]
        found = summaries.of(result)["seed"]
        self.assertEqual(found, [{"id": "I-1", "title": "t", "ours": {"ipcwait": 1.23},
                                  "columns": ["a"], "lines": [["b"]]}])
        text = self.run_here("--from", self.write_summary(result)).stdout
        self.assertIn("ours: ipcwait 1.23", text)


class OfOthers(common.HarnessTest):
    def test_rounds(self):
        found = summaries.of(rounds_result("pipe", "cells"))
        self.assertEqual(found["summary_of"], "bench/descriptors")
        entry = found["cells"][0]
        self.assertEqual(entry["time_s"], {"none": [2e-6] * 3, "ours": [1.6e-6, 1e-6, 4e-6]})
        self.assertEqual(dict(zip(found["columns"], entry["rows"][0]))["median"], 1.25)
        self.assertNotIn("pairs", entry)

    def test_pool_of_summaries(self):
        """--pool says the same of summaries as of the raw results."""
        from preload import pooling     # pylint: disable=import-outside-toplevel
        raw = rounds_result("xz", "programs")
        short = summaries.of(raw)
        self.assertEqual(short["programs"][0]["pairs"]["disturbed"], 1)
        for figure in pooling.FIGURES:
            self.assertEqual(pooling.ratios([("b", short)], figure),
                             pooling.ratios([("a", raw)], figure))

    def test_programs_in_c(self):
        run = {"kept": True, "seconds": 1.0, "cpu_seconds": 2.0}
        sem = {"program": "sem_test", "format": 1, "items": 5, "rows": [
            {"row": "glibc", "medians": {"seconds": 1.5}, "runs": [run, {**run, "seconds": 2.0}]}]}
        self.assertEqual(summaries.of(sem)["rows"], [
            {"row": "glibc", "medians": {"seconds": 1.5},
             "ranges": {"seconds": [1, 2], "cpu_seconds": [2, 2]}}])
        bar = {"text": "1 ms: latency", "value": 1.00149, "relation": "<=", "limit": 1,
               "reached": False}
        line = {"point": "1 ms", "variant": "glibc", "medians": {"x": 1.23456}, "rounds": [1]}
        wait = {"program": "wait_bench", "rows": [{"row": "sweep", "lines": [line], "bars": [bar],
                                                   "curves": []}]}
        self.assertEqual(summaries.of(wait)["rows"], [
            {"row": "sweep", "columns": ["point", "variant", "x"],
             "lines": [["1 ms", "glibc", 1.23]], "bars": {"latency <= 1": {"1 ms": 1.001}}}])

    def test_pools_and_queues(self):
        pool = {"rows": [{"form": "own", "ns": {"pool": [1, 3, 2]}, "times": {}}]}
        self.assertEqual(summaries.of(pool)["rows"][0]["ns"], {"pool": [2, 1, 3]})
        runs = {"a": [{"wall_ns": 4}, {"wall_ns": 6}]}
        queue = summaries.of({"rows": [{"check": "1p1c", "runs": runs, "bars": []}]})
        self.assertEqual(queue["rows"][0]["figures"], {"a": {"wall_ns": [5, 4, 6]}})

    def command(self, *words):
        return subprocess.run([sys.executable, BENCH / "summaries", *words], cwd=self.dir,
                              text=True, capture_output=True, timeout=common.SECONDS_MOST,
                              check=False)

    def test_command(self):
        (self.dir / "kept").mkdir()
        self.write("raw.json", made(1))
        r = self.command("raw.json", "--out", "kept")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertRegex(r.stdout, r"^summary: kept/raw\.json \(\d+ KiB\)\n$")
        for name, value in (("other.json", {"x": 1}), ("broken.json", "{"),
                            ("sum.json", self.load("kept/raw.json")),
                            ("cells.json", {"cells": [3]})):
            self.write(name, value)
            r = self.command(name)
            self.assertEqual((r.returncode, r.stdout, r.stderr.count("\n")), (2, "", 1), r.stderr)
            self.assertIn(name, r.stderr)

    def test_too_large_is_said(self):
        path = self.write("s.json", "x" * (summaries.BYTES_MOST + 1))
        self.assertIn("more than the 30 KiB", summaries.described(path))

    def test_committed_ones_are_read(self):
        """Each of them is a summary, and those of scripts/bench can be shown."""
        committed = sorted((ROOT / "bench/results").glob("*.json"))
        self.assertGreater(len(committed), 10)
        for path in committed:
            with self.subTest(path.name):
                found = json.loads(path.read_text("utf-8"))
                if "policy_sim-windows" in path.name:
                    continue
                self.assertTrue(summaries.is_summary(found))
                if found["summary_of"] == "scripts/bench":
                    r = self.run_here("--from", str(path))
                    self.assertEqual((r.returncode, r.stderr), (0, ""))
                    self.assertNotIn("cannot be shown", r.stdout)
                else:
                    self.assertRaises(Ending, summaries.opened, path)


if __name__ == "__main__":
    common.main()
