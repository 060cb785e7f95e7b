# SPDX-License-Identifier: MIT
"""QEMU: finding it, its command line, and whether it can use KVM here."""

import os
import platform
import shutil
import tempfile

from . import archive
from .errors import VmError
from .follow import Limits, follow

PROGRAM = "qemu-system-x86_64"
MEMORY_MB = 256

# What each idle setting adds to the kernel's command line.
IDLE = {"default": [], "idle=poll": ["idle=poll"], "haltpoll": ["cpuidle_haltpoll.force=1"]}

# A guest is up after a second or two under KVM, and one that hangs would hang for ever.
PROBE = Limits(first_s=8, silence_s=8, total_s=20)

# TCG on a machine that is busy with other things.
BOOT = Limits(first_s=60, silence_s=60, total_s=300)

ACCEL = {"kvm": ["-accel", "kvm", "-cpu", "host"],
         "tcg": ["-accel", "tcg,thread=multi", "-cpu", "max"]}


def find():
    """The program's path. VmError where there is none, or where it would emulate another CPU."""
    if platform.machine() not in ("x86_64", "AMD64"):
        raise VmError("not available: only x86-64 guests")
    path = shutil.which(PROGRAM)
    if not path:
        raise VmError(f"{PROGRAM} is missing: install qemu-system-x86")
    return path


def kernel_words(idle, init_words):
    """The guest's kernel command line. What stands behind -- is for init."""
    words = ["console=ttyS0", "quiet", "panic=-1", *IDLE[idle], "--", "--guest", *init_words]
    return " ".join(words)


def command(program, accel, vcpus, kernel, initramfs, words):
    return [program, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
            "-monitor", "none", "-serial", "stdio", "-machine", "q35", "-m", str(MEMORY_MB),
            "-smp", str(vcpus), *ACCEL[accel], "-kernel", str(kernel),
            "-initrd", str(initramfs), "-append", words]


def probe_kvm(program, kernel, initramfs, device="/dev/kvm"):
    """
    None if a guest boots under KVM, or why not. Only a boot tells: where the host is a guest
    itself, the device can be there, and the kernel hang right after the firmware.
    """
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except OSError as e:
        return f"{device}: {e.strerror}"
    r = follow(command(program, "kvm", 1, kernel, initramfs, kernel_words("default", [])), PROBE)
    return f"tried KVM: {r['error']}" if r["error"] else None


def make_initramfs(folder, build):
    """The archive in @folder, from the programs of the build directory @build."""
    programs = {"init": os.path.join(build, "bench/vm/guest_init"),
                "sem_test": os.path.join(build, "bench/vm/sem_test_static"),
                "ipcwait": os.path.join(build, "bench/vm/ipcwait_static")}
    if not os.path.exists(programs["ipcwait"]):
        del programs["ipcwait"]
    path = os.path.join(folder, "initramfs.cpio")
    try:
        archive.write(path, programs)
    except FileNotFoundError as e:
        raise VmError(f"not built: {os.path.basename(e.filename)}; it needs a static C library and "
                      "the examples") from None
    return path, "ipcwait" in programs


def scratch():
    """A folder that goes away."""
    return tempfile.TemporaryDirectory(prefix="ipcwait-vm.")
