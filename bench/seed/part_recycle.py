# SPDX-License-Identifier: MIT
"""M-7, M-8 and M-10: items that go back in batches, and what a take finds."""

from . import rows, runs

BATCHES = [1, 4, 16, 64, 256, 1024]
# What a program would take for its pool. recycle_test has the others, one at a time: all of them
# in all rounds would take four times as long and say the same about batches.
LOCKS = ("ipcwait", "glibc", "nsync")
# Where buffers lie that are taken one at a time, and all at once.
STORES = (("channel", "ipcwait"), ("pool", "glibc"))


def kinds(context):
    """[(what, name, reason or None)] of what is compared."""
    program = runs.program(context, "bench", "seed", "recycle_test")
    lines = [line.split("\t") for line in runs.run([program, "--list"], 30).splitlines()]
    return [(what, name, why or None) for what, name, why in lines
            if what != "pool" or name in LOCKS]


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
    for what, name in STORES:
        for batch in BATCHES:
            found[f"{what} all {batch}"] = lambda what=what, name=name, batch=batch: \
                one(context, what, name, batch, items, "all")
        found[f"{what} one 64"] = lambda what=what, name=name: one(context, what, name, 64, items,
                                                                   "1")
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
        if what != "post":
            wins.append(faster(results, f"{what} {name} 64", f"{what} {name} 1"))
    failed = [f"{k}: {runs.reason(v)}" for k, v in results.items() if v["failed"]]
    return rows.row("M-7", rows.FAILED if failed else rows.MEASURED, "; ".join(failed) or None,
                    columns=["what", "with", *[f"batch {b}" for b in BATCHES],
                             "64 / 1", "64: items/CPU-s", "reason"],
                    lines=lines, ours=ours, peers=peers,
                    same_direction=rows.all_of(wins), raw={"results": results})


def takes_line(what, batch, runs_of_it):
    """What the takes of these runs found, all together."""
    columns = [sum(c) for c in zip(*[r["items_per_take"] for r in runs_of_it])]
    takes = sum(r["takes"] for r in runs_of_it)
    return [what, batch, sum(r["items"] for r in runs_of_it) / max(takes, 1), *columns]


def histogram_row(results):
    bounds = [f"{2**i} to {2**(i + 1) - 1}" for i in range(12)] + ["4096"]
    found = {(what, batch): results[f"{what} all {batch}"] for what, _ in STORES
             for batch in BATCHES}
    lines = [takes_line(*key, mine["runs"]) for key, mine in found.items() if mine["runs"]]
    if not lines:
        return rows.unavailable("M-8", "; ".join(sorted({runs.reason(v) for v in found.values()})))
    return rows.row("M-8", rows.MEASURED, "takes of all buffers that lay in libipcwait's channel, "
                    "and in a pool under a glibc mutex; all runs together",
                    columns=["from", "given back in batches of", "average taken", *bounds],
                    lines=lines, raw={"in": "M-7"},
                    ours={f"batch {b}": n for what, b, n, *_ in lines if what == "channel"},
                    peers={f"batch {b}": n for what, b, n, *_ in lines if what == "pool"})


def take_row(results):
    def side(what):
        return {"one at a time": rate(results, f"{what} one 64"),
                "all at once": rate(results, f"{what} all 64")}
    wins = [faster(results, f"{what} all 64", f"{what} one 64") for what, _ in STORES]
    return rows.row("M-10", rows.MEASURED, "libipcwait's channel, and a pool under a glibc mutex; "
                    "given back in batches of 64", raw={"in": "M-7"}, ours=side("channel"),
                    peers=side("pool"), same_direction=rows.all_of(wins))


def measure(context):
    items = 2_000_000 if context.quick else 20_000_000
    results = runs.rounds(variants(context, items), progress=context.progress)
    yield batch_row(results, kinds(context))
    yield histogram_row(results)
    yield take_row(results)


IDS = ["M-7", "M-8", "M-10"]
