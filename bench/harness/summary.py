# SPDX-License-Identifier: MIT
"""From the rows of all rounds to a median with an interval for each benchmark and metric."""

import math
import re
import statistics

from . import names, pooling, stats

TIMES = ("real_time", "cpu_time")
NO_METRICS = ("family_index", "per_family_instance_index", "repetitions", "repetition_index",
              "threads", "iterations")

# No figure is smaller, or larger than its reciprocal.
LEAST = 1e-100

TIME_UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
UNITS = (("_ns", "ns"), ("_us", "us"), ("_bytes", "bytes"), ("_share", "share"),
         ("_per_op", "per op"), ("_per_s", "per s"), ("_per_second", "per s"))

# Percentiles come from bench/common/histogram.c (HISTOGRAM_SUB_BITS there).
PERCENTILE = re.compile(r"_p[0-9]+_ns$")
BUCKET_BITS = 6


def unit(metric):
    if metric in TIMES:
        return "ns"
    return next((u for ending, u in UNITS if metric.endswith(ending)), "")


def is_number(value):
    """One that can be worked with: squares and quotients of figures stay finite."""
    return (isinstance(value, (int, float)) and not isinstance(value, bool)
            and (value == 0 or LEAST < abs(value) < 1 / LEAST))


def metrics(row):
    """Figures of a row of Google Benchmark: its two times, in ns, and its counters."""
    scale = TIME_UNITS.get(str(row.get("time_unit")), 1)
    found = {}
    for key, value in row.items():
        if key not in NO_METRICS and is_number(value):
            found[key] = value * scale if key in TIMES else value
    return found


def columns(rows):
    """Values of each metric, in the order of the rows; None where a row does not have it."""
    found = [metrics(row) for row in rows]
    return {key: [f.get(key) for f in found] for key in dict.fromkeys(k for f in found for k in f)}


def in_logs(values):
    """Of runs without a value nothing is asked."""
    return all(v is None or v > 0 for v in values) and any(values)


def logs(values):
    return [None if v is None else math.log(v) for v in values]


def resolution(metric, value):
    """Width, as a share, of the histogram's bucket in which a percentile lies: 64 buckets for each
    power of two, none below 1 ns. Other figures are not rounded."""
    if not PERCENTILE.search(metric) or value <= 0:
        return 0.0
    return max(1.0, 2.0 ** (math.floor(math.log2(value)) - BUCKET_BITS)) / value


def rounding(entry):
    """Variance of what is anywhere in a bucket with the same probability."""
    return resolution(entry["metric"], entry["median"]) ** 2 / 12


def spreads_of(entries, trim):
    """For each (variance of the log of one run, degrees), with what the group knows. A spread below
    the resolution cannot be seen."""
    own = [stats.spread(logs(e["values"]), trim) for e in entries]
    return pooling.moderated([(v if v is None else max(v, rounding(e)), d)
                              for (v, d), e in zip(own, entries)])


def linear_interval(values, middle, trim):
    """Where a value is 0 or less there is no logarithm: from the own runs alone."""
    variance, dof = stats.spread(values, trim)
    if variance is None:
        return None, None
    number = len(stats.kept(values, trim))
    half = stats.half_width(2 * variance * stats.median_variance(number), dof)
    return middle - half, middle + half


def log_interval(entry, variance, dof, margin):
    """Student's interval, bounded by what all runs showed, dropped ones too: what was seen can be
    seen again, and further out than a usual interval nothing points. Without the second bound a
    figure that jumps between two values would have times that cannot be."""
    total, dof = stats.session_variance(variance, len(entry["kept"]), dof, rounding(entry))
    if total is None:
        return None, None
    half = stats.factor(stats.half_width(2 * total, dof))
    there = [v for v in entry["values"] if v is not None]
    least, most, middle = min(there), max(there), entry["median"]
    return (min(least, max(middle / half, least / margin)),
            max(most, min(middle * half, most * margin)))


def margin_of(spreads, n):
    """How far, as a factor, an interval with the group's variance reaches, were that variance known
    exactly. Without a group it is no bound."""
    usual, weight = pooling.prior(spreads)
    if not weight:
        return math.inf
    variance, dof = stats.session_variance(usual, n, math.inf)
    return stats.factor(stats.half_width(2 * variance, dof))


def set_intervals(entries, trim):
    """The interval in which a repetition of the session would find its median, with 95 %."""
    logged = [e for e in entries if in_logs(e["values"])]
    own = [stats.spread(logs(e["values"]), trim) for e in logged]
    for entry, (variance, dof) in zip(logged, spreads_of(logged, trim)):
        margin = margin_of(own, len(entry["kept"]))
        entry["low"], entry["high"] = log_interval(entry, variance, dof, margin)
    for entry in entries:
        if not in_logs(entry["values"]):
            entry["low"], entry["high"] = linear_interval(entry["values"], entry["median"], trim)


def entry_of(name, metric, values, trim):
    left = stats.kept(values, trim)
    return {"name": name, "metric": metric, "unit": unit(metric), "values": values,
            "kept": left, "median": statistics.median(left), "low": None, "high": None}


def error_of(rows):
    return next((r.get("error_message") or "failed without a message"
                 for r in rows if r.get("error_occurred")), None)


def of_rows(chosen, rows_by_name, trim):
    """Entries for all benchmarks that have been run, in the order of @chosen."""
    result, groups = [], {}
    for name in chosen:
        rows = rows_by_name.get(name)
        if not rows:
            continue
        error = error_of(rows)
        if error is not None:
            result.append({"name": name, "error": error})
            continue
        for metric, values in columns(rows).items():
            entry = entry_of(name, metric, values, trim)
            result.append(entry)
            groups.setdefault((names.question(name), metric), []).append(entry)
    for entries in groups.values():
        set_intervals(entries, trim)
    return result


def by_name(summary):
    """{name: {metric: entry}} and {name: error}."""
    found, errors = {}, {}
    for entry in summary:
        if "error" in entry:
            errors[entry["name"]] = entry["error"]
        else:
            found.setdefault(entry["name"], {})[entry["metric"]] = entry
    return found, errors
