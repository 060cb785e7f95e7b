# SPDX-License-Identifier: MIT
"""M-2 to M-6: what the semaphore test costs the machine, a run per row with counters around it."""

import time

from harness import probes

from . import counters, rows, runs, tracing
from .part_sem import by_row, sem_test

# Runs of about a second, as CPU time is counted in ticks.
ITEMS = {"glibc": 60000, "ipcwait": 800000, "hog": 60000}
NO_POWER = "not available: no powercap here"
NO_IDLE = "not available: no cpuidle here"


def observed(context, kind):
    """One run of one row, and the difference of all counters of the machine."""
    before, began = counters.snapshot(), time.monotonic()
    result = sem_test(context, ITEMS[kind], 2000, "--rows", kind, repeat=1)
    after, seconds = counters.snapshot(), time.monotonic() - began
    one = by_row(result)[kind]["runs"][0]
    return {"items": ITEMS[kind], "seconds": one["seconds"], "cpu_seconds": one["cpu_seconds"],
            "whole_seconds": seconds,
            "interrupts": probes.difference(before["interrupts"], after["interrupts"]),
            "idle": probes.idle_difference(before["idle"], after["idle"], seconds),
            "shares": counters.shares(before["cpu"], after["cpu"]),
            "joules": counters.joules(before["energy"], after["energy"])}


def returns(run):
    """T, C, T^2/C, watts and T/P of one run."""
    throughput = run["items"] / run["seconds"]
    busy = run["cpu_seconds"] / run["seconds"]
    watts = None if run["joules"] is None else run["joules"] / run["whole_seconds"]
    return {"throughput": throughput, "busy": busy, "cpu": rows.quotient(throughput ** 2, busy),
            "watts": watts, "power": rows.quotient(throughput, watts)}


def roi_row(observations):
    every = {k: [returns(r) for r in v] for k, v in observations.items()}
    median = {k: {f: runs.median(v, f) for f in v[0]} for k, v in every.items()}
    lines, gains = [], {}
    for kind, m in median.items():
        gains[kind] = rows.quotient(m["cpu"], median["glibc"]["cpu"])
        lines.append([kind, m["throughput"], m["busy"], m["watts"], gains[kind],
                      rows.quotient(m["power"], median["glibc"]["power"])])
    no_power = median["glibc"]["watts"] is None
    return rows.measured(
        "M-2", columns=["row", "items/s", "CPUs", "watts", "T^2/C", "T/P"], lines=lines,
        ours={"ipcwait": gains["ipcwait"]},
        peers={k: v for k, v in gains.items() if k != "ipcwait"},
        same_direction=rows.spinning(*(runs.kept(every[k], "cpu") for k in ("ipcwait", "glibc"))),
        why=("T/P " + NO_POWER + ", T^2/C has CPU seconds") if no_power else None,
        raw={k: [{f: r[f] for f in r if f not in ("idle", "shares")} for r in v]
             for k, v in observations.items()})


def idle_row(observations):
    lines = []
    for kind, seen in observations.items():
        for state in seen[-1]["idle"] or []:
            share = None if state["share"] is None else 100 * state["share"]
            lines.append([kind, state["cpu"], state["name"], share, state["usage"],
                          state["above"], state["below"]])
    if not lines:
        return rows.unavailable("M-3", NO_IDLE)
    return rows.measured(
        "M-3", lines=lines,
        columns=["row", "CPU", "state", "% of the time", "entries", "too deep", "too shallow"],
        why="of the last run of each row, its start included; raw has all runs",
        raw={k: [r["idle"] for r in v] for k, v in observations.items()})


def shares_row(observations):
    """M-4, with the kinds of time of each row."""
    kinds = ["user", "system", "softirq", "iowait", "steal", "idle"]
    lines = []
    for kind, seen in observations.items():
        if seen[-1]["shares"] is None:
            return rows.unavailable("M-4", "not available: no /proc/stat")
        lines.append([kind, *[runs.median([r["shares"] for r in seen], k) for k in kinds]])
    return rows.measured("M-4", columns=["row", *kinds], lines=lines,
                         why="idle and iowait are both time in which nothing ran; the start of "
                             "the program is included",
                         raw={k: [r["shares"] for r in v] for k, v in observations.items()})


def calls_row(context):
    lines, raw, sources = [], {}, set()
    for kind in ("glibc", "ipcwait"):
        context.progress(f"system calls of {kind}")
        program = runs.program(context, "examples", "sem_test", "sem_test")
        argv = [program, 5000, 2000, "--rows", kind, "--repeat", 1, "--no-progress"]
        source, table, _ = tracing.trace(argv, 120)
        sources.add(source)
        raw[kind] = table
        most = sorted(table, key=lambda c: -table[c]["total_ms"])[:8]
        lines += [[kind, call, *[table[call][c] for c in tracing.COLUMNS]] for call in most]
    futex = {k: t.get("futex", {}).get("calls", 0) for k, t in raw.items()}
    return rows.measured(
        "M-6", columns=["row", "call", *tracing.COLUMNS], lines=lines,
        ours={"ipcwait futex calls": futex["ipcwait"]},
        peers={"glibc futex calls": futex["glibc"]},
        why=f"by {', '.join(sorted(sources))}: 5000 items, the eight calls with most time, the "
            "whole program with its start; a traced call takes longer",
        raw=raw)


def observe(context):
    """{row: [a run, ...]}, in interleaved rounds."""
    results = runs.rounds({k: lambda k=k: observed(context, k) for k in ITEMS},
                          3 if context.quick else runs.ROUNDS, context.progress)
    for result in results.values():
        if result["failed"]:
            raise runs.Failed(result["failed"])
        if result["missing"]:
            raise runs.Missing(result["missing"])
    return {k: v["runs"] for k, v in results.items()}


def measure(context):
    observations = observe(context)
    yield roi_row(observations)
    yield idle_row(observations)
    yield shares_row(observations)
    yield rows.refers("M-5", ["M-4"], "the kinds of CPU time of each row stand there")
    try:
        yield calls_row(context)
    except (runs.Missing, runs.Failed) as e:
        failed = isinstance(e, runs.Failed)
        yield rows.unavailable("M-6", str(e), rows.FAILED if failed else rows.NOT_AVAILABLE)


IDS = [f"M-{n}" for n in range(2, 7)]
