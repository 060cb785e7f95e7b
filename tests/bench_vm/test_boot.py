# SPDX-License-Identifier: MIT
"""Real guests under TCG. Skipped, exit status 77, without QEMU or a kernel."""

import glob
import json
import os
import shutil
import subprocess
import sys
import unittest

import common


def kernel():
    own = os.environ.get("IPCWAIT_BENCH_KERNEL")
    return own or next(iter(sorted(glob.glob(sys.argv[1] + "/vm/vmlinuz-*"))), None)


class Boot(common.VmTest):
    def boot(self, *args):
        r = subprocess.run([sys.executable, str(common.BENCH / "vm"), "--build", common.BUILD,
                            "--accel", "tcg", "--kernel", kernel(), "--items", "200", "--runs", "1",
                            "--json", "out.json", "--no-host", *args], cwd=self.dir, text=True,
                           capture_output=True, timeout=280, check=False)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        with open(self.dir / "out.json", encoding="ascii") as f:
            return json.load(f)["guests"][0]

    def test_idle_poll(self):
        guest = self.boot("--idle", "idle=poll", "--vcpus", "2", "--rows", "glibc,ipcwait")
        self.assertEqual((guest["cpus"], guest["ignored"]), (2, None))
        self.assertEqual([row["row"] for row in guest["rows"]], ["glibc", "ipcwait"])
        for row in guest["rows"]:
            self.assertGreaterEqual(row["interrupts_per_item"]["median"], 0)

    def test_haltpoll_is_ignored_without_kvm(self):
        guest = self.boot("--idle", "haltpoll", "--vcpus", "1", "--rows", "glibc")
        self.assertEqual(guest["cpus"], 1)
        self.assertIn("ignored by the kernel", guest["ignored"])


if __name__ == "__main__":
    if not shutil.which("qemu-system-x86_64") or not kernel():
        print("skipped: QEMU or a kernel (IPCWAIT_BENCH_KERNEL) is missing")
        sys.exit(77)
    common.main()
