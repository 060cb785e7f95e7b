# SPDX-License-Identifier: MIT
"""From the rows of all rounds to a median with an interval for each benchmark and metric."""

import math
import statistics

from . import names, pooling, stats

TIMES = ("real_time", "cpu_time")
NO_METRICS = ("family_index", "per_family_instance_index", "repetitions", "repetition_index",
              "threads", "iterations")
TIME_UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
UNITS = (("_ns", "ns"), ("_us", "us"), ("_bytes", "bytes"), ("_share", "share"),
         ("_per_op", "per op"), ("_per_s", "per s"), ("_per_second", "per s"))


def unit(metric):
    if metric in TIMES:
        return "ns"
    return next((u for ending, u in UNITS if metric.endswith(ending)), "")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def metrics(row):
    """Figures of a row of Google Benchmark: its two times, in ns, and its counters."""
    scale = TIME_UNITS.get(str(row.get("time_unit")), 1)
    found = {}
    for key, value in row.items():
        if key not in NO_METRICS and is_number(value):
            found[key] = value * scale if key in TIMES else value
    return found


def columns(rows):
    """Values of each metric, in the order of the rows."""
    found = {}
    for row in rows:
        for key, value in metrics(row).items():
            found.setdefault(key, []).append(value)
    return found


def in_logs(values):
    return all(v > 0 for v in values)


def linear_interval(values, middle, trim):
    """Where a value is 0 or less there is no logarithm: from the own runs alone."""
    variance, dof = stats.spread(values, trim)
    if variance is None:
        return None, None
    number = len(stats.kept(values, trim))
    half = stats.half_width(2 * variance * stats.median_variance(number), dof)
    return middle - half, middle + half


def set_intervals(entries, trim):
    """The interval in which a repetition of the session would find its median, with 95 %."""
    logged = [e for e in entries if in_logs(e["values"])]
    spreads = [stats.spread([math.log(v) for v in e["values"]], trim) for e in logged]
    for entry, (variance, dof) in zip(logged, pooling.moderated(spreads)):
        total, dof = stats.session_variance(variance, len(entry["kept"]), dof)
        half = stats.half_width(2 * total, dof) if total is not None else None
        entry["low"] = entry["median"] * math.exp(-half) if half is not None else None
        entry["high"] = entry["median"] * math.exp(half) if half is not None else None
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
