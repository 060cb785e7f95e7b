# SPDX-License-Identifier: MIT
"""The guest's kernel: one's own, or Debian's cloud kernel, fetched and unpacked but not installed.

apt checks the package against its signed lists. The kernel is kept in a cache and never committed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from .errors import VmError
from .stream import shown

VARIABLE = "IPCWAIT_BENCH_KERNEL"
META_PACKAGE = "linux-image-cloud-amd64"
FETCH_SECONDS_MOST = 300

# The boot protocol's magic number, and where it stands.
MAGIC, MAGIC_AT = b"HdrS", 0x202


def check(path):
    """@path as a Path. VmError unless it looks like a kernel that QEMU can start."""
    try:
        with open(path, "rb") as f:
            f.seek(MAGIC_AT)
            magic = f.read(len(MAGIC))
    except OSError as e:
        raise VmError(f"cannot read the kernel '{shown(str(path))}': {e.strerror}") from None
    if magic != MAGIC:
        raise VmError(f"'{shown(str(path))}' is not an x86 Linux kernel (bzImage)")
    return pathlib.Path(path)


def _run(argv, cwd):
    try:
        r = subprocess.run(argv, cwd=cwd, text=True, errors="replace", capture_output=True,
                           stdin=subprocess.DEVNULL, timeout=FETCH_SECONDS_MOST, check=False)
    except subprocess.TimeoutExpired:
        raise VmError(f"{argv[0]} took more than {FETCH_SECONDS_MOST} s to fetch a kernel; "
                      f"give one with {VARIABLE}=FILE") from None
    if r.returncode:
        said = [line for line in r.stderr.splitlines() if line.startswith("E:")]
        said = said or r.stderr.strip().splitlines() or [f"status {r.returncode}"]
        raise VmError(f"no guest kernel: {argv[0]}: {shown(said[-1])}; try apt-get update, or "
                      f"give one with {VARIABLE}=FILE")
    return r.stdout


def _package(folder):
    """The package with the kernel itself; the other one only depends on it."""
    text = _run(["apt-cache", "depends", META_PACKAGE], folder)
    found = re.search(r"Depends: (linux-image-\d[\w.+-]*-cloud-amd64)\s", text)
    if not found:
        raise VmError(f"no guest kernel: {META_PACKAGE} names none; give one with {VARIABLE}=FILE")
    return found[1]


def _fetch(cache):
    missing = [p for p in ("apt-cache", "apt-get", "dpkg-deb") if not shutil.which(p)]
    if missing:
        raise VmError(f"no guest kernel: {missing[0]} is missing, this is not Debian; give one "
                      f"with {VARIABLE}=FILE")
    with tempfile.TemporaryDirectory(prefix="kernel.", dir=cache) as folder:
        _run(["apt-get", "-q", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20",
              "download", _package(folder)], folder)
        for package in pathlib.Path(folder).glob("*.deb"):
            _run(["dpkg-deb", "-x", package.name, "unpacked"], folder)
        images = sorted(pathlib.Path(folder, "unpacked", "boot").glob("vmlinuz-*"))
        if not images:
            raise VmError(f"no guest kernel: {META_PACKAGE} has none; give one with "
                          f"{VARIABLE}=FILE")
        kept = pathlib.Path(cache) / check(images[-1]).name
        os.replace(images[-1], kept)
    return kept


def find(cache, progress=None, own=None):
    """The kernel to boot: @own, IPCWAIT_BENCH_KERNEL, the cached one, or a fresh one."""
    own = own or os.environ.get(VARIABLE)
    if own:
        return check(own)
    try:
        pathlib.Path(cache).mkdir(parents=True, exist_ok=True)
        cached = sorted(pathlib.Path(cache).glob("vmlinuz-*"), key=os.path.getmtime)
        if cached:
            return check(cached[-1])
        if progress:
            progress(f"fetching {META_PACKAGE}")
        return _fetch(cache)
    except OSError as e:
        raise VmError(f"cannot use '{shown(str(cache))}': {e.strerror}") from None
