# SPDX-License-Identifier: MIT
"""M-7, M-8 and M-10: items that go back in batches, and what a take finds."""

from . import rows, runs

BATCHES = [1, 4, 16, 64, 256, 1024]
# What a program would take for its pool. recycle_test has the others, one at a time: all of them
# in all rounds would take four times as long and say the same about batches.
LOCKS = ("ipcwait", "glibc", "nsync")


def kinds(context):
    """[(what, name, reason or None)] of what is compared."""
    program = runs.program(context, "bench", "seed", "recycle_test")
    lines = [line.split("\t") for line in runs.run([program, "--list"], 30).splitlines()]
    return [(what, name, why or None) for what, name, why in lines
            if what == "post" or name in LOCKS]


def one(context, what, name, batch, items, take=None):
    program = runs.program(context, "bench", "seed", "recycle_test")
    f = runs.run_json([program, what, name, batch, items, *([take] if take else [])], 120)
    f["items_per_second"] = f["items"] / max(f["seconds"], 1e-9)
    f["items_per_cpu_second"] = f["items"] / max(f["cpu_seconds"], 1e-9)
    return f


def absent(why):
    raise runs.Missing(why)


def variants(context, items):
    found = {}
    for what, name, why in kinds(context):
        for batch in BATCHES:
            key = f"{what} {name} {batch}"
            found[key] = (lambda why=why: absent(why)) if why else \
                (lambda what=what, name=name, batch=batch:
                 one(context, what, name, batch, items))
    for batch in BATCHES:
        found[f"all {batch}"] = lambda batch=batch: one(context, "pool", "glibc", batch, items,
                                                        "all")
    found["one 64"] = lambda: one(context, "pool", "glibc", 64, items, "1")
    return found


def rate(results, key, figure="items_per_second"):
    return runs.median_of(results, key, figure)


def faster(results, first, second):
    return rows.direction(*(runs.kept_of(results, k, "items_per_second")
                            for k in (first, second)))


def batch_row(results, listed):
    lines, ours, peers, wins = [], {}, {}, []
    for what, name, why in listed:
        rates = [rate(results, f"{what} {name} {b}") for b in BATCHES]
        cpu = rate(results, f"{what} {name} 64", "items_per_cpu_second")
        gain = rows.quotient(rates[3], rates[0])
        lines.append([what, name, *rates, gain, cpu, why])
        (ours if name.startswith("ipcwait") else peers)[f"{what} {name}, 64"] = rates[3]
        if what == "pool":
            wins.append(faster(results, f"pool {name} 64", f"pool {name} 1"))
    failed = [f"{k}: {runs.reason(v)}" for k, v in results.items() if v["failed"]]
    return rows.row("M-7", rows.FAILED if failed else rows.MEASURED, "; ".join(failed) or None,
                    columns=["what", "with", *[f"batch {b}" for b in BATCHES],
                             "64 / 1", "64: items/CPU-s", "reason"],
                    lines=lines, ours=ours, peers=peers,
                    same_direction=rows.all_of(wins), raw={"results": results})


def histogram_row(results):
    bounds = [f"{2**i} to {2**(i + 1) - 1}" for i in range(12)] + ["4096"]
    lines = []
    for batch in BATCHES:
        mine = results[f"all {batch}"]["runs"]
        if mine:
            columns = [sum(c) for c in zip(*[r["items_per_take"] for r in mine])]
            takes = sum(r["takes"] for r in mine)
            lines.append([batch, sum(r["items"] for r in mine) / max(takes, 1), *columns])
    if not lines:
        return rows.unavailable("M-8", runs.reason(results[f"all {BATCHES[0]}"]))
    return rows.row("M-8", rows.NOT_YET, "libipcwait has no queue yet; takes of all buffers that "
                    "lay in a pool under a glibc mutex, all runs together",
                    columns=["given back in batches of", "average taken", *bounds], lines=lines,
                    peers={f"batch {line[0]}": line[1] for line in lines}, raw={"in": "M-7"})


def take_row(results):
    single, everything = rate(results, "one 64"), rate(results, "all 64")
    return rows.row("M-10", rows.NOT_YET, "libipcwait has no queue yet; a pool under a glibc "
                    "mutex, given back in batches of 64", raw={"in": "M-7"},
                    peers={"one at a time": single, "all at once": everything},
                    same_direction=faster(results, "all 64", "one 64"))


def measure(context):
    items = 2_000_000 if context.quick else 20_000_000
    results = runs.rounds(variants(context, items), progress=context.progress)
    yield batch_row(results, kinds(context))
    yield histogram_row(results)
    yield take_row(results)


IDS = ["M-7", "M-8", "M-10"]
