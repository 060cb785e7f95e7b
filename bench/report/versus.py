# SPDX-License-Identifier: MIT
"""libipcwait against glibc in one place: how many times faster, the same, or not told apart.

Faster or slower is said only where no kept run of the one overlaps those of the other, and their
intervals do not overlap either. "The same": kept runs overlap, and medians are close. What overlaps
though they are far apart, or has too few runs, is not told apart.
"""

from . import data, rounds

OURS, THEIRS = "ipcwait", "glibc"
FASTER, SLOWER, SAME, UNCLEAR = "faster", "slower", "the same", "not told apart"
CLOSE = 1.3         # of two medians, as a factor; also for the marks of the contention grid
FEWEST = 2          # kept runs of either


def overlap(first, second):
    return first[0] <= second[1] and second[0] <= first[1]


def verdict(ours, theirs, metric, ratio):
    """Of two cells that both have @metric, which is better when it is small. @ratio: theirs / ours
    within the rounds."""
    kept = rounds.kept(ours, metric), rounds.kept(theirs, metric)
    ratios = ratio, data.median(theirs, metric) / data.median(ours, metric)
    if min(map(len, kept)) < FEWEST:
        return UNCLEAR
    if not rounds.apart(*kept):
        return SAME if all(1 / CLOSE < r < CLOSE for r in ratios) else UNCLEAR
    if overlap(data.interval(ours, metric), data.interval(theirs, metric)):
        return UNCLEAR
    return FASTER if ratios[1] > 1 else SLOWER


def compare(ours, theirs, metric):
    """{"verdict", "y", "low", "high", "ours", "theirs"}; None where one was not measured.

    "y" is glibc's value as a multiple of ours, divided round by round where the rounds are known.
    """
    values = data.median(ours, metric), data.median(theirs, metric)
    if not all(v and v > 0 for v in values):
        return None
    made = rounds.quotient(data.values(theirs, metric), data.values(ours, metric), ours["trim"])
    made = made if made and made["low"] > 0 else {"y": values[1] / values[0], "low": None,
                                                  "high": None}
    return {"verdict": verdict(ours, theirs, metric, made["y"]), "y": made["y"],
            "low": made["low"], "high": made["high"], "ours": values[0], "theirs": values[1]}


def factor(made):
    """How many times better, or worse."""
    return made["y"] if made["verdict"] != SLOWER else 1 / made["y"]


def by_place(cells):
    """[(dims, our cell, glibc's cell)] of the benchmarks that both have."""
    found = {}
    for cell in cells:
        if data.impl(cell) in (OURS, THEIRS):
            dims = {k: v for k, v in cell["dims"].items() if k != "impl"}
            found.setdefault(tuple(dims.items()), {})[data.impl(cell)] = cell
    return [(dict(dims), two[OURS], two[THEIRS]) for dims, two in found.items() if len(two) == 2]
