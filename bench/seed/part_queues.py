# SPDX-License-Identifier: MIT
"""Q: the queue in three builds, with wall time and CPU time always side by side."""

import csv
import glob
import io
import os
import shutil

from . import rows, runs

MALLOC = ["seed_list", "urcu_wfcq", "urcu_lfq"]     # also with tcmalloc
ALSO_O0 = ["ipcwait", "seed_list", "seed_cache"]
SLOW = ["urcu_lfq"]         # a fifth of the items, as at -O0
TCMALLOC = "tcmalloc"
WAITS = "waits"             # its consumer, in the queue, where the others yield
SEED = ("the seed's first variant is seed_list, its second the same with tcmalloc, its third "
        "seed_cache; -O2 says how the program was built, libipcwait is -O2 everywhere")
CROWDS = (2, 4)
COLUMNS = ["variant", "memory", "items/s", "items/CPU-s", "CPUs used", "switches", "page faults",
           "peak kB", "yields when empty", "futex calls", "reason"]
PERF_EVENTS = "context-switches,cpu-migrations,page-faults,cycles,instructions,branches"


def tcmalloc():
    """The library to preload."""
    for folder in ("/usr/lib/*", "/usr/lib64", "/usr/local/lib"):
        found = sorted(glob.glob(folder + "/libtcmalloc_minimal.so.4"))
        if found:
            return found[0]
    raise runs.Missing("not available: libtcmalloc-minimal4")


def queues(context):
    """{name: (nodes, use, reason or None)} as queue_test lists them."""
    program = runs.program(context, "bench", "seed", "queue_test")
    found = {}
    for line in runs.run([program, "--list"], 30).splitlines():
        name, nodes, use, why = line.split("\t")
        found[name] = nodes, use, why or None
    return found


def is_ours(name):
    return name.startswith("ipcwait")


def one(context, queue, items, threads=1, level="", preload=None, wait=False):
    program = runs.program(context, "bench", "seed", "queue_test" + level)
    env = {"LD_PRELOAD": preload()} if preload else {}
    f = runs.run_json([program, queue, items, threads, threads, *([WAITS[:-1]] if wait else [])],
                      120, **env)
    f["items_per_second"] = f["items"] / max(f["seconds"], 1e-9)
    f["items_per_cpu_second"] = f["items"] / max(f["cpu_seconds"], 1e-9)
    f["switches"] = f["voluntary_switches"] + f["involuntary_switches"]
    if wait:
        f["futex_calls"] = f["futex_waits"] + f["futex_wakes"]
    return f


def absent(why):
    raise runs.Missing(why)


def variants(context, listed, items):
    """{variant: function}: the seed's three builds, others, and two levels of optimization."""
    few, found = items // 5, {}
    for name, (_, _, why) in listed.items():
        if why:
            found[f"{name} -O2"] = lambda why=why: absent(why)
            continue
        found[f"{name} -O2"] = lambda name=name: one(context, name, few if name in SLOW else items)
        if name in ALSO_O0:
            found[f"{name} -O0"] = lambda name=name: one(context, name, few, level="_O0")
        if is_ours(name):
            found[f"{name} -O2 {WAITS}"] = lambda name=name: one(context, name, items, wait=True)
        if name in MALLOC:
            found[f"{name} -O2 {TCMALLOC}"] = \
                lambda name=name: one(context, name, few if name in SLOW else items,
                                      preload=tcmalloc)
    return found


def crowds(context, listed, items):
    """As many producers as consumers, two and four."""
    cpus = len(os.sched_getaffinity(0))
    found = {}
    for name, (_, use, why) in listed.items():
        if use == "1:1":
            why = "for one producer and one consumer only"
        elif use == "n:1":
            why = "for one consumer only"
        elif use == "in turn" and cpus < 8:
            why = "not available: 8 threads, fewer CPUs, and its producers wait spinning in turn"
        if why:
            found[name] = lambda why=why: absent(why)
            continue
        for n in CROWDS:
            found[f"{name} {n}P{n}C"] = lambda name=name, n=n: one(context, name, items, threads=n)
        if is_ours(name):
            found[f"{name} {CROWDS[-1]}P{CROWDS[-1]}C {WAITS}"] = \
                lambda name=name: one(context, name, items, threads=CROWDS[-1], wait=True)
    return found


def tell(results, listed):
    lines = []
    for name, result in results.items():
        why = runs.reason(result)

        def figure(key, result=result, why=why):
            return None if why else runs.median(result["runs"], key)
        lines.append([name, listed[name.split()[0]][0],
                      *[figure(k) for k in ("items_per_second", "items_per_cpu_second",
                                            "cpus_used", "switches", "page_faults", "max_rss_kb",
                                            "yields_empty", "futex_calls")], why])
    return lines


def sides(results, figure):
    """ours= and peers= of a row: {variant: figure(variant)}."""
    return {"ours": {k: figure(k) for k in results if is_ours(k)},
            "peers": {k: figure(k) for k in results if not is_ours(k)}}


def state_of(results):
    """(state, why): a queue that lost or reordered something has failed."""
    failed = [f"{k}: {runs.reason(v)}" for k, v in results.items() if v["failed"]]
    if failed:
        return rows.FAILED, "; ".join(failed)
    if not any(v["runs"] for v in results.values()):
        return rows.NOT_AVAILABLE, "; ".join(sorted({v["missing"] for v in results.values()}))
    return rows.MEASURED, None


def builds_row(results, listed):
    state, why = state_of(results)
    better, plain = (runs.kept_of(results, name, "items_per_cpu_second")
                     for name in (f"seed_list -O2 {TCMALLOC}", "seed_list -O2"))
    return rows.row("Q-1", state, why or SEED, columns=COLUMNS, lines=tell(results, listed),
                    **sides(results, lambda k: runs.median_of(results, k, "items_per_second")),
                    same_direction=rows.direction(better, plain), raw={"results": results})


def levels_row(results):
    lines, faster, times = [], [], {}
    for name in ALSO_O0:
        slow, fast = (runs.median_of(results, f"{name} {level}", "items_per_second")
                      for level in ("-O0", "-O2"))
        times[name] = rows.quotient(fast, slow)
        lines.append([name, slow, fast, times[name]])
        if not is_ours(name):
            faster.append(rows.direction(*(runs.kept_of(results, f"{name} {level}",
                                                        "items_per_second")
                                           for level in ("-O2", "-O0"))))
    return rows.row("Q-2", rows.MEASURED, "of the program: the library of ours is -O2 in both; -O3 "
                    "and LTO: configure with -Doptimization=3 -Db_lto=true", raw={"in": "Q-1"},
                    columns=["queue", "-O0 items/s", "-O2 items/s", "times"], lines=lines,
                    **sides(times, times.get), same_direction=rows.all_of(faster))


def yields_row(results):
    def per_item(name):
        return rows.quotient(*(runs.median_of(results, name, key)
                               for key in ("yields_empty", "items")))
    lines = [[k, per_item(k), rows.quotient(runs.median_of(results, k, "futex_calls"),
                                            runs.median_of(results, k, "items")),
              runs.median_of(results, k, "items_per_second"),
              runs.median_of(results, k, "items_per_cpu_second")] for k in results]
    return rows.row("Q-6", rows.MEASURED, "a consumer that waits in the queue never yields",
                    **sides(results, per_item), raw={"in": "Q-1"}, lines=lines,
                    columns=["variant", "yields/item", "futex calls/item", "items/s",
                             "items/CPU-s"])


def perf_stat(argv):
    """{event: count, or None where perf says that it is not supported}."""
    if not shutil.which("perf"):
        raise runs.Missing("no perf")
    text = runs.run(["sh", "-c", 'exec 2>&1 >/dev/null; exec perf stat -x, -e "$0" -- "$@"',
                     PERF_EVENTS, *argv], 120)
    found = {}
    for line in csv.reader(io.StringIO(text)):
        if len(line) > 2 and line[2].split(":")[0] in PERF_EVENTS.split(","):
            found[line[2].split(":")[0]] = int(line[0]) if line[0].isdigit() else None
    if not found:
        raise runs.Missing("perf stat counts nothing here")
    return found


def counted(context, listed, items):
    """{queue: {event: count}}, from one run of each under perf stat."""
    program = runs.program(context, "bench", "seed", "queue_test")
    return {name: perf_stat([str(program), name, str(items)])
            for name in ("ipcwait", "seed_list", "seed_cache") if not listed[name][2]}


def counter_rows(context, listed, items):
    """Q-4 and Q-5."""
    try:
        found = counted(context, listed, items)
    except (runs.Missing, runs.Failed) as e:
        yield rows.unavailable("Q-4", f"{e}; switches, faults and memory are in Q-1",
                               refers=["Q-1"])
        yield rows.unavailable("Q-5", str(e))
        return
    events = PERF_EVENTS.split(",")
    for name, mine, why in (("Q-4", events[:3], "for each variant in Q-1, here with perf stat"),
                            ("Q-5", events[3:], None)):
        figures = {f"{k}, {event}": v.get(event) for k, v in found.items() for event in mine}
        if None in figures.values():
            yield rows.unavailable(name, "virtual machine: perf stat says not supported",
                                   raw=figures)
        else:
            yield rows.row(name, rows.MEASURED, why, **sides(figures, figures.get),
                           refers=["Q-1"] if why else [], raw=figures)


def crowd_row(results, listed):
    state, why = state_of(results)
    return rows.row("Q-7", state, why or "sums and the order of each producer were right",
                    columns=COLUMNS, lines=tell(results, listed),
                    **sides(results, lambda k: runs.median_of(results, k, "items_per_second")),
                    raw={"results": results})


def measure(context):
    listed = queues(context)
    items = 5_000_000 if context.quick else 50_000_000
    results = runs.rounds(variants(context, listed, items), progress=context.progress)
    yield builds_row(results, listed)
    yield levels_row(results)
    yield rows.refers("Q-3", ["Q-1", "Q-7"], "both rates stand in every line there")
    yield from counter_rows(context, listed, items)
    yield yields_row(results)
    crowd = runs.rounds(crowds(context, listed, items // 5), progress=context.progress)
    yield crowd_row(crowd, listed)


IDS = [f"Q-{n}" for n in range(1, 8)]
