# SPDX-License-Identifier: MIT
"""G: the seed's Go programs, in Go, and in C over channels of libipcwait and of others.

A run whose total is wrong has FAILED, however fast it was.
"""

import os

from . import checksum, rows, runs, tracing

TESTS = {"G-1": "file", "G-2": "server", "G-3": "serverchannel"}
QUICK = {"file": 2_000_000, "server": 10_000, "serverchannel": 10_000, "seda": 1000}
FULL = {"file": 20_000_000, "server": 300_000, "serverchannel": 300_000, "seda": 10_000}
C_QUICK, C_FULL = 1000, 10_000      # a glibc channel sleeps at every message
COUNTED = ["futex", "sched_yield", "nanosleep", "epoll_pwait"]
OURS = "ipcwait"                    # channels whose name begins so
WRITES = {"file, C": "direct", "file, ipcwait channel": "channel",
          "file, ipcwait channel, 64 in a send": "batches"}
BUSIEST = 4                         # threads of a program that are shown


def size(context, test):
    return (QUICK if context.quick else FULL)[test]


def checked(test, rounds, figures):
    """The figures of a run, with the time per unit; a wrong total is a failure."""
    total = figures.get("total", figures.get("bytes"))
    wrong = checksum.problem(test, rounds, total)
    if wrong:
        raise runs.Failed(wrong.removeprefix("FAILED: "))
    units = figures.get("messages", figures.get("writes"))
    figures["ns_per_unit"] = figures["seconds"] * 1e9 / units
    figures["cpu_ns_per_unit"] = figures["cpu_seconds"] * 1e9 / units
    return figures


def go_run(context, test, procs, rounds):
    program = runs.program(context, "bench", "seed", "go_" + test, package="golang-go")
    return checked(test, rounds, runs.run_json([program, rounds], 300, GOMAXPROCS=str(procs)))


def write_run(context, how, rounds):
    program = runs.program(context, "bench", "seed", "write_test")
    return checked("file", rounds, runs.run_json([program, rounds, how], 300))


def c_run(context, test, channel, rounds):
    program = runs.program(context, "bench", "seed", "channel_test")
    return checked(test, rounds, runs.run_json([program, test, channel, rounds], 300))


def channels(context):
    """{name: reason why it was not built, or None}."""
    program = runs.program(context, "bench", "seed", "channel_test")
    lines = runs.run([program, "--list"], 30).splitlines()
    return {name: why or None for name, why in (line.split("\t") for line in lines)}


def go_variants(context, test):
    rounds = size(context, test)
    return {f"{test}, Go, GOMAXPROCS={p}":
            lambda p=p: go_run(context, test, p, rounds) for p in (1, 2)}


def c_variants(context, test):
    if test == "file":
        return {name: lambda how=how: write_run(context, how, size(context, test))
                for name, how in WRITES.items()}

    def one(name, why):
        if why:
            raise runs.Missing(why)
        rounds = C_QUICK if context.quick else C_FULL
        return c_run(context, test, name, rounds)
    return {f"{test}, {name} channel": lambda name=name, why=why: one(name, why)
            for name, why in channels(context).items()}


def sides(found):
    """ours= and peers= of a row, by the names of what was run."""
    return {"ours": {k: v for k, v in found.items() if OURS in k},
            "peers": {k: v for k, v in found.items() if OURS not in k}}


def tell(results):
    """(columns, lines, {variant: ns per unit}, the failures) of the results of rounds()."""
    lines, units, failures = [], {}, []
    for name, result in results.items():
        why = runs.reason(result)
        if why and result["failed"]:
            failures.append(f"{name}: {why}")
        ns = None if why else runs.median(result["runs"], "ns_per_unit")
        cpu = None if why else runs.median(result["runs"], "cpu_ns_per_unit")
        last = result["runs"][-1] if result["runs"] else {}
        total = last.get("total", last.get("bytes"))
        units[name] = ns
        lines.append([name, ns, cpu, None if total is None else str(total), why])
    return ["variant", "ns/unit", "CPU ns/unit", "total", "reason"], lines, units, failures


def test_row(context, name, results):
    test = TESTS[name]
    columns, lines, units, failures = tell(results)
    state, why = rows.MEASURED, None
    if test == "file":
        why = "the kernel's work alone, but where records go through a channel and into writev"
    if failures:
        state, why = rows.FAILED, "; ".join(failures)
    elif all(v is None for v in units.values()):
        state, why = rows.NOT_AVAILABLE, "; ".join(sorted({line[-1] for line in lines}))
    return rows.row(name, state, why, **sides(units), columns=columns, lines=lines,
                    raw={"size": size(context, test), "results": results})


def counted(context, who, test, procs):
    """Calls of a run that is traced, not timed. libipcwait's runs on as many CPUs as Go uses."""
    if who == "Go":
        program = [runs.program(context, "bench", "seed", "go_" + test, package="golang-go")]
        rounds = QUICK[test]
    else:
        program = [runs.program(context, "bench", "seed", "channel_test"), test, who]
        rounds = C_QUICK
        if procs == 1:
            program = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *program]
    source, table, threads = tracing.trace([*program, rounds], 120, COUNTED,
                                           GOMAXPROCS=str(procs))
    messages = rounds * 2 * checksum.WORKERS
    calls = {call: table.get(call, {}).get("calls", 0) for call in COUNTED}
    return {"who": who, "test": test, "procs": procs, "source": source, "messages": messages,
            "calls": calls, "futex_percent": 100 * calls["futex"] / messages, "threads": threads}


def count_all(context):
    found = []
    for who in (OURS, "Go"):
        for test in ("server", "serverchannel"):
            for procs in (1, 2):
                context.progress(f"calls of {test}, {who}, {procs} CPUs")
                found.append(counted(context, who, test, procs))
    return found


def futex_row(name, found, direction):
    lines = [[c["who"], c["test"], c["procs"], c["futex_percent"], *c["calls"].values(),
              c["source"]] for c in found]
    units = {f"{c['who']}, {c['test']}, CPUs: {c['procs']}": c["futex_percent"] for c in found}
    return rows.row(name, rows.MEASURED, "the claim is judged by Go's; each worker of libipcwait's "
                    "is a thread of its own", **sides(units), same_direction=direction,
                    columns=["channel", "test", "CPUs", "futex/message %", *COUNTED, "source"],
                    lines=lines, raw={"runs": found})


def thread_row(found):
    lines = []
    for c in found:
        if c["procs"] == 2:
            busiest = sorted(c["threads"], key=lambda t: -sum(t["calls"].values()))[:BUSIEST]
            lines += [[c["who"], c["test"], t["name"], t["tid"],
                       *[t["calls"].get(k, 0) for k in COUNTED]] for t in busiest]
    return rows.row("G-6", rows.MEASURED, f"the {BUSIEST} threads of each program with the most "
                    f"calls, by {found[0]['source']}; libipcwait itself counts per process",
                    columns=["channel", "test", "thread", "id", *COUNTED], lines=lines,
                    raw={"in": "G-8"})


def futex_rows(context):
    try:
        found = count_all(context)
    except (runs.Missing, runs.Failed) as e:
        state = rows.FAILED if isinstance(e, runs.Failed) else rows.NOT_AVAILABLE
        return [rows.unavailable(i, str(e), state) for i in ("G-6", "G-8", "G-9")]
    two, one = ([c["futex_percent"] for c in found if c["who"] == "Go" and c["procs"] == n]
                for n in (2, 1))
    return [thread_row(found), futex_row("G-8", found, rows.direction(10, max(two))),
            futex_row("G-9", found, rows.direction(max(two), max(one), 2))]


def seda_row(context):
    results = runs.rounds({**go_variants(context, "seda"), **c_variants(context, "seda")},
                          progress=context.progress)
    columns, lines, units, failures = tell(results)
    state = rows.FAILED if failures else rows.MEASURED
    return rows.row("G-5", state, "; ".join(failures) or None, **sides(units), columns=columns,
                    lines=lines, raw={"results": results})


def measure(context):
    variants = {}
    for test in TESTS.values():
        variants.update(go_variants(context, test))
        variants.update(c_variants(context, test))
    results = runs.rounds(variants, progress=context.progress)
    found = {}
    for name, test in TESTS.items():
        mine = {k: v for k, v in results.items() if k.startswith(test + ",")}
        found[name] = test_row(context, name, mine)
    both = [runs.kept_of(results, f"{test}, Go, GOMAXPROCS=2", "ns_per_unit")
            for test in ("server", "serverchannel")]
    found["G-2"]["same_direction"] = rows.direction(*both)
    yield from found.values()
    yield rows.refers("G-4", list(TESTS), "Go and C side by side there; Rust is not built: no "
                      "program in Rust here")
    yield seda_row(context)
    yield from futex_rows(context)
    yield rows.refers("G-7", ["M-6"], "the same columns for the semaphore test")


IDS = [f"G-{n}" for n in range(1, 10)]
