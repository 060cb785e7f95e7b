# SPDX-License-Identifier: MIT
"""Runs that are too small to mean anything: are their figures possible, do they fit together?"""

import os
import re
import unittest

import common

TWO_CPUS = len(os.sched_getaffinity(0)) >= 2

SHARES = ["spun_share", "slept_share", "astray_share", "moved_share", "same_cpu_share",
          "fairness_jain"]
PER_OP = ["switches_per_op", "preemptions_per_op", "futex_per_op", "empty_per_op",
          "full_per_op", "waiter_cpu_ns"]
POINTS = ["p50", "p90", "p99", "p999", "max"]

# What a machine that is busy with other things may make of a run.
ASTRAY = re.compile(r"not available: [0-9]+ of [0-9]+ waits ended on the waker's CPU")

# One of each kind; where there is a choice, peers that are always built.
WAITS = ["handoff/impl:ipcwait/wait:500ns", "handoff/impl:spin/wait:5us",
         "handoff/impl:ipcwait-block/wait:100us", "handoff/impl:glibc/wait:1ms",
         "wake/impl:futex/idle:100us", "pareto/impl:fixed/budget:5us",
         "pareto/impl:ipcwait-power/budget:own"]
LOCKS = ["contention/impl:glibc/threads:1/section:0/think:0",
         "contention/impl:glibc-adaptive/threads:2/section:1us/think:equal",
         "contention/impl:tas/threads:4/section:10us/think:0",
         "contention/impl:glibc/threads:16/section:100ns/think:0",
         "oversubscription/kind:lock/impl:glibc/threads_per_cpu:4",
         "starvation/impl:ipcwait/threads_per_cpu:4/section:1us",
         "starvation/impl:ipcwait-sem/threads_per_cpu:2/section:10us",
         "starvation/impl:glibc-sem/threads_per_cpu:2/section:1us",
         "starvation/impl:ipcwait-queue/threads_per_cpu:8/section:1us",
         "starvation/impl:glibc-queue/threads_per_cpu:2/section:10us"]
VOLLEYS = ["handoff/impl:ipcwait/wait:0", "handoff/impl:block/wait:0",
           "oversubscription/kind:sem/impl:ipcwait/threads_per_cpu:8",
           "oversubscription/kind:sem/impl:glibc-cond/threads_per_cpu:2"]
CONDS = ["condvar/op:pingpong/impl:glibc", "condvar/op:broadcast/impl:glibc/waiters:16"]
COSTS = ["uncontended/op:sem/impl:ipcwait", "uncontended/op:lock/impl:tas",
         "uncontended/op:wake/impl:ipcwait", "uncontended/op:wake/impl:futex"]


class Runs(common.GridTest):
    def check_row(self, name, row):
        if ASTRAY.fullmatch(row.get("error_message", "")):
            return
        self.assertNotIn("error_message", row)
        self.assertGreater(row["iterations"], 0)
        self.assertGreater(row["real_time"], 0)
        self.assertGreaterEqual(row["cpu_time"], 0)
        self.assertEqual(row["time_unit"], "ns")
        for key in SHARES:
            self.assertTrue(0 <= row.get(key, 0) <= 1, (name, key, row.get(key)))
        for key in PER_OP:
            self.assertGreaterEqual(row.get(key, 0), 0, (name, key))
        if "spun_share" in row:
            self.assertAlmostEqual(row["spun_share"] + row["slept_share"], 1)
        if row.get("cpu_waker", -1) == row.get("cpu_waiter"):
            self.assertEqual(row.get("same_core", 1), 1)

    def check_histogram(self, row, name, buckets):
        """Buckets are in order, and the quantiles lie in them."""
        self.assertTrue(all(low <= high for low, high, _ in buckets))
        self.assertTrue(all(a[1] < b[0] for a, b in zip(buckets, buckets[1:])))
        self.assertTrue(all(count > 0 for _, _, count in buckets))
        values = [row["%s_%s_ns" % (name, point)] for point in POINTS
                  if "%s_%s_ns" % (name, point) in row]
        self.assertGreaterEqual(len(values), 2)
        self.assertEqual(values, sorted(values))
        self.assertTrue(buckets[-1][0] <= values[-1] <= buckets[-1][1])
        for value in values:
            self.assertTrue(any(low - 1 <= value <= high + 1 for low, high, _ in buckets))
        return sum(count for _, _, count in buckets)

    def check(self, names):
        """{name: (row, {histogram: number of values})}."""
        rows, counts = self.measure(names), {name: {} for name in names}
        for (name, which), buckets in self.histograms().items():
            if "error_message" in rows[name]:
                continue
            counts[name][which] = self.check_histogram(rows[name], which, buckets)
        for name, row in rows.items():
            with self.subTest(name=name):
                self.check_row(name, row)
        return {name: (rows[name], counts[name]) for name in names}

    @unittest.skipIf(not TWO_CPUS, "needs two CPUs")
    def test_waits(self):
        for name, (row, counts) in self.check(WAITS).items():
            if "error_message" in row:
                continue
            self.assertEqual(counts["post"], row["iterations"])
            self.assertEqual("futex_per_op" in row, "glibc" not in name)
            self.assertNotEqual(row["cpu_waker"], row.get("cpu_waiter"))
            astray = round(row["astray_share"] * row["iterations"])
            self.assertEqual(counts.get("latency", 0), row["iterations"] - astray)
            length = re.search(r"(?:wait|idle):(\d+)(ns|us|ms)$", name)
            if length:
                ns = int(length[1]) * {"ns": 1, "us": 1000, "ms": 1000000}[length[2]]
                self.assertGreaterEqual(row["real_time"], ns)

    @unittest.skipIf(not TWO_CPUS, "needs two CPUs")
    def test_who_blocks_sleeps_and_who_spins_does_not(self):
        names = ["handoff/impl:ipcwait-block/wait:100us", "handoff/impl:spin/wait:100us"]
        measured = None
        for _ in range(20):
            (block, _), (spin, _) = self.check(names).values()
            if "error_message" in block or "error_message" in spin:
                continue
            measured = block, spin
            # A thread that spins and is kept from running uses no CPU time either.
            if block["switches_per_op"] > 0.5 and spin["waiter_cpu_ns"] >= block["waiter_cpu_ns"]:
                break
        if not measured:
            self.skipTest("something else drove the threads together")
        block, spin = measured
        self.assertEqual(spin["futex_per_op"], 0)
        self.assertEqual(block["slept_share"], 1)
        self.assertGreater(block["switches_per_op"], 0.5)
        self.assertGreaterEqual(spin["waiter_cpu_ns"], block["waiter_cpu_ns"])

    def test_locks(self):
        for name, (row, counts) in self.check(LOCKS).items():
            key, number = re.search(r"(threads|threads_per_cpu):(\d+)", name).groups()
            threads = int(number) * (1 if key == "threads" else len(os.sched_getaffinity(0)))
            self.assertGreaterEqual(row["fairness_jain"] * threads, 0.999)
            each = "section:10us" in name or name.startswith("starvation/")
            wait = "wait" if each else "wait_sampled"
            # Sampled, all, or all and one in vain for each thread.
            self.assertEqual(list(counts), [wait])
            self.assertGreaterEqual(counts[wait], row["iterations"] if each else 1)
            self.assertLessEqual(counts[wait], row["iterations"] + threads)
            self.assertGreaterEqual(row[wait + "_max_ns"], row[wait + "_p50_ns"])

    def test_volleys_and_condition_variables(self):
        for name, (row, counts) in self.check(VOLLEYS + CONDS).items():
            n = row["iterations"]
            each = (n + 1) // 2 if "wait:0" in name else n
            if name in VOLLEYS:
                self.assertTrue(min(each, 500) <= counts["latency"] <= each, name)
                self.assertEqual("cpu_waker" in row, "wait:0" in name)
            elif "broadcast" in name:
                self.assertEqual(counts["latency"], 16 * n)
            else:
                self.assertGreaterEqual(n, 2 * counts.get("latency", 0))

    def test_costs(self):
        self.check(COSTS)

    @unittest.skipIf(not TWO_CPUS, "needs two CPUs")
    def test_pairs(self):
        names = [n for n in self.names() if n.startswith("pairs/") and "others" not in n]
        for name, (row, counts) in self.check(names[:2] + names[-2:]).items():
            each, pair = (row["iterations"] + 1) // 2, common.dimensions(name)[1]
            self.assertTrue(min(each, 500) <= counts["latency"] <= each, name)
            self.assertEqual((row["cpu_waker"], row["cpu_waiter"]),
                             (int(pair["from"]), int(pair["to"])))

    def test_queues_and_channels(self):
        names = [n for n in self.names() if n.split("/")[0] in ("queue", "channel")]
        rows = self.measure(names) if names else {}
        for name, row in rows.items():
            with self.subTest(name=name):
                if "error_message" in row:
                    self.assertRegex(row["error_message"], common.REASON)
                else:
                    self.check_row(name, row)

    def test_what_a_run_learns_does_not_stop_the_next(self):
        """The same ones again in one process."""
        r = self.run_it("--benchmark_filter=" + common.any_of(VOLLEYS + CONDS + LOCKS[:2]),
                        "--benchmark_min_time=0.001", "--benchmark_repetitions=3")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertNotIn("ERROR", r.stdout)


if __name__ == "__main__":
    common.main()
