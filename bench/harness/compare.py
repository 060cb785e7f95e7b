# SPDX-License-Identifier: MIT
"""Is one result slower than another? For each benchmark, and for each implementation.

The test is one of the logarithms' difference, with variances as summary.py has them. Of many
tests some are beyond 5 % by chance: Holm's method keeps the chance of a single false alarm in
the whole comparison below that, one half for the benchmarks and one for the implementations.
"""

import math
import statistics

from . import names, stats, summary
from .quantity import WIDE
from .summary import by_name, in_logs, rounding

# What is judged: a program can be slower in its own time, in CPU time, or in latency.
JUDGED = ("real_time", "cpu_time", "waiter_cpu_ns", "latency_p50_ns")

# Chance of a false alarm among the benchmarks, and again among the implementations.
ALARM = 0.05 / 2

# Within this nobody minds: "same" needs the whole interval inside.
SAME = math.log(1.10)


def spreads_of(result, entries, pool_of):
    """{(name, metric): (variance of the session's median, degrees of freedom)}"""
    trim = result["ipcwait"]["method"]["trim"]
    groups = {}
    for (name, metric), entry in entries.items():
        groups.setdefault((pool_of(name), metric), []).append(((name, metric), entry))
    found = {}
    for members in groups.values():
        spreads = summary.spreads_of([e for _, e in members], trim)
        for (key, e), (variance, dof) in zip(members, spreads):
            found[key] = stats.session_variance(variance, len(e["kept"]), dof, rounding(e))
    return found


def judged_entries(result):
    """Where the waiter's CPU time is known, the process' is its partner's as well, which works
    against the clock all the time: it says nothing."""
    found, _ = by_name(result["ipcwait"]["summary"])
    return {(name, metric): e for name, entries in found.items() for metric, e in entries.items()
            if metric in JUDGED and in_logs(e["values"]) and e["median"] > 0
            and not (metric == "cpu_time" and "waiter_cpu_ns" in entries)}


def groups_of(entries, keys):
    """Geometric means over the cells of a question and implementation, run by run: a
    disturbance that lasts a whole round stays in their spread."""
    members = {}
    for name, metric in keys:
        members.setdefault((names.group(name), metric), []).append(entries[name, metric])
    found = {}
    for key, those in members.items():
        runs = {len(e["values"]) for e in those}
        if len(those) > 1 and len(runs) == 1:
            values = [None if None in column else math.exp(statistics.fmean(map(math.log, column)))
                      for column in zip(*(e["values"] for e in those))]
            found[key] = {"name": key[0], "metric": key[1], "values": values,
                          "median": math.exp(statistics.fmean(math.log(e["median"])
                                                              for e in those)),
                          "kept": those[0]["kept"], "cells": len(those)}
    return found


def test(first, second, spread_a, spread_b):
    """Ratio of the medians with its interval, and how probable such a one is by chance."""
    difference = math.log(second["median"]) - math.log(first["median"])
    variance, dof = stats.add_variances(spread_a, spread_b)
    row = {"name": first["name"], "metric": first["metric"], "ratio": stats.factor(difference),
           "low": None, "high": None, "p": None}
    if variance is not None:
        half = stats.half_width(variance, dof)
        row.update(low=stats.factor(difference - half), high=stats.factor(difference + half),
                   p=stats.significance(difference, variance, dof))
    return row


def verdict(row):
    if row["p"] is None:
        return "unknown"
    if row["p_adjusted"] < ALARM:
        return "slower" if row["ratio"] > 1 else "faster"
    inside = math.log(row["high"]) <= SAME and math.log(row["low"]) >= -SAME
    return "same" if inside else "unknown"


def is_wide(row):
    """So wide that not even a third more would show."""
    return row["low"] is None or math.log(row["high"] / row["ratio"]) > math.log1p(WIDE)


def is_ours(name):
    """A libipcwait that became slower is a regression; a peer that did is news."""
    return (names.impl(name) or "").startswith("ipcwait")


def ours_slower(compared):
    """What makes --compare fail."""
    return [r for r in compared["groups"] + compared["cells"]
            if r["verdict"] == "slower" and is_ours(r["name"])]


def pairs(result_a, result_b):
    """What both have, first cells, then groups, and whose variances are alike: those of the
    cells of a question, and those of all groups."""
    a, b = judged_entries(result_a), judged_entries(result_b)
    keys = [key for key in a if key in b]
    yield keys, a, b, names.question
    groups_a, groups_b = groups_of(a, keys), groups_of(b, keys)
    yield [key for key in groups_a if key in groups_b], groups_a, groups_b, lambda _name: ""


def rows(result_a, result_b):
    """{"cells": [...], "groups": [...]}: tests with their verdicts."""
    found = []
    for keys, a, b, pool_of in pairs(result_a, result_b):
        spread_a, spread_b = spreads_of(result_a, a, pool_of), spreads_of(result_b, b, pool_of)
        found.append([test(a[k], b[k], spread_a[k], spread_b[k]) for k in keys])
    for family in found:
        stats.holm(family)
        for row in family:
            row["verdict"] = verdict(row)
    return {"cells": found[0], "groups": found[1]}


def only_in_one(result_a, result_b):
    """Sentences about what cannot be compared."""
    found_a, errors_a = by_name(result_a["ipcwait"]["summary"])
    found_b, errors_b = by_name(result_b["ipcwait"]["summary"])
    for which, own, others, errors in (("A", found_a, found_b, errors_b),
                                       ("B", found_b, found_a, errors_a)):
        why = {}
        for name in own.keys() - others.keys():
            why.setdefault(errors.get(name, "not measured"), []).append(name)
        for error, those in why.items():
            yield f"{len(those)} benchmarks only in {which} ({error}), for example {min(those)}"
