# SPDX-License-Identifier: MIT
"""Texts of perf and strace, counters of the kernel, and what is not in them."""

import math
import tempfile
import unittest
from pathlib import Path

import common
from harness import probes
from seed import counters, tracing

FIXTURE = common.HERE / "fixture"


class Calls(unittest.TestCase):
    def test_perf_adds_threads_up(self):
        table, threads = tracing.parse_perf((FIXTURE / "perf_trace.txt").read_text())
        futex = table["futex"]
        self.assertEqual((futex["calls"], futex["errors"]), (10, 3))
        self.assertEqual((futex["min_ms"], futex["max_ms"]), (0.5, 20.0))
        self.assertAlmostEqual(futex["total_ms"], 90)
        self.assertAlmostEqual(futex["avg_ms"], 9)
        # 8 x 7 x 1.0^2 within, 8 x 1^2 + 2 x 4^2 between the threads
        self.assertAlmostEqual(futex["stddev_percent"], 100 * math.sqrt(96 / 9 / 10) / 9)
        self.assertEqual(table["sched_getaffinity"]["calls"], 16)
        self.assertAlmostEqual(table["write"]["stddev_percent"], 0)
        self.assertEqual([(t["name"], t["tid"]) for t in threads], [("worker", 101), ("a b", 102)])
        self.assertEqual(threads[1]["calls"], {"futex": 2, "write": 3})

    def test_perf_of_nothing(self):
        self.assertEqual(tracing.parse_perf("perf: no such thing\n"), ({}, []))

    def test_one_thread_stays_as_it_is(self):
        line = dict(zip(tracing.COLUMNS, (8, 2, 80.0, 1.0, 10.0, 20.0, 10.0)))
        self.assertEqual({k: round(v, 9) for k, v in tracing.merge([line]).items()}, line)

    def test_strace_joins_both_halves(self):
        table, threads = tracing.parse_strace((FIXTURE / "strace.txt").read_text())
        self.assertEqual(set(table), {"execve", "futex", "write"})
        futex = table["futex"]
        self.assertEqual((futex["calls"], futex["errors"]), (3, 1))
        self.assertAlmostEqual(futex["total_ms"], 5.05)
        self.assertAlmostEqual(futex["max_ms"], 5.0)
        self.assertAlmostEqual(futex["min_ms"], 0.02)
        self.assertEqual({t["tid"]: t["calls"].get("futex") for t in threads}, {201: 1, 202: 2})


class Machine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="seed.")
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def put(self, path, text):
        path = Path(self.root, path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_nothing_is_there(self):
        self.assertEqual(counters.snapshot(self.root),
                         {"interrupts": None, "idle": None, "cpu": None, "energy": None})
        self.assertIsNone(counters.shares(None, None))
        self.assertIsNone(counters.joules(None, None))

    def test_shares(self):
        self.put("proc/stat", "cpu  10 0 5 100 1 0 2 3 0 0\ncpu0 1 2 3\n")
        before = probes.cpu_kinds(self.root)
        self.put("proc/stat", "cpu  30 10 15 140 11 0 2 13 0 0\n")
        found = counters.shares(before, probes.cpu_kinds(self.root))
        self.assertEqual(found, {"user": 30, "system": 10, "idle": 40, "iowait": 10,
                                 "softirq": 0, "steal": 10})
        self.assertIsNone(counters.shares(before, before))

    def test_energy_begins_again_at_its_range(self):
        for zone, joules in (("intel-rapl:0", 90), ("intel-rapl:0:0", 5)):
            self.put(f"sys/class/powercap/{zone}/energy_uj", str(joules * 10**6))
            self.put(f"sys/class/powercap/{zone}/max_energy_range_uj", str(100 * 10**6))
        before = counters.energy(self.root)
        self.assertEqual(list(before), ["intel-rapl:0"])
        self.put("sys/class/powercap/intel-rapl:0/energy_uj", str(20 * 10**6))
        self.assertAlmostEqual(counters.joules(before, counters.energy(self.root)), 30)


if __name__ == "__main__":
    common.main()
