# SPDX-License-Identifier: MIT
"""The reports: the same for the same seed, complete, and never half a file."""

import json
import math
import os
import shutil
import xml.dom.minidom

import common

OWN = ["ipcwait", "latency"]
POLICIES = OWN + ["block", "spin", "fixed-b", "fixed-054b", "random", "folly", "glibc",
                  "hotspot", "mutexee", "dotnet", "jiny", "haltpoll", "kvm"]


class Figures(common.SimTest):
    def test_same_seed_same_figures(self):
        first, table = self.simulate("--waits", "3000", "--seed", "9", "--members")
        second, again = self.simulate("--waits", "3000", "--seed", "9", "--members")
        self.assertEqual((first, table), (second, again))
        other, _ = self.simulate("--waits", "3000", "--seed", "10")
        self.assertNotEqual(first["series"], other["series"])

    def test_leaving_policies_out_changes_nothing_for_the_others(self):
        whole, _ = self.simulate("--waits", "3000")
        part, _ = self.simulate("--waits", "3000", "--policy", "kvm,ipcwait")
        by_name = {p["policy"]: p for p in whole["series"][0]["policies"]}
        self.assertEqual([p["policy"] for p in part["series"][0]["policies"]],
                         ["ipcwait", "kvm"])
        for p in part["series"][0]["policies"]:
            self.assertEqual(p, by_name[p["policy"]])
        self.assertEqual(part["series"][0]["bars"][0], whole["series"][0]["bars"][0])

    def test_summary_follows_from_the_members(self):
        results, _ = self.simulate("--b-us", "7,200")
        self.assertEqual([s["b_us"] for s in results["series"]], [7, 200])
        for series in results["series"]:
            kinds = {m["name"]: m["kind"] for m in series["members"]}
            self.assertEqual(len(kinds), len(series["members"]))
            self.assertEqual([p["policy"] for p in series["policies"]], POLICIES)
            for p in series["policies"]:
                counted = [s for s in p["scores"] if kinds[s["member"]] != "adversarial"]
                stationary = [s for s in counted if kinds[s["member"]] == "stationary"]
                self.assertAlmostEqual(
                    p["suite_mean"], math.fsum(s["ratio"] for s in counted) / len(counted))
                worst = max(stationary, key=lambda s: s["ratio"])
                self.assertEqual((p["worst_stationary_member"], p["worst_stationary"]),
                                 (worst["member"], worst["ratio"]))
                self.assertEqual(p["loss_max_us"], max(s["loss_max_us"] for s in p["scores"]))
                self.assertLessEqual(p["loss_p50_us"], p["loss_p99_us"])
                self.assertLessEqual(p["loss_p99_us"], p["loss_max_us"])
                # Only a timed sleep can cost less than "the best".
                least = 0 if p["policy"] in OWN else 1
                self.assertTrue(all(s["ratio"] >= least for s in p["scores"]))

    def test_bars_are_those_of_the_own_rule_and_the_best_other(self):
        results, table = self.simulate("--waits", "5000")
        series = results["series"][0]
        own = series["policies"][0]
        best = min(series["policies"][len(OWN):], key=lambda p: p["suite_mean"])
        values = [(b["value"], b["limit"], b["decided_by"]) for b in series["bars"]]
        young = {m["name"] for m in series["members"] if m["kind"] == "young"}
        ratios = [s["ratio"] for s in own["scores"] if s["member"] in young]
        self.assertEqual(values[0][:2], (own["suite_mean"], 1.15))
        self.assertGreater(len(ratios), 10)
        self.assertAlmostEqual(values[1][0], math.fsum(ratios) / len(ratios))
        self.assertEqual(values[1][1], 1.15)
        self.assertEqual(values[2], (own["worst_stationary"], 1.6,
                                     own["worst_stationary_member"]))
        self.assertEqual(values[3][:2], (own["loss_max_b"], 2))
        self.assertEqual(values[4], (own["suite_mean"], best["suite_mean"], best["policy"]))
        self.assertEqual(table.count("reached"), 5)
        self.assertEqual(table.count("NOT reached"),
                         sum(not b["reached"] for b in series["bars"]))

    def test_table_is_readable(self):
        r = self.run_it("--waits", "100")
        for name in POLICIES + ["hindsight", "suite mean"]:
            self.assertIn(name, r.stdout)
        self.assertLessEqual(max(map(len, r.stdout.splitlines())), 125)

    def test_one_wait_each(self):
        results, _ = self.simulate("--waits", "1")
        for p in results["series"][0]["policies"]:
            self.assertTrue(all(s["ratio"] is not None for s in p["scores"]))


class Files(common.SimTest):
    def test_old_file_is_replaced(self):
        self.write("out.json", "old" * 1000000)
        results, _ = self.simulate("--waits", "10")
        self.assertEqual(results["program"], "policy_sim")
        self.assertEqual(self.files(), ["out.json"])

    def test_full_disk(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            r = self.run_it("--waits", "10", stdout=full)
        self.assertEqual((r.returncode, r.stderr.count("\n")), (1, 1))

    def test_no_gnuplot(self):
        for path in ("", self.dir, "/nonexistent:" + self.dir):
            self.check_refused(["--svg", "x.svg"], "gnuplot", "apt-get", path=path)

    def fake_gnuplot(self, text):
        os.mkdir(self.path("bin"))
        self.write("bin/gnuplot", "#!/bin/sh\n" + text)
        os.chmod(self.path("bin/gnuplot"), 0o755)
        return self.path("bin") + ":" + os.environ["PATH"]

    def test_gnuplot_fails(self):
        path = self.fake_gnuplot("echo half; exit 1\n")
        self.write("x.svg", "old")
        r = self.run_it("--waits", "10", "--svg", "x.svg", path=path)
        self.assertEqual((r.returncode, r.stderr), (1, "policy_sim: --svg: gnuplot failed\n"))
        self.assertEqual(self.files(), ["bin", "x.svg"])
        with open(self.path("x.svg"), encoding="ascii") as f:
            self.assertEqual(f.read(), "old")

    def test_gnuplot_gets_a_script(self):
        path = self.fake_gnuplot("exec cat\n")
        r = self.run_it("--waits", "10", "--b-us", "5,30", "--svg", "x.svg", path=path)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        with open(self.path("x.svg"), encoding="ascii") as f:
            script = f.read()
        self.assertEqual(script.count("plot $dots"), 2)
        for name in POLICIES:
            self.assertIn("'%s'" % name, script)

    def test_picture(self):
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        r = self.run_it("--waits", "10", "--svg", "x.svg", "--json", "x.json")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        xml.dom.minidom.parse(self.path("x.svg"))
        with open(self.path("x.json"), encoding="ascii") as f:
            json.load(f)
        self.assertEqual(self.files(), ["x.json", "x.svg"])


if __name__ == "__main__":
    common.main()
