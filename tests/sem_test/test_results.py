# SPDX-License-Identifier: MIT
"""Runs that are too small to mean anything: are the reports complete and right?"""

import json
import statistics

import common

ROWS = ["glibc", "ipcwait", "spin", "block", "haltpoll", "ticks", "hog"]
COUNTED = ["ipcwait", "spin", "block", "haltpoll", "ticks"]


class Results(common.SemTest):
    def measure(self, *args):
        """Run with --json; the object, the table."""
        r = self.run_it(*args, "--no-progress", "--json", "out.json")
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        self.assertEqual(self.files(), ["out.json"])
        with open(self.path("out.json"), encoding="ascii") as f:
            return json.load(f), r.stdout

    def names(self, results):
        return [(row["row"], row["form"]) for row in results["rows"]]

    def test_all_rows_in_both_forms(self):
        results, table = self.measure("2k", "200", "--repeat", "1", "--both")
        self.assertEqual(self.names(results),
                         [(row, form) for form in ("threads", "processes") for row in ROWS])
        self.assertEqual((results["items"], results["loops"]), (2000, 200))
        self.assertEqual(results["command"][1:3], ["2k", "200"])
        self.assertIn("start       " + results["start"], table)
        for row in results["rows"]:
            with self.subTest(row=row["row"], form=row["form"]):
                self.check_row(row)
        self.assertLessEqual(max(map(len, table.splitlines())), 110)

    def test_hogs_compute(self):
        """In one run or another: a short one may be over before they have had a CPU."""
        for _ in range(50):
            results, _ = self.measure("2k", "200", "--rows", "hog", "--repeat", "3")
            (row,) = results["rows"]
            if any(run["hog_cpu_seconds"] > 0 for run in row["runs"]):
                return
        self.fail("hogs that never compute")

    def check_row(self, row):
        (run,) = row["runs"]
        self.assertTrue(run["kept"])
        for name in ("seconds", "cpu_seconds", "bound_seconds"):
            self.assertGreater(run[name], 0, name)
        if row["row"] != "hog":
            self.assertEqual(run["hog_cpu_seconds"], 0)
        for name in ("futex_waits", "futex_wakes"):
            self.assertEqual(run[name] is not None, row["row"] in COUNTED, name)
        for name in ("rescheduling_interrupts", "function_call_interrupts"):
            self.assertTrue(run[name] is None or run[name] >= 0, name)
        self.assertAlmostEqual(row["medians"]["items_per_second"] * run["seconds"], 2000,
                               delta=0.01)
        if row["row"] == "glibc":
            self.assertEqual(row["medians"]["roi"], 1)

    def test_block_never_spins(self):
        for form in ([], ["--processes"]):
            results, _ = self.measure("2k", "200", "--repeat", "1", "--rows", "block", *form)
            (run,) = results["rows"][0]["runs"]
            self.assertEqual(run["waits_spun"], 0)

    def test_rows_and_forms(self):
        results, table = self.measure("1k", "10", "--repeat", "1", "--rows", "spin,ipcwait")
        self.assertEqual(self.names(results), [("ipcwait", "threads"), ("spin", "threads")])
        self.assertNotIn("glibc ", table)
        self.assertEqual(results["bars"], [])
        results, _ = self.measure("1k", "10", "--repeat", "1", "--rows", "glibc",
                                  "--processes")
        self.assertEqual(self.names(results), [("glibc", "processes")])
        self.assertEqual(results["summary"], "")

    def test_first_and_last_are_dropped_from_three_on(self):
        kept = {1: [True], 2: [True, True], 3: [False, True, False],
                5: [False, True, True, True, False]}
        for repeat, expected in kept.items():
            results, _ = self.measure("1k", "10", "--rows", "glibc,ipcwait", "--repeat",
                                      str(repeat))
            for row in results["rows"]:
                self.assertEqual([run["kept"] for run in row["runs"]], expected)
                seconds = [run["seconds"] for run in row["runs"] if run["kept"]]
                self.assertAlmostEqual(row["medians"]["seconds"], statistics.median(seconds),
                                       places=9)

    def test_ratios_are_formed_within_a_round(self):
        results, _ = self.measure("1k", "10", "--rows", "glibc,ipcwait", "--repeat", "5")
        glibc, ipcwait = results["rows"]
        ratios = [g["seconds"] / i["seconds"]
                  for g, i in zip(glibc["runs"], ipcwait["runs"]) if g["kept"]]
        self.assertAlmostEqual(ipcwait["medians"]["times_faster_than_glibc"],
                               statistics.median(ratios), places=6)

    def test_environment(self):
        results, table = self.measure("1k", "10", "--rows", "ipcwait", "--repeat", "1")
        for name in ("hypervisor", "kernel", "idle_driver", "idle_governor",
                     "guest_halt_poll_ns", "clock_source"):
            self.assertTrue(results["environment"][name])
        self.assertGreaterEqual(results["environment"]["cpus_usable"], 1)
        self.assertGreater(results["baseline"]["ns_per_loop"], 0)
        for word in ("hypervisor", "governor", "ns per loop", "cache line"):
            self.assertIn(word, table)

    def test_idle(self):
        results, table = self.measure("5", "--idle-us", "1000", "--repeat", "1", "--both")
        self.assertEqual(self.names(results),
                         [(row, form) for form in ("threads", "processes")
                          for row in ("glibc", "ipcwait")])
        self.assertEqual(len(results["bars"]), 2)
        self.assertGreaterEqual(results["rows"][0]["runs"][0]["seconds"], 0.005)
        self.assertIn("CPU us/item", table)
        for row in results["rows"]:
            run, medians = row["runs"][0], row["medians"]
            self.assertGreater(run["consumer_cpu_seconds"], 0)
            self.assertLess(run["consumer_cpu_seconds"], run["cpu_seconds"])
            self.assertAlmostEqual(medians["consumer_cpu_us_per_item"],
                                   run["consumer_cpu_seconds"] * 1e6 / 5, places=6)

    def test_uncontended(self):
        results, table = self.measure("100k", "--uncontended", "--repeat", "1")
        self.assertEqual([row["row"] for row in results["rows"]],
                         ["glibc", "ipcwait", "block"])
        self.assertEqual(results["rows"][1]["runs"][0]["futex_wakes"], 0)
        self.assertIn("ns per pair", table)

    def test_one_cpu(self):
        results, table = self.measure("500", "100", "--one-cpu", "--repeat", "1", "--both")
        self.assertEqual(results["environment"]["cpus_usable"], 1)
        self.assertIsNone(results["baseline"]["cache_line_round_trip_ns"])
        self.assertEqual(len(results["rows"]), 2 * len(ROWS))
        self.assertEqual(len(results["bars"]), 2)
        self.assertIn("not available", table)
        self.assertEqual(results["meeting_ms_most"], 0)

    def test_objects_are_counted_by_name(self):
        args = ("20k", "100", "--repeat", "1", "--rows", "glibc,ipcwait,block")
        results, table = self.measure(*args, "--objects")
        glibc, ipcwait, block = (row["runs"][0] for row in results["rows"])
        self.assertNotIn("objects", glibc)
        for run in ipcwait, block:
            self.assertEqual([o["name"] for o in run["objects"]], ["full", "empty"])
            self.assertEqual(sum(o["slept"] for o in run["objects"]), run["waits_slept"])
            for o in run["objects"]:
                self.assertLessEqual(o["slept"] + o["gave_up"], o["waits"])
        self.assertEqual(sum(o["spun_useful_ns"] + o["spun_wasted_ns"]
                             for o in block["objects"]), 0)
        self.assertIn("in vain us", table)
        results, table = self.measure(*args)
        self.assertNotIn("objects", results["rows"][1]["runs"][0])
        self.assertNotIn("in vain us", table)

    def test_exit_status_tells_whether_bars_were_reached(self):
        args = ["10", "1", "--rows", "glibc,ipcwait", "--repeat", "1"]
        results, table = self.measure(*args)
        self.assertEqual(len(results["bars"]), table.count("reached"))
        self.assertNotIn("DISTURBED", table)  # too short to tell
        r = self.run_it(*args, "--check")
        self.assertEqual(r.returncode, 3 if "NOT reached" in r.stdout else 0)

    def test_a_control_character_in_an_argument_stays_on_its_line(self):
        r = self.run_it("10", "10", "--rows", "ipcwait", "--repeat", "1", "--json", "a\nb")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertTrue(r.stdout.splitlines()[0].endswith(" --json a?b"), r.stdout)
        self.assertEqual(self.files(), ["a\nb"])

    def test_an_old_json_file_is_replaced(self):
        with open(self.path("out.json"), "w", encoding="ascii") as f:
            f.write("old" * 100000)
        results, _ = self.measure("10", "10", "--rows", "ipcwait", "--repeat", "1")
        self.assertEqual(results["program"], "sem_test")


if __name__ == "__main__":
    common.main()
