# SPDX-License-Identifier: MIT
"""Rounds in which a question moved as a whole: all variants slower, or faster, than in the others.

They run one after the other, so it was the machine, though nothing in /proc/stat needs to show it.
"""

import math
import statistics

from . import names
from .figures import figure
from .stats import factor
from .summary import in_logs, logs

# By how much the middle variant has to move, and how unusual that has to be for the cell: median
# deviations of all its runs from the medians of their variants.
MOVED, UNUSUAL = math.log(1.10), 3

# With fewer variants it may have been one of them.
VARIANTS_LEAST = 3
EXAMPLES = 2


def cells(summary):
    """{cell: [values of each variant]}"""
    by_name, found = {}, {}
    for entry in summary:
        if "error" not in entry:
            by_name.setdefault(entry["name"], {})[entry["metric"]] = entry
    for name, entries in by_name.items():
        entry = figure(entries, names.question(name))
        if entry and names.impl(name) and in_logs(entry["values"]):
            found.setdefault(names.cell(name), []).append(entry["values"])
    return {cell: rows for cell, rows in found.items()
            if len(rows) >= VARIANTS_LEAST and max(map(len, rows)) >= VARIANTS_LEAST}


def deviations(values):
    there = logs(values)
    middle = statistics.median(v for v in there if v is not None)
    return [None if v is None else v - middle for v in there]


def moves(rows):
    """{round: log ratio of the middle variant}, of rounds that moved."""
    every = [deviations(values) for values in rows]
    usual = statistics.median(abs(d) for own in every for d in own if d is not None)
    found = {}
    for number in range(max(map(len, every))):
        there = [own[number] for own in every if number < len(own) and own[number] is not None]
        middle = statistics.median(there) if len(there) >= VARIANTS_LEAST else 0.0
        if abs(middle) > max(MOVED, UNUSUAL * usual):
            found[number] = middle
    return found


def moved(summary):
    """A sentence for each round that has such cells."""
    every, by_round = cells(summary), {}
    for cell, rows in every.items():
        for number, move in moves(rows).items():
            by_round.setdefault(number, []).append((cell, move))
    sentences = []
    for number, those in sorted(by_round.items()):
        those.sort(key=lambda pair: -abs(pair[1]))
        most = ", ".join(f"{cell} {factor(move) - 1:+.0%}" for cell, move in those[:EXAMPLES])
        more = f" and {len(those) - EXAMPLES} more" if len(those) > EXAMPLES else ""
        sentences.append(f"Round {number + 1}: in {len(those)} of {len(every)} rows the "
                         f"variants moved together: {most}{more}.")
    return sentences
