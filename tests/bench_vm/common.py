# SPDX-License-Identifier: MIT
"""What the tests of bench/vm share: the package, a scratch folder, and stand-ins for QEMU."""

import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parent.parent / "bench"
BUILD = None

# The host takes part with as many CPUs as the guest.
TWO_CPUS = len(os.sched_getaffinity(0)) > 1

# Far more than any of this takes on a machine that is busy with other things.
SECONDS_MOST = 1000

sys.path.insert(0, str(BENCH))

# A guest that hangs in its firmware does so in the shell, which is there at once on the busiest
# machine: the tests wait for its silence with short limits. Its child has to end as well.
FAKE = r"""#!/bin/sh
case $FAKE_MODE:$* in
hang:*-append* | kvm-hangs:*kvm*-append*)
    printf 'SeaBIOS\r\nBooting from ROM...\r\n'
    sleep 1000 &
    printf '%s\n' $$ $! >"$FAKE_PIDS.unfinished"
    mv "$FAKE_PIDS.unfinished" "$FAKE_PIDS"
    wait ;;
*) exec '{python}' '{fake}' "$@" ;;
esac
"""


def bytes_of_kernel():
    """The least that passes for a bzImage."""
    return bytes(0x202) + b"HdrS" + bytes(100)


def alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


class VmTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bench_vm."))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def set_environment(self, **values):
        for name, value in values.items():
            before = os.environ.get(name)
            os.environ[name] = str(value)
            self.addCleanup(self._restore, name, before)

    @staticmethod
    def _restore(name, before):
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before

    def fake(self, name):
        """Put fake.py in place as a program in a folder of its own. Return: its path."""
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FAKE.format(python=sys.executable, fake=HERE / "fake.py"),
                        encoding="ascii")
        path.chmod(0o755)
        return path

    def fake_everything(self, mode="good"):
        """QEMU on the PATH, a build directory, a kernel. @mode: what the fake QEMU does."""
        self.fake("bin/qemu-system-x86_64")
        for name in ("guest_init", "sem_test_static"):
            self.fake(f"build/bench/vm/{name}")
        self.kernel = self.dir / "vmlinuz"
        self.kernel.write_bytes(bytes_of_kernel())
        self.set_environment(PATH=f"{self.dir / 'bin'}:{os.environ['PATH']}", FAKE_MODE=mode,
                             FAKE_PIDS=self.dir / "pids", IPCWAIT_BENCH_KERNEL=self.kernel)

    def pids(self):
        """Of the fakes that hang, once both are there."""
        self.wait_until("two pids", lambda: (self.dir / "pids").exists() and
                        (self.dir / "pids").read_text().count("\n") == 2)
        return [int(pid) for pid in (self.dir / "pids").read_text().split()]

    def wait_until(self, what, condition):
        end = time.monotonic() + SECONDS_MOST
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain for " + what)
            time.sleep(0.02)


def main():
    """The build directory is the first argument, unittest gets the rest."""
    global BUILD
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD [UNITTEST ARGUMENT]...")
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    brief.main()
