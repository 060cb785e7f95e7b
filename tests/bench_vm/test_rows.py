# SPDX-License-Identifier: MIT
"""run(context) with stand-ins: the shape of its result, and what is said about what is missing."""

import tempfile
import types
import unittest

import common

import vm
from vm import guests, qemu, rows


@unittest.skipUnless(common.TWO_CPUS, "one CPU")
class Run(common.VmTest):
    def run_it(self, mode, quick=True, kvm=None):
        """@kvm: why not. The device of this machine is not asked."""
        self.fake_everything(mode)
        before = qemu.probe_kvm
        self.addCleanup(setattr, qemu, "probe_kvm", before)
        qemu.probe_kvm = lambda *_: kvm
        return vm.run(self.context(quick))

    def context(self, quick=True):
        self.said = []
        return types.SimpleNamespace(build=self.dir / "build", quick=quick,
                                     progress=self.said.append, cache=self.dir / "cache")

    def test_tcg_gives_counts_only(self):
        host, *found = self.run_it("good", kvm="no device")
        self.assertEqual([g["label"] for g in found],
                         ["guest, default idle, 2 vCPUs", "guest, idle=poll, 2 vCPUs"])
        self.assertEqual((host["label"], host["accel"], host["counts_only"]),
                         ("host, 2 CPUs", "none", False))
        for guest in found:
            self.assertEqual((guest["accel"], guest["accel_reason"], guest["counts_only"]),
                             ("tcg", "no device", True))
            self.assertNotIn("error", guest)
            self.assertNotIn("cpu_s", guest)
            for row in guest["rows"]:
                self.assertNotIn("times", row)
                self.assertEqual(len(row["times_under_tcg"]["runs"]), 3)
                self.assertNotIn("seconds", row["runs"][0])
        self.assertTrue(self.said)

    def test_kvm_gives_times(self):
        found = self.run_it("good", quick=False)
        self.assertEqual(len(found), 2 + 6)
        self.assertEqual(len({g["label"] for g in found}), len(found))
        for entry in found:
            row = entry["rows"][1]
            self.assertEqual(row["row"], "ipcwait")
            self.assertEqual(len(row["runs"]), 5)
            self.assertNotIn("times_under_tcg", row)
            ns = row["times"]["ns_per_item"]
            self.assertEqual((len(ns["values"]), len(ns["kept"])), (5, 3))
            self.assertAlmostEqual(ns["median"], 0.02e9 / entry["items"])
            self.assertAlmostEqual(row["interrupts_per_item"]["median"], 1010 / entry["items"])
            self.assertAlmostEqual(row["futex_calls_per_item"]["median"], 500 / entry["items"])

    def test_not_counted_is_null_with_a_reason(self):
        row = self.run_it("good", kvm="-")[1]["rows"][0]
        self.assertEqual(row["row"], "glibc")
        self.assertIsNone(row["futex_calls_per_item"]["values"])
        self.assertIn("not available: ", row["futex_calls_per_item"]["reason"])
        self.assertIsNone(row["idle_states"])
        self.assertIn("not available: ", row["idle_states_reason"])

    def test_ignored_settings_say_so(self):
        found = {g["label"]: g["ignored"] for g in self.run_it("ignores", quick=False, kvm="-")}
        self.assertIsNone(found["guest, default idle, 1 vCPU"])
        self.assertIn("ignored by the kernel", found["guest, idle=poll, 1 vCPU"])
        self.assertIn("the idle driver is not available", found["guest, haltpoll, 2 vCPUs"])

    def test_settings_that_work_say_nothing(self):
        found = {g["label"]: g["ignored"] for g in self.run_it("good", kvm="-")}
        self.assertEqual(set(found.values()), {None})

    def test_a_row_that_fails(self):
        host, guest, _ = self.run_it("row-fails", kvm="-")
        self.assertNotIn("error", host)
        self.assertEqual(guest["error"], "spin: 3 of 3 runs: died: Killed")
        self.assertEqual([row["row"] for row in guest["rows"]], list(guests.ROWS))
        self.assertIsNone(guest["rows"][2]["interrupts_per_item"]["values"])
        self.assertEqual(guest["rows"][2]["idle_states"], None)

    def test_a_guest_that_dies_leaves_the_others(self):
        host, *found = self.run_it("die", kvm="-")
        self.assertTrue(host["rows"])
        for guest in found:
            self.assertIn("no such thing", guest["error"])
            self.assertEqual((guest["rows"], "label" in guest), ([], True))


    def test_one_after_the_other(self):
        """Who stops in between keeps what is done, and nothing is left behind."""
        self.fake_everything("good")
        before = tempfile.tempdir
        self.addCleanup(setattr, tempfile, "tempdir", before)
        tempfile.tempdir = str(self.dir / "tmp")
        (self.dir / "tmp").mkdir()
        found = vm.iterate(self.context())
        self.assertEqual(next(found)["label"], "host, 2 CPUs")
        self.assertEqual(next(found)["label"], "guest, default idle, 2 vCPUs")
        self.assertNotEqual(list((self.dir / "tmp").iterdir()), [])
        found.close()
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])

    def test_no_guest_at_all(self):
        self.fake_everything("good")
        self.set_environment(IPCWAIT_BENCH_KERNEL="missing")
        with self.assertRaises(vm.VmError):
            next(vm.iterate(self.context()))


class Idle(common.VmTest):
    def test_sums_and_shares(self):
        state = {"cpu": 0, "state": 1, "name": "HLT", "usage": 2, "time_us": 500000, "above": 1,
                 "below": 0}
        heads = [{"wall_s": 1.0, "idle_states": [state]}, {"wall_s": 1.0, "idle_states": [state]}]
        timed, = rows._idle_states(heads, True)
        self.assertEqual((timed["usage"], timed["time_us"], timed["share"]), (4, 1000000, 0.5))
        counted, = rows._idle_states(heads, False)
        self.assertNotIn("time_us", counted)
        self.assertEqual(counted["usage"], 4)
        self.assertEqual(state["usage"], 2)

    def test_more_states_than_were_read(self):
        head = {"round": 0, "wall_s": 1.0, "idle_states": [], "context_switches": 1,
                "interrupts": {"RES": 1, "CAL": 1, "LOC": 1}}
        document = {"rows": [{"what": "x", "runs": [{}]}]}
        made = rows.row("x", [(head, document)], 1, False)
        self.assertNotIn("idle_states_cut", made)
        cut = {**head, "idle_states_cut": "only the first 1024 states were read"}
        made = rows.row("x", [(head, document), (cut, document)], 1, False)
        self.assertEqual(made["idle_states_cut"], "only the first 1024 states were read")

    def test_kept(self):
        self.assertEqual(rows.kept([1, 2, 3]), [1, 2, 3])
        self.assertEqual(rows.kept([1, 2, 3, 4]), [2, 3])


if __name__ == "__main__":
    common.main()
