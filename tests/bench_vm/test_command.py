# SPDX-License-Identifier: MIT
"""`python3 bench/vm`: bad input is one line and status 2; the table and the file."""

import json
import subprocess
import sys
import unittest

import common

BAD = [
    (["x"], "x"),
    (["--no-such"], "--no-such"),
    (["--idle", "deep"], "deep"),
    (["--idle"], "--idle"),
    (["--vcpus", "0"], "--vcpus"),
    (["--vcpus", "-1"], "--vcpus"),
    (["--vcpus", "65"], "--vcpus"),
    (["--vcpus", "two"], "two"),
    (["--accel", "xen"], "xen"),
    (["--rows", ""], "--rows"),
    (["--rows", "glibc,,spin"], "--rows"),
    (["--rows", "glibc,glibc"], "--rows"),
    (["--rows", "futex"], "futex"),
    (["--items", "1k"], "--items"),
    (["--items", "9" * 5000], "--items"),
    (["--runs", "0"], "--runs"),
    (["--kernel", "missing"], "missing"),
    (["--kernel", "two\nlines"], "two?lines"),
    (["--json", "missing/x.json"], "--json"),
    (["--json", "/dev"], "--json"),
    (["--json", ""], "--json"),
    (["--build", "nowhere"], "not built"),
]


class Command(common.VmTest):
    def run_it(self, *args):
        return subprocess.run([sys.executable, str(common.BENCH / "vm"), *args], cwd=self.dir,
                              text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=common.SECONDS_MOST, check=False)

    def measure(self, *args, mode="good"):
        self.fake_everything(mode)
        return self.run_it("--build", "build", "--accel", "tcg", "--runs", "2", *args)

    def test_bad_input(self):
        self.fake_everything()
        before = sorted(self.dir.rglob("*"))
        for args, word in BAD:
            with self.subTest(args=[a[:40] for a in args]):
                r = self.run_it("--build", "build", "--accel", "tcg", *args)
                self.assertEqual((r.returncode, r.stdout), (2, ""), r)
                self.assertEqual(r.stderr.count("\n"), 1, r)
                self.assertTrue(r.stderr.startswith("bench/vm: "), r)
                self.assertLess(len(r.stderr), 400)
                self.assertIn(word, r.stderr)
                self.assertEqual(sorted(self.dir.rglob("*")), before)

    def test_kvm_was_asked_for(self):
        self.fake_everything("die")
        r = self.run_it("--build", "build", "--accel", "kvm")
        self.assertEqual((r.returncode, r.stdout, r.stderr.count("\n")), (2, "", 1), r)

    def test_help(self):
        r = self.run_it("--help")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in ("--idle", "--vcpus", "--accel", "--kernel", "IPCWAIT_BENCH_KERNEL"):
            self.assertIn(word, r.stdout)

    @unittest.skipUnless(common.TWO_CPUS, "one CPU")
    def test_table_and_file(self):
        r = self.measure("--json", "out.json", "--rows", "glibc,ipcwait")
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        self.assertIn("host, 2 CPUs", r.stdout)
        self.assertIn("counts only", r.stdout)
        with open(self.dir / "out.json", encoding="ascii") as f:
            found = json.load(f)["guests"]
        self.assertEqual([entry["label"] for entry in found],
                         ["host, 2 CPUs", "guest, default idle, 2 vCPUs"])
        self.assertEqual([row["row"] for row in found[1]["rows"]], ["glibc", "ipcwait"])

    def test_no_time_of_tcg_in_the_table(self):
        r = self.measure("--no-host", "--rows", "ipcwait")
        row, = [line for line in r.stdout.splitlines() if line.startswith("  ipcwait")]
        self.assertEqual(row.split()[1:3], ["-", "-"])

    def test_a_guest_that_fails(self):
        r = self.measure("--json", "out.json", mode="row-fails")
        self.assertEqual((r.returncode, r.stderr), (1, ""), r)
        self.assertIn("spin: 2 of 2 runs: died: Killed", r.stdout)
        self.assertTrue((self.dir / "out.json").exists())


if __name__ == "__main__":
    common.main()
