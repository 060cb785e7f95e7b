# SPDX-License-Identifier: MIT
"""The programs of the scoreboard, with sizes that mean nothing: totals, checks and bad input."""

import json
import os
import subprocess
import unittest

import common
from seed import checksum

ROUNDS = 200
HUGE = "9" * 30
# Producers and consumers of queues that are not for all.
CROWDS = {"1:1": [(1, 1)], "n:1": [(1, 1), (4, 1)], "in turn": [(1, 1)]}


def run(path, *args, **env):
    return subprocess.run([path, *map(str, args)], text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=1000, env={**os.environ, **env})


def seed_program(name):
    return common.program("bench", "seed", name)


class Test(unittest.TestCase):
    def figures(self, path, *args, **env):
        r = run(path, *args, **env)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        found = json.loads(r.stdout)
        self.assertGreater(found["seconds"], 0)
        return found

    def refused(self, path, *args):
        r = run(path, *args)
        self.assertEqual((r.returncode, r.stdout), (2, ""), r)
        self.assertEqual(r.stderr.count("\n"), 1, r)

    def listed(self, name):
        """[fields] of the entries that are built."""
        text = run(seed_program(name), "--list").stdout
        return [line.split("\t")[:-1] for line in text.splitlines() if line.endswith("\t")]


class Totals(Test):
    def test_go(self):
        for test in ("server", "serverchannel", "seda", "pingpong"):
            for procs in ("1", "2"):
                f = self.figures(seed_program("go_" + test), ROUNDS, GOMAXPROCS=procs)
                self.assertIsNone(checksum.problem(test, ROUNDS, f["total"]))
                self.assertEqual(f["gomaxprocs"], int(procs))

    def test_go_file(self):
        f = self.figures(seed_program("go_file"), 1000)
        self.assertIsNone(checksum.problem("file", 1000, f["total"]))

    def test_channels(self):
        for (name,) in self.listed("channel_test"):
            for test in ("server", "serverchannel", "seda", "pingpong"):
                with self.subTest(name=name, test=test):
                    f = self.figures(seed_program("channel_test"), test, name, ROUNDS)
                    self.assertIsNone(checksum.problem(test, ROUNDS, f["total"]))
                    self.assertEqual("futex_calls" in f, name.startswith("ipcwait"))

    def test_all_channels_are_listed(self):
        names = [x.split("\t")[0] for x in
                 run(seed_program("channel_test"), "--list").stdout.splitlines()]
        self.assertEqual(names, ["ipcwait", "ipcwait-rendezvous", "futex", "futex-yields",
                                 "glibc", "tbb"])

    def test_writes(self):
        for how in ([], ["direct"], ["channel"], ["batches"]):
            f = self.figures(seed_program("write_test"), 5000, *how)
            self.assertEqual((f["writes"], f["bytes"]), (5000, 150000))
            self.assertLessEqual(f["calls"], 5000)


class Queues(Test):
    def test_every_queue(self):
        for level in ("queue_test", "queue_test_O0"):
            for name, _, use in self.listed("queue_test"):
                for crowd in CROWDS.get(use, [(1, 1), (4, 4)]):
                    with self.subTest(level=level, name=name, crowd=crowd):
                        f = self.figures(seed_program(level), name, 20000, *crowd)
                        self.assertEqual((f["items"], f["sum_right"], f["order_right"]),
                                         (20000, True, True))

    def test_waiting(self):
        ours = [x for x in self.listed("queue_test") if x[0].startswith("ipcwait")]
        for name, _, use in ours:
            for crowd in CROWDS.get(use, [(1, 1), (2, 4)]):
                f = self.figures(seed_program("queue_test"), name, 20000, *crowd, "wait")
                self.assertEqual((f["items"], f["sum_right"], f["order_right"]),
                                 (20000, True, True))
                self.assertEqual(f["yields_empty"], 0)
                self.assertLessEqual(f["futex_wakes"], 20000 + crowd[1])

    def test_all_are_listed(self):
        names = [x.split("\t")[0] for x in
                 run(seed_program("queue_test"), "--list").stdout.splitlines()]
        self.assertEqual(names, ["ipcwait", "ipcwait_mpsc", "ipcwait_spsc",
                                 "ipcwait_spsc_unbounded", "seed_list", "seed_cache", "urcu_wfcq", "urcu_lfq", "boost",
                                 "boost_spsc", "moodycamel", "moodycamel_spsc", "ck_ring",
                                 "ck_fifo", "tbb"])


class Recycling(Test):
    def test_every_kind(self):
        for what, name in self.listed("recycle_test"):
            for batch in (1, 7, 1024):
                with self.subTest(what=what, name=name, batch=batch):
                    f = self.figures(seed_program("recycle_test"), what, name, batch, 10000)
                    self.assertEqual((f["items"], f["batch"]), (10000, batch))

    def test_all_are_listed(self):
        lines = [line.split("\t") for line in
                 run(seed_program("recycle_test"), "--list").stdout.splitlines()]
        self.assertEqual([name for what, name, _ in lines if what == "pool"],
                         ["ipcwait", "glibc", "glibc-again", "glibc-adaptive",
                          "nsync", "abseil", "tbb", "tbb-spin", "tbb-queuing", "ck-fas",
                          "ck-mcs", "tas", "ipcwait-rwlock", "glibc-rwlock"])
        self.assertEqual([name for what, name, _ in lines if what == "channel"], ["ipcwait"])
        self.assertEqual([name for what, name, _ in lines if what == "post"],
                         ["glibc", "ipcwait_post_n", "ipcwait_post"])

    def test_histogram_counts_all_takes(self):
        for store in (("pool", "glibc"), ("channel", "ipcwait")):
            for take in ("1", "64", "all"):
                f = self.figures(seed_program("recycle_test"), *store, 64, 50000, take)
                self.assertEqual(sum(f["items_per_take"]), f["takes"])
                self.assertIs(f["count_right"], True)
        f = self.figures(seed_program("recycle_test"), "pool", "glibc", 64, 50000, 1)
        self.assertEqual((f["takes"], f["items_per_take"][0]), (50000, 50000))


class BadInput(Test):
    def test_refused(self):
        for name, cases in {
                "queue_test": ([], ["none", 1], ["tbb\n", 1], ["urcu_wfcq", 0],
                               ["urcu_wfcq", HUGE], ["urcu_wfcq", 1, 1], ["urcu_wfcq", 1, 0, 1],
                               ["urcu_wfcq", 1, 1, 65], ["boost_spsc", 1, 2, 1],
                               ["seed_list", 1, 2, 1], ["seed_cache", 1, 1, 2],
                               ["ipcwait_mpsc", 1, 1, 2],
                               ["boost", 1, 1, 1, "wait"], ["seed_list", 1, 1, 1, "yield"]),
                "channel_test": ([], ["server", "glibc"], ["none", "glibc", 1],
                                 ["server", "none", 1], ["server", "glibc", "-1"]),
                "write_test": ([], ["0"], ["1k"], ["1", "none"], ["1", "direct", "1"]),
                "recycle_test": ([], ["pool", "none", 1, 1], ["none", "glibc", 1, 1],
                                 ["pool", "glibc", 1025, 1], ["pool", "glibc", 1, 0],
                                 ["pool", "glibc", 1, 1, "some"], ["post", "glibc", 1, 1, 1],
                                 ["post", "none", 1, 1], ["channel", "glibc", 1, 1],
                                 ["channel", "ipcwait", 0, 1]),
                "go_server": ([], ["0"], ["x"], ["1", "2"])}.items():
            for case in cases:
                with self.subTest(name=name, case=case):
                    self.refused(seed_program(name), *case)


if __name__ == "__main__":
    common.main()
