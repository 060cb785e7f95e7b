# SPDX-License-Identifier: MIT
"""What a person must know to judge the figures: `ipcwait info`, the sources' version, a label."""

import json
import os
import platform
import re
import subprocess

from . import probes
from .errors import shown

LIMIT_S = 20

# Variables that change what is measured, of libipcwait and of its peers. They may be meant, so
# they stay, and are written down.
PRESETS = ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_BIND_NOW", "GLIBC_TUNABLES")
PRESETS_WITH = "MALLOC_"

OTHER_SOURCES = ("not known: --program or --build named what was measured, and it may come from "
                 "other sources")


def for_programs(**more):
    """Of all that is measured, and of `ipcwait info` that goes with it: the caller's, without
    what changes how libipcwait waits. A calibration that was saved is not used, so that two
    results differ by the programs and not by the user's file."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith("IPCWAIT_") or k.startswith("IPCWAIT_BENCH_")}
    return {**kept, "IPCWAIT_CALIBRATION": "none", **more}


def presets():
    """Those that are set, without the paths of this machine."""
    found = {k: v for k, v in os.environ.items()
             if v and (k in PRESETS or k.startswith(PRESETS_WITH))}
    return {k: shown(re.sub(r"[^\s:]*/", "", v)) for k, v in sorted(found.items())}


def output_of(argv, folder=None):
    """(standard output, why there is none)"""
    try:
        r = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=LIMIT_S, check=False, env=for_programs())
    except (OSError, subprocess.TimeoutExpired) as e:
        return None, f"not available: {shown(getattr(e, 'strerror', None) or 'no end')}"
    if r.returncode:
        last = r.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        return None, f"not available: {shown(last) or 'exit status %d' % r.returncode}"
    return r.stdout.decode("utf-8", "replace"), None


def info(build):
    """As `ipcwait info --json` prints it."""
    program = build / "cli" / "ipcwait"
    if not program.exists():
        return {"error": "not available: the ipcwait command is not built"}
    text, why = output_of([str(program), "info", "--json"])
    if text is None:
        return {"error": why}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"error": "not available: no JSON came"}


def git_version(root):
    text, why = output_of(["git", "describe", "--always", "--dirty"], root)
    return text.strip() if text else why


def label(fsroot):
    """When nobody gives one: what kind of machine it is, not whose."""
    guest = " hypervisor" in (probes.read(fsroot, "proc/cpuinfo") or "")
    cpus = probes.cpus(fsroot)
    return f"{cpus or '?'} CPUs, {platform.machine()}{', guest' if guest else ''}"


def read(context, chosen_label):
    found = info(context.build)
    found["git"] = None if context.named else git_version(context.root)
    if context.named:
        found["git_reason"] = OTHER_SOURCES
    found["host_label"] = chosen_label or label(context.fsroot)
    return found
