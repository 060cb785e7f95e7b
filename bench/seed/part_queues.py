# SPDX-License-Identifier: MIT
"""Q: the queue in three builds, with wall time and CPU time always side by side."""

import csv
import glob
import io
import os
import shutil

from . import rows, runs

VARIANT_1 = ["urcu_wfcq", "urcu_lfq"]
ALSO_O0 = ["urcu_wfcq", "boost"]
SLOW = ["urcu_lfq"]         # a fifth of the items, as at -O0
TCMALLOC = "tcmalloc"
NO_QUEUE = "libipcwait has no queue yet; the peers' side is measured"
COLUMNS = ["variant", "memory", "items/s", "items/CPU-s", "CPUs used", "switches", "page faults",
           "peak kB", "yields when empty", "reason"]
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


def one(context, queue, items, threads=1, level="", preload=None):
    program = runs.program(context, "bench", "seed", "queue_test" + level)
    env = {"LD_PRELOAD": preload()} if preload else {}
    f = runs.run_json([program, queue, items, threads, threads], 120, **env)
    f["items_per_second"] = f["items"] / max(f["seconds"], 1e-9)
    f["items_per_cpu_second"] = f["items"] / max(f["cpu_seconds"], 1e-9)
    f["switches"] = f["voluntary_switches"] + f["involuntary_switches"]
    return f


def absent(why):
    raise runs.Missing(why)


def variants(context, listed, items):
    """{variant: function}, the seed's three builds and two levels of optimization."""
    few, found = items // 5, {}
    for name, (_, _, why) in listed.items():
        if why:
            found[f"{name} -O2"] = lambda why=why: absent(why)
            continue
        found[f"{name} -O2"] = lambda name=name: one(context, name, few if name in SLOW else items)
        if name in ALSO_O0:
            found[f"{name} -O0"] = lambda name=name: one(context, name, few, level="_O0")
        if name in VARIANT_1:
            found[f"{name} -O2 {TCMALLOC}"] = \
                lambda name=name: one(context, name, few if name in SLOW else items,
                                      preload=tcmalloc)
    return found


def crowds(context, listed, items):
    """Four producers and four consumers."""
    cpus = len(os.sched_getaffinity(0))
    found = {}
    for name, (_, use, why) in listed.items():
        if use == "1:1":
            why = "for one producer and one consumer only"
        elif use == "in turn" and cpus < 8:
            why = "not available: 8 threads, fewer CPUs, and its producers wait spinning in turn"
        found[name] = (lambda why=why: absent(why)) if why else \
            (lambda name=name: one(context, name, items, threads=4))
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
                                            "yields_empty")], why])
    return lines


def state_of(results):
    """(state, why): a queue that lost or reordered something has failed."""
    failed = [f"{k}: {runs.reason(v)}" for k, v in results.items() if v["failed"]]
    if failed:
        return rows.FAILED, "; ".join(failed)
    if not any(v["runs"] for v in results.values()):
        return rows.NOT_AVAILABLE, "; ".join(sorted({v["missing"] for v in results.values()}))
    return rows.NOT_YET, NO_QUEUE


def builds_row(results, listed):
    state, why = state_of(results)
    better, plain = (runs.kept_of(results, name, "items_per_cpu_second")
                     for name in (f"urcu_wfcq -O2 {TCMALLOC}", "urcu_wfcq -O2"))
    return rows.row("Q-1", state, why, columns=COLUMNS, lines=tell(results, listed),
                    peers={k: runs.median_of(results, k, "items_per_second") for k in results},
                    same_direction=rows.direction(better, plain), raw={"results": results})


def levels_row(results):
    lines, faster = [], []
    for name in ALSO_O0:
        faster.append(rows.direction(*(runs.kept_of(results, f"{name} {level}",
                                                    "items_per_second")
                                       for level in ("-O2", "-O0"))))
        slow = runs.median_of(results, f"{name} -O0", "items_per_second")
        fast = runs.median_of(results, f"{name} -O2", "items_per_second")
        lines.append([name, slow, fast, rows.quotient(fast, slow)])
    return rows.row("Q-2", rows.NOT_YET, NO_QUEUE + "; -O3 and LTO: configure with "
                    "-Doptimization=3 -Db_lto=true", raw={"in": "Q-1"},
                    columns=["queue", "-O0 items/s", "-O2 items/s", "times"], lines=lines,
                    peers={line[0]: line[-1] for line in lines},
                    same_direction=rows.all_of(faster))


def yields_row(results):
    peers = {k: rows.quotient(*(runs.median_of(results, k, key)
                                for key in ("yields_empty", "items"))) for k in results}
    return rows.row("Q-6", rows.NOT_YET, NO_QUEUE, peers=peers, raw={"in": "Q-1"})


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


def counter_rows(context, items):
    """Q-4 and Q-5, from one run under perf stat."""
    try:
        program = runs.program(context, "bench", "seed", "queue_test")
        found = perf_stat([str(program), "urcu_wfcq", str(items)])
    except (runs.Missing, runs.Failed) as e:
        yield rows.unavailable("Q-4", f"{e}; switches, faults and memory are in Q-1",
                               refers=["Q-1"])
        yield rows.unavailable("Q-5", str(e))
        return
    soft = {k: found.get(k) for k in PERF_EVENTS.split(",")[:3]}
    hard = {k: found.get(k) for k in PERF_EVENTS.split(",")[3:]}
    yield rows.row("Q-4", rows.NOT_YET, NO_QUEUE + "; for each variant in Q-1, here of urcu_wfcq "
                   "with perf stat", refers=["Q-1"], peers=soft, raw=soft)
    if None in hard.values():
        yield rows.unavailable("Q-5", "virtual machine: perf stat says not supported", raw=hard)
    else:
        yield rows.row("Q-5", rows.NOT_YET, NO_QUEUE, peers=hard, raw=hard)


def crowd_row(results, listed):
    state, why = state_of(results)
    return rows.row("Q-7", state, why + "; sums and the order of each producer were right"
                    if state == rows.NOT_YET else why, columns=COLUMNS,
                    lines=tell(results, listed),
                    peers={k: runs.median_of(results, k, "items_per_second") for k in results},
                    raw={"results": results})


def measure(context):
    listed = queues(context)
    items = 5_000_000 if context.quick else 50_000_000
    results = runs.rounds(variants(context, listed, items), progress=context.progress)
    yield builds_row(results, listed)
    yield levels_row(results)
    yield rows.refers("Q-3", ["Q-1", "Q-7"], "both rates stand in every line there")
    yield from counter_rows(context, items)
    yield yields_row(results)
    crowd = runs.rounds(crowds(context, listed, items // 5), progress=context.progress)
    yield crowd_row(crowd, listed)


IDS = [f"Q-{n}" for n in range(1, 8)]
