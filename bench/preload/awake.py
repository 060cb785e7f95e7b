# SPDX-License-Identifier: MIT
"""Idle CPUs that are kept from sleeping: by who holds the kernel's file, by ipcwait awake, or by
busy processes."""

import contextlib
import functools
import os
import re
import struct
import subprocess
import time

from harness.environment import for_programs
from harness.errors import Ending, reason, refused, shown

LATENCY = "/dev/cpu_dma_latency"
SAYS = "ipcwait: awake:"
LIMIT_S = 10
SCHEDULED = 2       # CPUCLOCK_SCHED


def hold_awake():
    """Idle CPUs do not sleep deeper than such as answer at once, as long as this is open."""
    try:
        held = open(LATENCY, "wb", buffering=0)
        held.write(struct.pack("i", 0))
    except OSError as e:
        raise refused(f"--cheap: cannot write {LATENCY}: {reason(e)}") from e
    return held


def compute_on(cpu, policy):
    os.sched_setscheduler(0, policy, os.sched_param(0))
    os.sched_setaffinity(0, {cpu})


@contextlib.contextmanager
def busy(cpus, policy=os.SCHED_OTHER):
    """Processes that compute, one on each of the CPUs."""
    processes = []
    try:
        for cpu in cpus:
            processes.append(subprocess.Popen(["sh", "-c", "while :; do :; done"],
                                              preexec_fn=functools.partial(compute_on, cpu, policy)))
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def cpu_time_s(processes):
    """What they have computed, by the clock that the kernel has for each process."""
    return sum(time.clock_gettime(~process.pid << 3 | SCHEDULED) for process in processes)


def hogs():
    """The work-around of old: a busy process of the lowest class keeps each CPU from halting."""
    return busy(sorted(os.sched_getaffinity(0)), os.SCHED_IDLE)


def beside(arm):
    """What there is while a program runs under the arm."""
    if arm.held:
        return hold_awake()
    return hogs() if arm.hog else contextlib.nullcontext()


def why_not_held(cheap):
    """Why an arm cannot hold the file, or None. Without --cheap that is an arm less."""
    if cheap:
        return "the same as none with --cheap"
    try:
        hold_awake().close()
    except Ending as e:
        return "not available: " + str(e).removeprefix("--cheap: ")
    return None


def why_not_awake(command):
    """Why ipcwait awake can do nothing here, or None. A program beside it then runs plainly, and
    would be measured as if it could."""
    try:
        done = subprocess.run([str(command), "awake", "--status"], env=for_programs(), check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as e:
        return f"not available: {shown(e)}"
    m = re.search(r"^choice +(.*)$", done.stdout, re.M)
    if done.returncode or not m:
        return "not available: ipcwait awake --status fails"
    nothing = re.match("nothing: (.*)", m[1])
    return f"not available: {nothing[1]}" if nothing else None


def said_by_it(text):
    """(the lines of ipcwait awake, the rest)"""
    lines = text.splitlines(keepends=True)
    return ([line.strip() for line in lines if line.startswith(SAYS)],
            "".join(line for line in lines if not line.startswith(SAYS)))
