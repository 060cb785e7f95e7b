# SPDX-License-Identifier: MIT
"""I: the semaphore test. All figures are those of examples/sem_test, in its own five runs."""

import json
import tempfile
from pathlib import Path

from . import rows, runs

LINES = [("Linux VM", "glibc"), ("Jiny VM, spins", "ipcwait"), ("Linux on metal", None),
         ("Linux VM and hog", "hog")]
OTHER = "not in the seed"
COLUMNS = ["row", "seed", "measured as", "us/item", "CPU-s", "interrupts/item", "T^2/C", "T/P"]
SEED_US = {"Linux VM": 27.5, "Jiny VM, spins": 11.25, "Linux on metal": 11.5,
           "Linux VM and hog": 15.0}
RULES = ("glibc", "ipcwait", "ticks", "haltpoll")
OTHERS = ("spin", "block", "haltpoll", "ticks")
NO_POWER = "not available: not read in these runs"
COUNTED = {"waits": "waits", "slept": "wake-ups", "spun_useful_ns": "wait time, spinning",
           "spun_wasted_ns": "the same, in vain", "slept_ns": "wait time, asleep",
           "gave_up": "ended otherwise"}


def sem_test(context, items, *options, repeat=runs.ROUNDS, seconds=300):
    """The result file of a run of sem_test."""
    program = runs.program(context, "examples", "sem_test", "sem_test")
    with tempfile.TemporaryDirectory(prefix="seed.") as folder:
        out = Path(folder, "out.json")
        runs.run([program, items, *options, "--repeat", repeat, "--no-progress", "--json", out],
                 seconds)
        return json.loads(out.read_text(encoding="utf-8"))


def by_row(result):
    """{row: its entry}, each with the medians, all runs, and interrupts of either kind per item."""
    found = {}
    for entry in result["rows"]:
        for one in entry["runs"]:
            one["us_per_item"] = one["seconds"] * 1e6 / result["items"]
            for key in ("rescheduling", "function_call"):
                count = one.get(key + "_interrupts")
                one[key + "_per_item"] = None if count is None else count / result["items"]
        found[entry["row"]] = entry
    return found


def on_metal(result):
    """Is no hypervisor seen?"""
    return result["environment"].get("hypervisor") in (None, "none seen", "none")


def figures(entry, items):
    """What the table shows of one row."""
    medians = entry["medians"]
    count = medians.get("interrupts")
    return {"us_per_item": medians["ns_per_item"] / 1e3, "cpu_seconds": medians["cpu_seconds"],
            "interrupts_per_item": None if count is None else count / items,
            "roi": medians.get("roi")}


def line(name, kind, entry, items):
    f = figures(entry, items)
    seed = f"{SEED_US[name]} us/item" if name in SEED_US else ""
    return [name, seed, kind, f["us_per_item"], f["cpu_seconds"], f["interrupts_per_item"],
            f["roi"], None]


def seed_lines(found, items, metal):
    """The seed's four; on metal only the third can be measured, in a guest all but that."""
    for name, kind in LINES:
        if metal and kind is None:
            yield line(name, "glibc", found["glibc"], items)
        elif metal or kind is None:
            why = "no hypervisor is seen here" if metal else \
                "this is a virtual machine; join a result of a bare one with --import"
            yield [name, f"{SEED_US[name]} us/item", "not available: " + why] + [None] * 5
        else:
            yield line(name, kind, found[kind], items)


def four_rows(result):
    found, items = by_row(result), result["items"]
    metal = on_metal(result)
    lines = list(seed_lines(found, items, metal))
    others = ("ipcwait", "hog", *OTHERS) if metal else OTHERS
    lines += [line(OTHER, k, found[k], items) for k in others]
    us = {k: figures(e, items)["us_per_item"] for k, e in found.items()}
    kept = {k: runs.kept(e["runs"], "us_per_item") for k, e in found.items()}
    return rows.measured(
        "I-2", columns=COLUMNS, lines=lines, why="T/P " + NO_POWER + ", see M-2",
        ours={"ipcwait": us["ipcwait"]},
        peers={k: v for k, v in us.items() if k != "ipcwait"},
        same_direction=rows.spinning(kept["glibc"], kept["ipcwait"]),
        raw={"items": items, "loops": result["loops"], "metal": metal,
             "environment": result["environment"],
             "rows": {k: e["runs"] for k, e in found.items()}})


def all_interrupts(one):
    """Of a run, per item; None if a kind is not counted here."""
    kinds = [one["rescheduling_per_item"], one["function_call_per_item"]]
    return None if None in kinds else sum(kinds)


def interrupts(result):
    found = by_row(result)
    lines, per_item = [], {}
    kept = {k: runs.kept(e["runs"], all_interrupts) for k, e in found.items()}
    for kind, entry in found.items():
        res = runs.median(entry["runs"], "rescheduling_per_item")
        cal = runs.median(entry["runs"], "function_call_per_item")
        per_item[kind] = None if res is None or cal is None else res + cal
        lines.append([kind, res, cal, per_item[kind]])
    if None in per_item.values():
        return rows.unavailable("I-4", "the machine does not report them")
    return rows.measured(
        "I-4", columns=["row", "RES/item", "CAL/item", "both/item"], lines=lines,
        why="where the kernel wakes by function calls, CAL counts them, and IPI1 on arm64",
        ours={"ipcwait": per_item["ipcwait"]},
        peers={k: v for k, v in per_item.items() if k != "ipcwait"},
        same_direction=rows.spinning(kept["glibc"], kept["ipcwait"], 2),
        raw={k: [[r["rescheduling_interrupts"], r["function_call_interrupts"]]
                 for r in e["runs"]] for k, e in found.items()})


def bounded_spin(result):
    mine = by_row(result)["ipcwait"]["runs"]

    def share(one):
        return rows.quotient(one["waits_spun"], one["waits_spun"] + one["waits_slept"])
    return rows.measured(
        "I-5", ours={"spun": runs.median(mine, share)},
        same_direction=rows.spinning(runs.kept(mine, share), 0.5),
        why="the bound is a window that is learned, docs/design/window.md",
        raw={"waits_spun": [r["waits_spun"] for r in mine],
             "waits_slept": [r["waits_slept"] for r in mine]})


def kernel_rules(result):
    """I-6: the seed's rule, and that of Linux guests, as presets on the same road."""
    found, items = by_row(result), result["items"]
    us = {k: figures(found[k], items)["us_per_item"] for k in RULES}
    lines = [[k, us[k], found[k]["medians"]["cpu_seconds"] * 1e6 / items] for k in RULES]
    kept = {k: runs.kept(found[k]["runs"], "us_per_item") for k in ("glibc", "ticks")}
    return rows.measured(
        "I-6", columns=["row", "us/item", "CPU us/item"], lines=lines,
        ours={k: us[k] for k in RULES[1:]}, peers={"glibc": us["glibc"]},
        same_direction=rows.spinning(kept["glibc"], kept["ticks"]), raw={"in": "I-2"},
        why="ticks is the seed's rule, haltpoll that of Linux guests; runs are those of I-2")


def processes(context):
    result = sem_test(context, 20000 if context.quick else 200000, 2000, "--processes",
                      "--rows", "glibc,ipcwait")
    found = by_row(result)
    us = {k: e["medians"]["ns_per_item"] / 1e3 for k, e in found.items()}
    kept = {k: runs.kept(e["runs"], "us_per_item") for k, e in found.items()}
    return rows.measured("I-3", ours={"ipcwait": us["ipcwait"]}, peers={"glibc": us["glibc"]},
                         same_direction=rows.spinning(kept["glibc"], kept["ipcwait"]),
                         raw={k: e["runs"] for k, e in found.items()})


def gains(found):
    """How many times faster than glibc, round by round, of the rounds that are kept."""
    pairs = zip(found["glibc"]["runs"], found["ipcwait"]["runs"])
    return runs.kept(list(pairs), lambda pair: rows.quotient(pair[0]["seconds"],
                                                             pair[1]["seconds"]))


def one_cpu(context, both):
    """Condition one of three; @both: the result with all CPUs."""
    result = sem_test(context, 20000 if context.quick else 200000, 2000, "--one-cpu",
                      "--rows", "glibc,ipcwait")
    found = by_row(result)
    gain = found["ipcwait"]["medians"]["times_faster_than_glibc"]
    here = by_row(both)["ipcwait"]["medians"]["times_faster_than_glibc"]
    return rows.measured(
        "I-7", ours={"one CPU": gain, "all CPUs": here},
        same_direction=rows.direction(1.2, gains(found)),
        why="no gain is one below 1.2; idle CPUs: the question oversubscription of the grid; "
            "short sections: contention",
        raw={k: e["runs"] for k, e in found.items()})


def long_waits(context):
    result = sem_test(context, 200 if context.quick else 2000, "--idle-us", 1000)
    found = by_row(result)
    cpu = {k: e["medians"]["cpu_us_per_item"] for k, e in found.items()}
    kept = {k: runs.kept(e["runs"], "cpu_seconds") for k, e in found.items()}
    return rows.measured("I-8", ours={"ipcwait": cpu["ipcwait"]}, peers={"glibc": cpu["glibc"]},
                         same_direction=rows.direction(kept["glibc"], kept["ipcwait"], 1 / 1.25),
                         why="waits of 1 ms, same direction up to 1.25 times",
                         raw={k: e["runs"] for k, e in found.items()})


def gain_and_price(found, row):
    """Of something that runs beside glibc's row."""
    glibc, other = found["glibc"]["medians"], found[row]["medians"]
    return {"gain": rows.quotient(glibc["seconds"], other["seconds"]),
            "price in CPU": rows.quotient(other["cpu_seconds"], glibc["cpu_seconds"])}


def beside_awake(context):
    """(result, None) of glibc with and without `ipcwait awake`, or (None, why there is none)."""
    try:
        return sem_test(context, 60000 if context.quick else 800000, 2000,
                        "--rows", "glibc,awake"), None
    except runs.Failed as e:
        return None, str(e)


def hog(result, awake=None, why_not="not asked for"):
    """The seed's busy program, and beside it what does the same only while that pays."""
    found = by_row(result)
    why = "a diagnosis, not a remedy: it keeps every CPU busy; runs are those of I-2"
    if awake is None:
        why += f"; ipcwait awake: not available: {why_not}"
    return rows.measured(
        "I-9", peers=gain_and_price(found, "hog"),
        ours=gain_and_price(by_row(awake), "awake") if awake else None,
        same_direction=rows.direction(*(runs.kept(found[k]["runs"], "seconds")
                                        for k in ("glibc", "hog"))),
        raw={"in": "I-2", "awake": awake["rows"] if awake else None}, why=why)


def both_layers(result):
    env = result["environment"]
    keys = ("hypervisor", "idle_driver", "idle_governor", "idle_states", "guest_halt_poll_ns")
    return rows.measured("I-10", ours={k: env.get(k) for k in keys}, refers=["I-2"],
                         why="what is set here; scripts/bench --vm measures guests side by side",
                         raw={k: env.get(k) for k in keys})


def trims(result):
    """M-1: both ways to understand the seed's "first and last"."""
    mine = by_row(result)
    kept = {}
    for trim in ("order", "rank"):
        kept[trim] = {k: runs.median(e["runs"], "us_per_item", trim) for k, e in mine.items()}
    lines = [[k, kept["order"][k], kept["rank"][k]] for k in mine]
    return rows.measured(
        "M-1", columns=["row", "dropped by order", "dropped by rank"], lines=lines,
        ours={"ipcwait": kept["order"]["ipcwait"]}, peers={"glibc": kept["order"]["glibc"]},
        why="all programs of the scoreboard run five times, interleaved; medians of the three kept",
        raw={k: [r["us_per_item"] for r in e["runs"]] for k, e in mine.items()})


def named(context):
    """I-11: what is counted of each semaphore by its name, in the run in the middle."""
    items = 20000 if context.quick else 200000
    result = sem_test(context, items, 2000, "--rows", "ipcwait", "--objects")
    found = by_row(result)["ipcwait"]["runs"]
    middle = sorted(found, key=lambda one: one["us_per_item"])[len(found) // 2]
    lines = [[o["name"], *(o[key] for key in COUNTED)] for o in middle["objects"]]
    return rows.measured(
        "I-11", columns=["queue", *(f"{what} ({key})" for key, what in COUNTED.items())],
        lines=lines, ours={f"{o['name']}_waits": o["waits"] for o in middle["objects"]},
        why=f"{items} items; a wait is one that found nothing. Ticks are ns here, contentions are "
            "waits, and asynchronous wake-ups do not exist",
        raw={"items": items, "runs": [one["objects"] for one in found]})


def measure(context):
    """The rows of this part, one after the other."""
    context.progress("semaphore test, seven rows")
    result = sem_test(context, 60000 if context.quick else 800000, 2000)
    yield rows.refers("I-1", ["I-2"], "the workload of I-2; loops of 2000 steps")
    for make in (four_rows, interrupts, bounded_spin, kernel_rules, both_layers, trims):
        yield make(result)
    context.progress("semaphore test beside ipcwait awake")
    yield hog(result, *beside_awake(context))
    context.progress("semaphore test, two processes")
    yield processes(context)
    context.progress("semaphore test, one CPU")
    yield one_cpu(context, result)
    context.progress("semaphore test, long waits")
    yield long_waits(context)
    context.progress("semaphore test, counters by name")
    yield named(context)


IDS = [f"I-{n}" for n in range(1, 12)] + ["M-1"]
