# SPDX-License-Identifier: MIT
"""System calls of a program, counted from outside: perf trace -s, or strace where it cannot.

A table is {call: {"calls", "errors", "total_ms", "min_ms", "avg_ms", "max_ms", "stddev_percent"}},
of all threads together. stddev_percent is the standard error of the mean, divided by the mean,
as perf prints it.
"""

import math
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness.environment import for_programs
from texts import shown

from .runs import Failed, Missing, run

COLUMNS = ["calls", "errors", "total_ms", "min_ms", "avg_ms", "max_ms", "stddev_percent"]

PERF_LINE = re.compile(r"^\s+(\w+)\s+(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)"
                       r"\s+([\d.]+|-?nan)%\s*$")
PERF_THREAD = re.compile(r"^ (.+) \((\d+)\), (\d+) events")
STRACE_LINE = re.compile(r"^(?:(\d+)\s+)?(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$")
STRACE_END = re.compile(r"= (\S+)[^<]*(?:.*)<([\d.]+)>\s*$")


def merge(lines):
    """One line of several, each with its number of calls, mean and standard error."""
    calls = sum(x["calls"] for x in lines)
    mean = sum(x["calls"] * x["avg_ms"] for x in lines) / max(calls, 1)
    squares = 0.0
    for x in lines:
        n = x["calls"]
        error = x["stddev_percent"] / 100 * x["avg_ms"]
        squares += n * (n - 1) * error ** 2 + n * (x["avg_ms"] - mean) ** 2
    deviation = math.sqrt(squares / (calls - 1) / calls) if calls > 1 else 0.0
    return {"calls": calls, "errors": sum(x["errors"] for x in lines),
            "total_ms": sum(x["total_ms"] for x in lines),
            "min_ms": min(x["min_ms"] for x in lines), "avg_ms": mean,
            "max_ms": max(x["max_ms"] for x in lines),
            "stddev_percent": 100 * deviation / mean if mean else 0.0}


def parse_perf(text):
    """(table, threads); a thread is {"name", "tid", "calls": {call: count}}."""
    lines, threads = {}, []
    for line in text.splitlines():
        head = PERF_THREAD.match(line)
        if head:
            threads.append({"name": shown(head[1], 40), "tid": int(head[2]), "calls": {}})
        found = PERF_LINE.match(line)
        if not found or not threads:
            continue
        values = [float(v.replace("-nan", "0").replace("nan", "0")) for v in found.groups()[1:]]
        entry = dict(zip(COLUMNS, values))
        entry["calls"], entry["errors"] = int(values[0]), int(values[1])
        lines.setdefault(found[1], []).append(entry)
        threads[-1]["calls"][found[1]] = entry["calls"]
    return {call: merge(entries) for call, entries in lines.items()}, threads


def parse_strace(text):
    """The same from the output of strace -f -T."""
    times, errors, threads = {}, {}, {}
    for line in text.splitlines():
        found = STRACE_LINE.match(line)
        end = STRACE_END.search(line) if found else None
        if not end:
            continue            # the first half of a call, or the end of a thread
        call, tid = found[2] or found[3], int(found[1] or 0)
        times.setdefault(call, []).append(float(end[2]) * 1e3)
        errors[call] = errors.get(call, 0) + (end[1] == "-1")
        mine = threads.setdefault(tid, {"name": "", "tid": tid, "calls": {}})["calls"]
        mine[call] = mine.get(call, 0) + 1
    single = {"errors": 0, "stddev_percent": 0.0, "calls": 1}
    table = {}
    for call, spent in times.items():
        table[call] = merge([{**single, "total_ms": t, "min_ms": t, "avg_ms": t, "max_ms": t}
                             for t in spent])
        table[call]["errors"] = errors[call]
    return table, list(threads.values())


def commands(output, calls):
    """Who can trace, best first: (name, command line before the program's, parser)."""
    perf = ["perf", "trace", "-s", "-o", output]
    strace = ["strace", "-f", "-T", "-o", output]
    if calls:
        perf += ["-e", ",".join(calls)]
        # Other calls go on without stopping: the programs make a million writes.
        strace += ["--seccomp-bpf", "-e", "trace=" + ",".join(calls)]
    return [("perf trace -s", perf + ["--"], parse_perf),
            ("strace -f -T", strace, parse_strace)]


def works(before):
    """A tracer that may not trace says so for the shortest program, too."""
    try:
        done = subprocess.run([*before, "true"], stdin=subprocess.DEVNULL, timeout=20,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=for_programs(LC_ALL="C"))
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def trace(argv, seconds, calls=None, **env):
    """(source, table, threads) of a run of the program."""
    with tempfile.TemporaryDirectory(prefix="seed.") as folder:
        output = str(Path(folder, "trace"))
        for source, before, parse in commands(output, calls):
            if not shutil.which(before[0]) or not works(before):
                continue
            run([*before, *argv], seconds, **env)
            table, threads = parse(Path(output).read_text(encoding="utf-8", errors="replace"))
            if not table and not calls:
                raise Failed(f"{source} printed no table")
            return source, table, threads
    raise Missing("neither perf trace nor strace works here")
