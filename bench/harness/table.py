# SPDX-License-Identifier: MIT
"""The table at the end of a run: one block for each question, one column for each variant."""

import shutil
import statistics

from . import names, quantity
from .errors import shown
from .summary import by_name

# The figure that answers the question; elsewhere it is the time of an operation.
FIGURE = {"handoff": "latency_p50_ns", "wake": "latency_p50_ns", "pareto": "latency_p50_ns"}
WHAT = {"latency_p50_ns": "median latency", "real_time": "time per operation"}

# Cells without variants (pairs of CPUs) are a picture, not a table.
ROWS_MOST = 24


def figure(entries, question):
    """The entry that is shown of a benchmark."""
    return entries.get(FIGURE.get(question, "real_time")) or entries.get("real_time")


def overlap(a, b):
    return None not in (a["low"], b["low"]) and a["low"] <= b["high"] and b["low"] <= a["high"]


def best_of(row):
    """Variants with the lowest median, or not to be told from it."""
    known = {impl: e for impl, e in row.items() if e is not None}
    if len(known) < 2:
        return set()
    best = min(known, key=lambda impl: known[impl]["median"])
    return {impl for impl, e in known.items() if impl == best or overlap(e, known[best])}


def cell_text(entries, error, question, best):
    if error is not None:
        return shown(error.split(":")[0] if error.startswith("not ") else "FAILED", 20)
    if not entries or figure(entries, question) is None:
        return "-"
    entry = figure(entries, question)
    text = f"{quantity.time_ns(entry['median'])} {quantity.relative(entry)}"
    cpu = entries.get("waiter_cpu_ns") or entries.get("cpu_time")
    if cpu is not None:
        text += f" / {quantity.time_ns(cpu['median'])}"
    return ("*" if best else " ") + text


def is_twin(impl):
    return impl is not None and impl.endswith(names.TWIN)


def noise_floor(found, question):
    """How far apart the same implementation is from itself."""
    differences = []
    for name, entries in found.items():
        own = names.impl(name)
        if names.question(name) != question or not is_twin(own):
            continue
        first = name.replace(f"impl:{own}", f"impl:{own[:-len(names.TWIN)]}")
        if first in found and figure(found[first], question) and figure(entries, question):
            a = figure(found[first], question)["median"]
            b = figure(entries, question)["median"]
            if a > 0 and b > 0:
                differences.append(max(a, b) / min(a, b) - 1)
    if not differences:
        return None
    return (f"noise floor: an implementation and its twin differ by "
            f"{statistics.median(differences):.1%} (median), {max(differences):.1%} (most)")


def lay_out(head, rows, width):
    """Columns in as many blocks as the width asks for, the first column in each."""
    sizes = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    lines, at = [], 1
    while at < len(head):
        end, used = at, sizes[0]
        while end < len(head) and (end == at or used + 2 + sizes[end] <= width):
            used += 2 + sizes[end]
            end += 1
        for row in [head, *rows]:
            cells = [row[0].ljust(sizes[0])] + [row[i].ljust(sizes[i]) for i in range(at, end)]
            lines.append("  ".join(cells).rstrip())
        at = end
    return lines


def one_figure_each(listed, found, errors, question):
    """A question without variants: too many for a table are a range."""
    medians = [figure(found[n], question)["median"] for n in listed
               if n in found and figure(found[n], question)]
    if len(listed) > ROWS_MOST and medians:
        low, middle, high = (quantity.time_ns(f(medians))
                             for f in (min, statistics.median, max))
        return [f"{len(medians)} figures from {low} to {high}, median {middle}; "
                "all are in the report"]
    rows = [[shown(n.partition("/")[2] or n),
             cell_text(found.get(n), errors.get(n), question, False)] for n in listed]
    return lay_out(["", ""], rows, 1000)[1:]


def variants_table(listed, found, errors, question, width):
    impls = [i for i in dict.fromkeys(map(names.impl, listed)) if not is_twin(i)]
    rows = []
    for cell in dict.fromkeys(map(names.cell, listed)):
        by_impl = {names.impl(n): n for n in listed if names.cell(n) == cell}
        best = best_of({i: figure(found.get(n, {}), question) for i, n in by_impl.items()
                        if not is_twin(i)})
        row = [shown(cell.partition("/")[2] or cell)]
        for impl in impls:
            name = by_impl.get(impl)
            row.append(cell_text(found.get(name), errors.get(name), question, impl in best)
                       if name else "-")
        rows.append(row)
    return lay_out(["", *[f" {shown(str(i))}" for i in impls]], rows, width)


def block(listed, found, errors, question, width):
    known = [figure(found[n], question) for n in listed if n in found]
    metric = next((e["metric"] for e in known if e), "real_time")
    whose = "of the waiter" if any("waiter_cpu_ns" in found.get(n, ()) for n in listed) \
        else "per operation"
    title = f"{shown(question)}: {WHAT.get(metric, metric)} +- interval / CPU time {whose}"
    if all(names.impl(n) is None for n in listed):
        lines = one_figure_each(listed, found, errors, question)
    else:
        lines = variants_table(listed, found, errors, question, width)
    floor = noise_floor(found, question)
    return [title, *lines, *([floor] if floor else [])]


def missing(errors):
    """Each reason once, with whom it concerns."""
    whom = {}
    for name, error in errors.items():
        whom.setdefault(error, []).append(names.group(name))
    return [f"{shown(', '.join(dict.fromkeys(groups)), 60)}: {shown(error)}"
            for error, groups in whom.items()]


def banner(verdict):
    return f"TOO NOISY TO BELIEVE: {shown(verdict.get('why'))}"


def text(result, width=None):
    """The whole table of a result, a list of lines."""
    own = result["ipcwait"]
    width = width or max(60, shutil.get_terminal_size((100, 24)).columns)
    found, errors = by_name(own["summary"])
    listed = list(dict.fromkeys(e["name"] for e in own["summary"]))
    lines = []
    for question in names.suites(listed):
        if own["verdict"].get("noisy"):
            lines.append(banner(own["verdict"]))
        those = [n for n in listed if names.question(n) == question]
        lines += [*block(those, found, errors, question, width), ""]
    if found:
        lines.append("* is the lowest median, or one that cannot be told from it")
    if not own["complete"]:
        lines.append("incomplete: the run was interrupted")
    return lines + missing(errors)
