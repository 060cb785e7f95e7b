# SPDX-License-Identifier: MIT
"""What a run writes and prints, with benchmarks that work and with some that do not."""

import re
import subprocess

import common
from common import NAMES
from harness import plan


class Running(common.HarnessTest):
    def test_a_run(self):
        result, r = self.measure("--label", "box")
        own = result["ipcwait"]
        self.assertTrue(own["complete"])
        self.assertEqual(len(result["benchmarks"]), 5 * len(NAMES))
        self.assertEqual(own["environment"]["host_label"], "box")
        self.assertNotIn("host_name", result["context"])
        self.assertEqual(result["context"]["executable"], "fake")
        self.assertEqual(sorted(row["repetition_index"] for row in result["benchmarks"]
                                if row["name"] == NAMES[0]), [0, 1, 2, 3, 4])
        for word in ("handoff", "ipcwait", "glibc", "wait:5us", "+-", "6 benchmarks, 5 runs"):
            self.assertIn(word, r.stdout)
        self.assertLessEqual(max(map(len, r.stdout.splitlines())), 100)
        self.assertNotIn("\x1b", r.stdout + r.stderr)
        self.check_summary(result)

    def check_summary(self, result):
        """Figures follow from the rows."""
        for name in NAMES:
            rows = [x for x in result["benchmarks"] if x["name"] == name]
            (entry,) = [e for e in result["ipcwait"]["summary"]
                        if (e["name"], e["metric"]) == (name, "real_time")]
            values = [x["real_time"] for x in rows]
            self.assertEqual(entry["values"], values)
            self.assertEqual(entry["kept"], values[1:4])
            self.assertEqual(entry["median"], sorted(values[1:4])[1])
            self.assertLess(entry["low"], entry["median"])
            self.assertLess(entry["median"], entry["high"])
        for run in result["ipcwait"]["runs"]:
            self.assertEqual(run["histograms"]["latency"]["buckets"], [[0, 10, 3], [10, 20, 5]])

    def test_variants_take_turns_in_being_first(self):
        self.measure("--runs", "3")
        log = self.log()
        self.assertEqual(len(log), 18)
        for round_number in range(3):
            part = log[6 * round_number:6 * round_number + 3]
            self.assertEqual(sorted(part), sorted(NAMES[:3]))
            self.assertEqual(part[0], NAMES[round_number])

    def test_rank(self):
        result, _ = self.measure("--trim", "rank", "--filter", "futex.*5us")
        for entry in result["ipcwait"]["summary"]:
            self.assertEqual(sorted(entry["values"])[1:4], sorted(entry["kept"]))

    def test_few_runs_are_all_kept(self):
        result, _ = self.measure("--runs", "1", "--filter", "futex.*5us")
        entry = result["ipcwait"]["summary"][0]
        self.assertEqual((entry["values"], entry["low"]), (entry["kept"], None))

    def test_suites_and_lists(self):
        names = [*NAMES, "wake/impl:glibc/idle:1ms/process_time/real_time"]
        fake = {"names": names}
        result, _ = self.measure("wake", "--runs", "1", fake=fake)
        self.assertEqual([r["name"] for r in result["benchmarks"]],
                         ["wake/impl:glibc/idle:1ms"])
        r = self.run_it("--program", str(common.FAKE), "--list", fake=fake)
        self.assertEqual(r.stdout.split(), [*NAMES, "wake/impl:glibc/idle:1ms"])
        r = self.run_it(*self.fake_args(), "wakes", fake=fake)
        self.check_refused(r, "there are: handoff wake all")

    def test_pairs_of_many_cpus(self):
        def names(cpus):
            return [f"pairs/kind:{kind}/from:{a}/to:{b}" for kind in ("spin", "sleep")
                    for a in cpus for b in cpus if a != b]
        for cpus, full, kept in (((0, 1), False, (0, 1)), (range(4, 8), False, range(4, 8)),
                                 (range(0, 64, 4), False, (0, 16, 32, 48)),
                                 (range(64), True, range(0, 64, 4)),
                                 (range(0, 64, 4), True, range(0, 64, 4))):
            with self.subTest(cpus=cpus, full=full):
                others = ["pairs/kind:spin/from:others/to:others", "wake/impl:futex/idle:10us"]
                self.assertEqual(plan.of_size(names(cpus) + others, full), names(kept) + others)
        r = self.run_it(*self.fake_args(), "--runs", "1", "--no-progress", "--full",
                        fake={"names": names(range(3))})
        self.assertIn("\n12 of them are pairs of 3 CPUs\n", r.stdout)
        left_out = plan.pairs_note(names((0, 16, 32, 48)), names(range(0, 64, 4)))
        self.assertEqual(left_out, ["24 of them are pairs of 4 CPUs, evenly chosen"])
        self.assertEqual(plan.pairs_note(names((0, 1)), names((0, 1))), [])

    def test_not_built_is_shown_and_no_failure(self):
        fake = {"errors": {"glibc": "not built: no glibc-dev"}}
        result, r = self.measure("--runs", "2", fake=fake)
        self.assertEqual(len([x for x in result["benchmarks"] if x.get("error_occurred")]), 2)
        self.assertIn("not built: no glibc-dev", r.stdout)
        self.assertRegex(r.stdout, r"wait:5us.*not built")
        self.assertEqual(r.stderr, "")

    def test_a_failure_is_told_and_the_others_go_on(self):
        for kind, word in (("crash", "Segmentation"), ("garbage", "wrote no results"),
                           ("silent", "wrote no results")):
            with self.subTest(kind=kind):
                result, r = self.measure("--runs", "1", status=1, fake={kind: "impl:glibc/wait:5"})
                self.assertRegex(r.stderr, r"^scripts/bench: handoff/impl:glibc/wait:5us: .*\n$")
                self.assertIn(word, r.stderr)
                self.assertIn("FAILED", r.stdout)
                self.assertEqual(len(result["benchmarks"]), 6)

    def test_a_hung_benchmark_is_ended_with_its_children(self):
        fake = {"hang": "glibc/wait:5", "pid": self.path("pid")}
        result, r = self.measure("--runs", "1", status=1, fake=fake, IPCWAIT_BENCH_LIMIT_S="10")
        self.assertIn("hung: no end after 10 s", r.stderr)
        child = int((self.dir / "pid").read_text("ascii"))
        self.wait_until("the grandchild's end", lambda: not common.alive(child))
        self.assertEqual(len(result["benchmarks"]), 6)

    def test_twins_are_the_noise_floor(self):
        names = ["handoff/impl:glibc", "handoff/impl:glibc-again",
                 "handoff/impl:futex"]
        _, r = self.measure("--runs", "4", fake={"names": names})
        self.assertIn("noise floor", r.stdout)
        self.assertNotIn("glibc-again", r.stdout)

    def test_progress_is_lines_without_a_terminal(self):
        r = self.run_it(*self.fake_args(), "--runs", "2")
        self.assertRegex(r.stderr, r"(?m)^\d0 % after .*left$")
        self.assertLessEqual(r.stderr.count("\n"), 10)

    def test_output_that_nobody_gets_is_a_failure(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            r = self.run_it(*self.fake_args(), "--no-progress", "--runs", "1", stdout=full)
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertNotIn("Traceback", r.stderr)

    def test_a_file_that_is_there_is_replaced_as_a_whole(self):
        self.write("out.json", "old" * 100000)
        result, _ = self.measure("--runs", "1")
        self.assertEqual(result["ipcwait"]["format"], 1)
        self.assertEqual([p.name for p in self.dir.iterdir() if p.name.startswith(".")], [])

    def test_google_benchmarks_compare(self):
        tool = "/usr/share/benchmark/compare.py"
        probe = subprocess.run(["/usr/bin/python3", "-c", f"import scipy; open('{tool}')"],
                               capture_output=True, check=False)
        if probe.returncode:
            self.skipTest("compare.py or scipy is not installed")
        fake = {"errors": {"impl:futex/wait:1ms": "not built: no reason"}}
        self.measure(out="a.json", fake={**fake, "seed": 1})
        self.measure(out="b.json", fake={**fake, "seed": 2})
        r = subprocess.run(["/usr/bin/python3", tool, "--no-color", "benchmarks", "a.json",
                            "b.json"], cwd=self.dir, capture_output=True, text=True, check=False,
                           timeout=common.SECONDS_MOST, env={"PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(len(re.findall(r"(?m)^handoff/impl:glibc/wait:5us ", r.stdout)), 5,
                         r.stdout)
        self.assertRegex(r.stdout, r"handoff/impl:glibc/wait:5us_pvalue")


if __name__ == "__main__":
    common.main()
