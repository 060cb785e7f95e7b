# SPDX-License-Identifier: MIT
"""Results of scripts/bench: a line for each benchmark, and back to what a table or a report reads.

Of the time, the CPU time and the figure that the table shows, a summary has the median and the
interval. Of waits whose worst run counts it has the median and the range of all runs. Of other figures it has the median. "times" is the figure's quotient to libipcwait's within
the rounds, which medians do not tell; of a twin it is the quotient to the one that it repeats.
"""

from harness import figures, names, store
from harness.summary import by_name, unit
from report import data, fig_wake, headline
from report import rounds as report_rounds
from report.errors import Missing

from . import machines
from .layout import short, shortened

PROGRAM = "scripts/bench"
OURS = "ipcwait"

METRICS = ("real_time", "cpu_time", "waiter_cpu_ns", "latency_mean_ns", "latency_p50_ns",
           "latency_p99_ns", "wait_p99_ns", "wait_sampled_p99_ns", "spun_share", "slept_share")
WORST = {"readers": ("wait_p999_ns", "wait_sampled_p999_ns")}
RANGED = {"starvation": ("wait_p999_ns", "wait_max_ns")}
CPU = ("waiter_cpu_ns", "cpu_time")

# What of a result is for those who repeat it, or for a picture of every run.
METHOD = ("benchmarks", "program_sha256")
OF_GUESTS = ("runs", "info", "idle_messages", "noise", "kernel_command_line")
OF_SEED = ("raw", "noise")
SEED_DIGITS = 3

# What a row of the scoreboard is if its summary does not say it.
BOARD = {"seed": {}, "ours": {}, "peers": {}, "unit": "", "claim": None, "same_direction": None,
         "state": "measured", "why": None, "refers": [], "columns": [], "lines": []}
BESIDE = ("memory", "CPUs used", "switches", "page faults", "peak kB", "yields when empty",
          "futex calls", "errors", "min_ms", "avg_ms", "max_ms", "stddev_percent")

SHARES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0)


def program_of(found):
    return PROGRAM if isinstance(found.get("ipcwait"), dict) else None


def figure_of(entry, whole):
    if entry is None:
        return None
    ends = [entry["low"], entry["high"]]
    return [short(entry["median"]), *(short(v, 3) for v in ends)] if whole and None not in ends \
        else short(entry["median"])


def range_of(entry):
    if entry is None:
        return None
    values = [v for v in entry["values"] if v is not None]
    return [short(v) for v in (entry["median"], min(values), max(values))]


def base_of(impl):
    """Whom an implementation is compared with: a twin with the one that it repeats."""
    return impl[:-len(names.TWIN)] if impl.endswith(names.TWIN) else OURS


def times(name, cells, question):
    """How many times its base's figure it is, by rounds; None without one."""
    impl, metric = names.impl(name), figures.FIGURE.get(question, "real_time")
    metric = metric if metric in cells[name]["metrics"] else "real_time"
    base = impl and cells.get(name.replace(f"impl:{impl}", f"impl:{base_of(impl)}"))
    if not base or impl == OURS:
        return None
    made = report_rounds.quotient(data.values(cells[name], metric), data.values(base, metric),
                                  base["trim"])
    return short(made["y"]) if made else None


def suite(question, listed, found, cells):
    ranged = RANGED.get(question, ())
    columns = [m for m in (*METRICS, *WORST.get(question, ()), *ranged)
               if any(m in found[n] for n in listed)]
    shown = {figures.FIGURE.get(question, "real_time"), "real_time",
             next((m for m in CPU if m in columns), None)}
    rows = {name.partition("/")[2]: [*(range_of(found[name].get(m)) if m in ranged
                                       else figure_of(found[name].get(m), m in shown)
                                       for m in columns),
                                     times(name, cells, question)] for name in listed}
    return {"columns": [*columns, "times"], "rows": rows}


def quantiles(part, cells):
    """{benchmark: [wakes, latency up to which each of SHARES of them took]}"""
    found = {}
    for name, cell in cells.items():
        buckets = fig_wake.buckets_of(part, cell) if cell["question"] == fig_wake.ID else ()
        if sum(b[2] for b in buckets):
            curve = fig_wake.steps(buckets)
            found[name] = [sum(b[2] for b in buckets),
                           *(short(fig_wake.at_share(curve, s)) for s in SHARES)]
    return found


def answer(result):
    """The sentences above a report: they need the runs."""
    try:
        made = headline.collect(result)
    except Missing:
        return []
    return [made["answer"], *made["more"]]


def reasons(errors):
    found = {}
    for name, why in errors.items():
        found.setdefault(why, []).append(name)
    return found


def known(figures):
    return {k: v for k, v in (figures or {}).items() if v is not None}


def board(row):
    """A row of the scoreboard, as far as it says something else than most."""
    made = {**BOARD, **shortened(row, OF_SEED, SEED_DIGITS)}
    places = [i for i, column in enumerate(made["columns"]) if column not in BESIDE]
    made.update(ours=known(made["ours"]), peers=known(made["peers"]),
                columns=[made["columns"][i] for i in places],
                lines=[[line[i] for i in places] for line in made["lines"]])
    return {k: v for k, v in made.items() if k not in BOARD or v != BOARD[k]}


def summary(result, _program):
    own = result["ipcwait"]
    found, errors = by_name(own["summary"])
    cells = data.cells(own)
    suites = {}
    for name in found:
        suites.setdefault(names.question(name), []).append(name)
    return {"measured": own["finished"], "complete": own["complete"], "suite": own["suite"],
            "command": own["command"], "machine": machines.of(own["environment"]),
            "method": shortened({k: v for k, v in own["method"].items() if k not in METHOD}),
            "verdict": shortened(own["verdict"]), "answer": answer(result),
            "suites": {q: suite(q, listed, found, cells) for q, listed in suites.items()},
            "errors": reasons(errors), "quantiles": quantiles(own, cells),
            "seed": [board(row) for row in own.get("seed") or []],
            "guests": shortened(own.get("guests") or [], OF_GUESTS)}


def entry(name, metric, figure, quotient):
    """As it is in a result, without runs: nothing can be told apart by them."""
    middle, low, high = figure if isinstance(figure, list) else (figure, None, None)
    return {"name": name, "metric": metric, "unit": unit(metric), "values": [], "kept": [],
            "median": middle + 0, "low": low, "high": high, "times": quotient}


def entries(summary):
    for question, of_it in summary["suites"].items():
        for rest, (*row, quotient) in of_it["rows"].items():
            name = f"{question}/{rest}" if rest else question
            for metric, figure in zip(of_it["columns"], row):
                if figure is not None:
                    yield entry(name, metric, figure, quotient)
    for why, those in summary["errors"].items():
        yield from ({"name": name, "error": why} for name in those)


def buckets(row):
    total, *ends = row
    parts = [b - a for a, b in zip((0.0, *SHARES), SHARES)]
    return [(low, high, total * part) for low, high, part in zip((ends[0], *ends), ends, parts)]


def result(summary):
    """What reads results of scripts/bench reads this, where it can do without runs."""
    made = store.empty(summary["suite"], summary["command"], summary["machine"], summary["method"])
    made["ipcwait"].update(
        started=summary["measured"], finished=summary["measured"], complete=summary["complete"],
        verdict=summary["verdict"], summary=list(entries(summary)),
        seed=[{**BOARD, **row} for row in summary["seed"]], guests=summary["guests"],
        summarized=True, answer=summary["answer"],
        quantiles={name: buckets(row) for name, row in summary["quantiles"].items()})
    return made
