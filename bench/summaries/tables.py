# SPDX-License-Identifier: MIT
"""Results of sem_test, wait_bench, policy_sim, pool_bench and queue_bench."""

import statistics

from .layout import short, shortened

PROGRAMS = ("sem_test", "wait_bench", "policy_sim")
POOL, QUEUE = "pool_bench", "queue_bench"

# Every run, and what only a picture of every run would need.
RUNS = ("runs", "rounds", "curves", "scores", "members")

# Of the lines of wait_bench: what it costs the waker, where threads ran, and a sum of two others.
BESIDE = ("post_us_median", "share_on_the_wakers_cpu", "latency_and_cpu_us")
WAIT_DIGITS = 3

# A picture is drawn of sem_test, whose bars have tenths of a pixel.
SEM_DIGITS = 6


def program_of(found):
    if found.get("program") in PROGRAMS:
        return found["program"]
    rows = found.get("rows")
    first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
    return POOL if "form" in first else QUEUE if "check" in first else None


def middle(values):
    """[median, least, most]"""
    return [short(v) for v in (statistics.median(values), min(values), max(values))]


def pool_row(row):
    kept = shortened(row, ("ns", "cpu_ns"))
    return {**kept, **{key: {name: middle(v) for name, v in row[key].items()}
                       for key in ("ns", "cpu_ns") if key in row}}


def queue_row(row):
    figures = {name: {key: middle([r[key] for r in runs]) for key in runs[0]}
               for name, runs in row["runs"].items() if runs}
    return {**shortened(row, ("runs",)), "figures": figures}


def columned(lines):
    """The lines of a row of wait_bench, each figure's name once."""
    columns = list(dict.fromkeys(key for line in lines for key in line["medians"]
                                 if key not in BESIDE))
    return {"columns": ["point", "variant", *columns],
            "lines": [[line["point"], line["variant"],
                       *(short(line["medians"].get(key), WAIT_DIGITS) for key in columns)]
                      for line in lines]}


def bars(found):
    """{what is judged and its bar: {point: value}}"""
    made = {}
    for bar in found:
        point, _, what = bar["text"].rpartition(": ")
        bar_of_it = made.setdefault(f"{what} {bar['relation']} {short(bar['limit'])}", {})
        bar_of_it[point] = short(bar["value"])
    return made


def wait_row(row):
    return {**shortened(row, (*RUNS, "lines", "bars")), **columned(row["lines"]),
            "bars": bars(row["bars"])}


def sem_row(row):
    """Medians are of the kept runs, and so is the range beside them."""
    left = [run for run in row["runs"] if run.get("kept") is not False]
    ranges = {key: [min(run[key] for run in left), max(run[key] for run in left)]
              for key in ("seconds", "cpu_seconds") if left}
    return {**shortened(row, RUNS, SEM_DIGITS), "ranges": shortened(ranges)}


def summary(found, program):
    if program == "wait_bench":
        return {**shortened(found, ("rows", "program", "format")),
                "rows": [wait_row(r) for r in found["rows"]]}
    made = {POOL: pool_row, QUEUE: queue_row, "sem_test": sem_row}.get(program)
    kept = shortened(found, (*RUNS, "program", "format"), SEM_DIGITS)
    return {**kept, "rows": [made(row) for row in found["rows"]]} if made else kept
