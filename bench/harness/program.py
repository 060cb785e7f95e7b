# SPDX-License-Identifier: MIT
"""The benchmark program: its list, and one run of one benchmark in a process of its own."""

import hashlib
import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

from . import names
from .environment import for_programs
from .errors import Ending, reason, refused, shown
from .interrupts import Interrupted, held

# A benchmark that has not ended by then never will.
HANGS_AFTER_S = float(os.environ.get("IPCWAIT_BENCH_LIMIT_S", 60))
LIST_LIMIT_S = 20


def fingerprint(program):
    """The program's identity, so that an interrupted run goes on with the same one."""
    try:
        return hashlib.sha256(Path(program).read_bytes()).hexdigest()
    except OSError as e:
        raise refused(f"cannot read the program {shown(program)}: {reason(e)}") from e


def end(child):
    """Whatever is left of the child's process group. It is reaped afterwards, so the number
    is still its own."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def wait(child, limit_s):
    """(exit status or None after the time-out, resources used)"""
    handle, ended = None, False
    try:
        handle = os.pidfd_open(child.pid)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        ended = bool(poll.poll(limit_s * 1000))
    finally:
        end(child)
        with held():
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if handle is not None:
            os.close(handle)
    return child.returncode if ended else None, used


def start(argv, folder):
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                start_new_session=True, env=for_programs())


def start_safely(argv, folder):
    """An interruption meanwhile comes when the child is there, and ends it."""
    child = None
    try:
        with held():
            child = start(argv, folder)
    except Interrupted:
        if child is not None:
            end(child)
            child.wait()
        raise
    except OSError as e:
        raise refused(f"cannot start {shown(argv[0])}: {reason(e)}") from e
    return child


def execute(argv, folder, limit_s):
    """Run to the end: status, seconds, CPU seconds, involuntary switches per second."""
    begin = time.monotonic()
    status, used = wait(start_safely(argv, folder), limit_s)
    wall = time.monotonic() - begin
    return {"status": status, "wall_s": wall, "own_cpu_s": used.ru_utime + used.ru_stime,
            "involuntary_per_s": used.ru_nivcsw / wall if wall > 0 else 0.0}


def last_line(folder):
    lines = (folder / "stderr").read_text("utf-8", "replace").split("\n")
    lines = [line for line in lines if line.strip()]
    return shown(lines[-1]) if lines else "it said nothing"


def failure(done, folder, limit_s):
    """What went wrong with the process itself, None if nothing did."""
    status = done["status"]
    if status is None:
        return f"hung: no end after {limit_s:g} s"
    if status < 0:
        return f"crashed: {signal.strsignal(-status) or -status}"
    if status > 0:
        return f"exit status {status}: {last_line(folder)}"
    return None


def listed(program, folder):
    """The names as the program lists them, by the name used everywhere."""
    done = execute([str(program), "--benchmark_list_tests=true"], folder, LIST_LIMIT_S)
    why = failure(done, folder, LIST_LIMIT_S)
    if why:
        raise Ending(f"{shown(program)} does not list its benchmarks: {why}")
    lines = (folder / "stdout").read_text("utf-8", "replace").split("\n")
    found = {names.plain(line.strip()): line.strip() for line in lines if line.strip()}
    if not found:
        raise Ending(f"{shown(program)} lists no benchmarks")
    return found


def row_of(folder, name):
    """(context, row) of this benchmark from the program's output; ValueError if there is none."""
    text = (folder / "stdout").read_text("utf-8", "replace")
    try:
        output = json.loads(text)
        rows = [r for r in output["benchmarks"] if r.get("run_type", "iteration") == "iteration"
                and names.plain(r["name"]) == name]
        context = dict(output["context"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise ValueError(f"wrote no results: {last_line(folder)}") from e
    if not rows:
        raise ValueError(f"wrote no row for itself: {last_line(folder)}")
    return context, rows[-1]


def histograms_of(path, name):
    """The last one of each kind: the program measures until the time is long enough."""
    found = {}
    if not path.exists():
        return found
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            entry = json.loads(line)
            if names.plain(entry["name"]) == name:
                found[entry["histogram"]] = {"unit": entry["unit"], "buckets": entry["buckets"]}
        except (ValueError, KeyError, TypeError):
            continue  # a line cut off when the program ended early
    return found


def measure(program, name, listed_name, min_time_s, folder):
    """One run. (figures of the process, context, row): a failed run's row has an error."""
    histograms = folder / "histograms"
    histograms.unlink(missing_ok=True)
    argv = [str(program), "--benchmark_filter=" + names.exactly(listed_name),
            "--benchmark_format=json", f"--benchmark_min_time={min_time_s:g}",
            f"--histograms={histograms}"]
    done = execute(argv, folder, HANGS_AFTER_S)
    why = failure(done, folder, HANGS_AFTER_S)
    context, row = None, None
    if not why:
        try:
            context, row = row_of(folder, name)
        except ValueError as e:
            why = str(e)
    if why:
        row = {"error_occurred": True, "error_message": why}
    del done["status"]
    done["histograms"] = histograms_of(histograms, name)
    return done, context, row
