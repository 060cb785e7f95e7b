# SPDX-License-Identifier: MIT
"""Of results, all pairs of runs of the programs that are to lose nothing, as one sample.

A share of 2 % drowns in what a noisy host adds to a program; over all programs it does not. One
program that loses much can hide in it: each keeps its own verdict.
"""

import statistics

from harness import store
from harness.errors import refused, shown

from . import judging, overall
from .bars import loses_nothing
from .table import value

FIGURES = ("speed", "cpu")


def judged(rounds):
    """Those in which nobody disturbed either run; a program counts as often as it ran."""
    return [r for r in rounds
            if not any(r[arm]["noisy"] for arm in ("none", "ours") if r.get(arm))]


def pairs(entry, figure):
    """The figures of a program's pairs of runs that nobody disturbed, and how many others it has."""
    if "pairs" in entry:        # of a summary
        return entry["pairs"][figure], entry["pairs"]["disturbed"]
    rounds = judged(entry["rounds"])
    values = judging.compared(figure, rounds, "ours", "none")["values"]
    return values, len(entry["rounds"]) - len(rounds)


def entries(result):
    """Its programs; none where something computed beside them, which has other bars."""
    if result.get("method", {}).get("busy"):
        return []
    columns = result.get("columns")     # of a summary, where rows are lists
    if not columns:
        return result["programs"]
    return [{**e, "rows": [dict(zip(columns, row)) for row in e["rows"]]}
            for e in result["programs"]]


def ratios(results, figure):
    """The figures of all pairs of runs, and how many pairs were disturbed."""
    found, disturbed = [], 0
    for path, result in results:
        try:
            for e in entries(result):
                if loses_nothing(e["name"]):
                    values, others = pairs(e, figure)
                    found, disturbed = found + values, disturbed + others
        except (KeyError, TypeError, AttributeError) as e:
            raise refused(f"{shown(path)} is no result of bench/preload") from e
    return found, disturbed


def lines(paths):
    results = [(path, store.load_json(path)) for path in paths]
    for figure in FIGURES:
        values, disturbed = ratios(results, figure)
        low, high = judging.interval(values) or (None, None)
        if low is None:
            raise refused("--pool: too few runs of programs that are to lose nothing")
        yield (f"{figure:<8}{value(figure, statistics.median(values)):>8}  "
               f"{value(figure, low)} .. {value(figure, high)}  of {len(values)} pairs of runs, "
               f"without {disturbed} that were disturbed")
    yield from overall.lines(overall.judged([e for _, r in results for e in entries(r)]))
