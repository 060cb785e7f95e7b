# SPDX-License-Identifier: MIT
"""Command lines, the question whether KVM works, and the kernel's whereabouts."""

import os
import platform
import unittest

import common

from vm import kernel, qemu
from vm.errors import VmError
from vm.follow import Limits


class CommandLine(unittest.TestCase):
    def test_kernel_words(self):
        self.assertEqual(qemu.kernel_words("default", ["--runs", "3"]),
                         "console=ttyS0 quiet panic=-1 -- --guest --runs 3")
        self.assertIn(" idle=poll -- ", qemu.kernel_words("idle=poll", []))
        self.assertIn(" cpuidle_haltpoll.force=1 -- ", qemu.kernel_words("haltpoll", []))

    def test_command(self):
        argv = qemu.command("q", "tcg", 2, "k", "i", "a b")
        self.assertEqual(argv[0], "q")
        pairs = dict(zip(argv[1:], argv[2:]))
        for option, value in {"-accel": "tcg,thread=multi", "-smp": "2", "-kernel": "k",
                              "-initrd": "i", "-append": "a b", "-serial": "stdio",
                              "-monitor": "none", "-display": "none"}.items():
            self.assertEqual(pairs[option], value)
        for option in ("-nodefaults", "-no-user-config", "-no-reboot"):
            self.assertIn(option, argv)
        argv = qemu.command("q", "kvm", 1, "k", "i", "")
        self.assertIn("host", argv)
        self.assertNotIn("tcg,thread=multi", argv)


@unittest.skipUnless(platform.machine() == "x86_64", "only x86-64 guests")
class Kvm(common.VmTest):
    def probe(self, mode, device=os.devnull, silence_s=50):
        self.fake_everything(mode)
        limits, qemu.PROBE = qemu.PROBE, Limits(50, silence_s, 50)
        self.addCleanup(setattr, qemu, "PROBE", limits)
        return qemu.probe_kvm(qemu.find(), self.kernel, "i", device=str(device))

    def test_no_device(self):
        self.assertRegex(self.probe("good", self.dir / "kvm"), r"/kvm: No such file")

    @unittest.skipIf(os.geteuid() == 0, "root may open anything")
    def test_no_permission(self):
        device = self.dir / "kvm"
        device.touch(mode=0)
        self.assertRegex(self.probe("good", device), r"/kvm: Permission denied")

    def test_boots(self):
        self.assertIsNone(self.probe("good"))

    def test_hangs_in_the_firmware(self):
        self.assertRegex(self.probe("kvm-hangs", silence_s=1),
                         r"^tried KVM: no line for 1 s; last: Booting from ROM\.\.\.$")
        for pid in self.pids():
            self.wait_until("its end", lambda pid=pid: not common.alive(pid))


class Kernel(common.VmTest):
    def setUp(self):
        super().setUp()
        self.set_environment(IPCWAIT_BENCH_KERNEL="")

    def put(self, name, data=None):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(common.bytes_of_kernel() if data is None else data)
        return path

    def refused(self, *args, **how):
        with self.assertRaises(VmError) as caught:
            kernel.find(*args, **how)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_own(self):
        path = self.put("own")
        self.assertEqual(kernel.find(self.dir / "cache", own=path), path)
        self.set_environment(IPCWAIT_BENCH_KERNEL=path)
        self.assertEqual(kernel.find(self.dir / "cache"), path)
        self.assertFalse((self.dir / "cache").exists())

    def test_bad_own(self):
        self.assertIn("No such file", self.refused("c", own=self.dir / "missing"))
        self.assertIn("not an x86 Linux kernel", self.refused("c", own=self.put("x", b"text")))
        self.assertIn("not an x86 Linux kernel", self.refused("c", own=os.devnull))
        self.assertIn("Is a directory", self.refused("c", own=self.dir))
        self.assertIn("a?b", self.refused("c", own=self.dir / "a\nb"))

    def test_cached(self):
        path = self.put("cache/vmlinuz-1")
        self.assertEqual(kernel.find(self.dir / "cache"), path)

    def test_cache_that_is_no_folder(self):
        self.assertIn("cannot use", self.refused(self.put("file") / "cache"))

    def tools(self, **scripts):
        for name, script in scripts.items():
            path = self.put(f"tools/{name}", f"#!/bin/sh\n{script}\n".encode())
            path.chmod(0o755)
        self.set_environment(PATH=f"{self.dir / 'tools'}:/usr/bin:/bin")

    DEPENDS = "echo 'linux-image-cloud-amd64'; echo '  Depends: linux-image-6.1.0-1-cloud-amd64'"
    UNPACK = r"mkdir -p unpacked/boot; printf '%514sHdrS' '' >unpacked/boot/vmlinuz-6.1.0-1"

    def test_fetched(self):
        self.tools(**{"apt-cache": self.DEPENDS, "apt-get": "touch \"${8:-x}_1.deb\"",
                      "dpkg-deb": self.UNPACK})
        said = []
        found = kernel.find(self.dir / "cache", said.append)
        self.assertEqual(found, self.dir / "cache" / "vmlinuz-6.1.0-1")
        self.assertEqual(os.listdir(self.dir / "cache"), ["vmlinuz-6.1.0-1"])
        self.assertEqual(len(said), 1)

    def test_apt_fails(self):
        self.tools(**{"apt-cache": self.DEPENDS,
                      "apt-get": "echo 'W: x' >&2; echo 'E: no network' >&2; exit 100"})
        message = self.refused(self.dir / "cache")
        self.assertIn("apt-get: E: no network", message)
        self.assertIn("IPCWAIT_BENCH_KERNEL", message)
        self.assertEqual(os.listdir(self.dir / "cache"), [])

    def test_unknown_package(self):
        self.tools(**{"apt-cache": "exit 0"})
        self.assertIn("names none", self.refused(self.dir / "cache"))

    def test_not_debian(self):
        self.set_environment(PATH=str(self.dir))
        self.assertIn("not Debian", self.refused(self.dir / "cache"))


class Missing(common.VmTest):
    def test_no_qemu(self):
        self.set_environment(PATH=str(self.dir))
        with self.assertRaises(VmError) as caught:
            qemu.find()
        self.assertRegex(str(caught.exception), "is missing|only x86-64 guests")

    def test_other_cpus(self):
        before = platform.machine
        self.addCleanup(setattr, platform, "machine", before)
        platform.machine = lambda: "aarch64"
        with self.assertRaisesRegex(VmError, "^not available: only x86-64 guests$"):
            qemu.find()

    def test_not_built(self):
        with self.assertRaisesRegex(VmError, "^not built: guest_init"):
            qemu.make_initramfs(str(self.dir), str(self.dir))
        self.assertEqual(list(self.dir.iterdir()), [])


if __name__ == "__main__":
    common.main()
