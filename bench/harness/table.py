# SPDX-License-Identifier: MIT
"""The table at the end of a run: one block for each question, one column for each variant."""

import shutil
import statistics
import textwrap

from . import names, quantity, ranking
from .errors import shown
from .figures import FIGURE, TAIL, WHAT, figure
from .summary import by_name, resolution

# Cells without variants (pairs of CPUs) are a picture, not a table.
ROWS_MOST = 24

# Instead of the legend, where there are no runs.
OF_SUMMARY = ("a summary: it has no runs, so there are no marks; (a .. b) is the interval where that "
              "is wide")

# CPU time: the waiter's, where its partner works against the clock, else the process'.
WHOSE = {"waiter_cpu_ns": "of the waiter", "cpu_time": "per operation"}


def headed(listed, found, question):
    """(figure, CPU time) that the block has: a benchmark with others gets "-" there."""
    those = [found[n] for n in listed if n in found]
    known = [figure(entries, question) for entries in those]
    preferred = FIGURE.get(question, "real_time")
    metric = preferred if any(preferred in entries for entries in those) else "real_time"
    cpu = "waiter_cpu_ns" if any("waiter_cpu_ns" in entries for entries in those) else "cpu_time"
    return (metric if any(known) else preferred), cpu


def cell_text(entries, error, question, mark=" ", cpu=None):
    """Without @cpu, whatever CPU time there is."""
    if error is not None:
        return shown(error.split(":")[0] if error.startswith("not ") else "FAILED", 20)
    entry = figure(entries or {}, question)
    if entry is None:
        return "-"
    text = (mark or " ") + quantity.with_interval(entry)
    if question in TAIL:
        tail = entries.get(TAIL[question])
        text += f", {quantity.time_ns(tail['median']) if tail else '-'}"
    spent = entries.get(cpu) if cpu else entries.get("waiter_cpu_ns") or entries.get("cpu_time")
    return f"{text} / {quantity.time_ns(spent['median']) if spent else '-'}"


def is_twin(impl):
    return impl is not None and impl.endswith(names.TWIN)


def twins(found, question):
    """(figure of an implementation, figure of the same once more), of all that have one."""
    for name, entries in found.items():
        own = names.impl(name)
        if names.question(name) == question and is_twin(own):
            first = name.replace(f"impl:{own}", f"impl:{own[:-len(names.TWIN)]}")
            pair = figure(found.get(first, {}), question), figure(entries, question)
            if all(e and e["median"] > 0 for e in pair) and pair[0]["metric"] == pair[1]["metric"]:
                yield pair


def noise_floor(found, question):
    """How far apart the same implementation is from itself; what the histogram cannot show is no
    less than that."""
    differences = []
    for a, b in twins(found, question):
        ratio = max(a["median"], b["median"]) / min(a["median"], b["median"])
        differences.append(max(ratio - 1, resolution(a["metric"], a["median"])))
    if not differences:
        return None
    number = len(differences)
    middle, most = statistics.median(differences), max(differences)
    return (f"noise floor ({number} pair{'s' * (number > 1)} of twins): an implementation and "
            f"itself differ by {middle:.1%} (median), {most:.1%} (most)")


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


def one_figure_each(listed, found, errors, question, cpu):
    """A question without variants: too many for a table are a range."""
    medians = [figure(found[n], question)["median"] for n in listed
               if n in found and figure(found[n], question)]
    if len(listed) > ROWS_MOST and medians:
        low, middle, high = (quantity.time_ns(f(medians))
                             for f in (min, statistics.median, max))
        return [f"{len(medians)} figures from {low} to {high}, median {middle}; "
                "all are in the report"]
    rows = [[shown(n.partition("/")[2] or n),
             cell_text(found.get(n), errors.get(n), question, " ", cpu)] for n in listed]
    return lay_out(["", ""], rows, 1000)[1:]


def rows_of(listed):
    """{cell: {implementation: name}}"""
    rows = {}
    for name in listed:
        rows.setdefault(names.cell(name), {})[names.impl(name)] = name
    return rows


def variants_table(listed, found, errors, question, how):
    impls = [i for i in dict.fromkeys(map(names.impl, listed)) if not is_twin(i)]
    metric, cpu, trim, width = how
    rows = rows_of(listed)
    known = [{i: found.get(n, {}).get(metric) for i, n in row.items() if not is_twin(i)}
             for row in rows.values()]
    lines = []
    for (cell, row), marked in zip(rows.items(), ranking.marks(known, trim)):
        lines.append([shown(cell.partition("/")[2] or cell)])
        for impl in impls:
            name, mark = row.get(impl), marked.get(impl, " ")
            lines[-1].append(cell_text(found.get(name), errors.get(name), question, mark, cpu)
                             if name else "-")
    return lay_out(["", *[f" {shown(str(i))}" for i in impls]], lines, width)


def block(listed, found, errors, question, trim, width):
    metric, cpu = headed(listed, found, question)
    tail = ", p99" if question in TAIL else ""
    title = (f"{shown(question)}: {WHAT.get(metric, metric)} +- interval{tail} / CPU time "
             f"{WHOSE[cpu]}")
    if all(names.impl(n) is None for n in listed):
        lines = one_figure_each(listed, found, errors, question, cpu)
    else:
        lines = variants_table(listed, found, errors, question, (metric, cpu, trim, width))
    floor = noise_floor(found, question)
    return [title, *lines, *([floor] if floor else [])]


def legend(found):
    """What the marks mean, and what can be done where figures spread."""
    yield "* the lowest of its row, or not told from it by the quotients within the rounds"
    yield "? too noisy to tell"
    shown_ones = [figure(entries, names.question(name)) for name, entries in found.items()]
    wide = [e for e in shown_ones if e and quantity.is_wide(e)]
    if wide:
        yield (f"(a .. b) the range of all runs, where the interval is wider than "
               f"{quantity.WIDE:.0%}: {len(wide)} of {len(shown_ones)} figures")
        yield "  --runs 9, which keeps seven of each, makes it narrower or more certain"


def remarks(verdict):
    """What the verdict says of results that are not too noisy."""
    if not verdict.get("noisy") and verdict.get("why"):
        yield f"noise: {shown(verdict['why'])}"
    moved = verdict.get("rounds")
    if isinstance(moved, list):
        yield from (f"disturbed: {shown(line, 200)}" for line in moved)


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
    summarized = own.get("summarized")
    trim = None if summarized else own["method"].get("trim") or "order"
    lines = []
    for question in names.suites(listed):
        if own["verdict"].get("noisy"):
            lines.append(banner(own["verdict"]))
        those = [n for n in listed if names.question(n) == question]
        lines += [*block(those, found, errors, question, trim, width), ""]
    if found:
        lines += [OF_SUMMARY] if summarized else legend(found)
    for remark in remarks(own["verdict"]):
        lines += textwrap.wrap(remark, width, subsequent_indent="  ", break_on_hyphens=False)
    if not own["complete"]:
        lines.append("incomplete: the run was interrupted")
    return lines + missing(errors)
