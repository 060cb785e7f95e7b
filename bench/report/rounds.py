# SPDX-License-Identifier: MIT
"""Runs by their round: which were kept, whether two benchmarks differ, and quotients.

Variants run side by side in each round, so a quotient is formed within a round: what disturbed
the whole round is then in both of its terms.
"""

import statistics

from . import data

FEWEST_TO_TRIM = 4


def trimmed(values, rule):
    """The places that are kept, as scripts/bench trims: by order, or by rank."""
    known = [i for i, v in enumerate(values) if v is not None]
    if len(values) < FEWEST_TO_TRIM:
        return known
    if rule == "rank":
        return sorted(sorted(known, key=lambda i: values[i])[1:-1])
    return [i for i in known if 0 < i < len(values) - 1]


def kept(cell, metric):
    """The kept values of a metric, without those that are not known; the ends of the interval where
    there are no runs."""
    row = cell["metrics"].get(metric, {})
    if not data.values(cell, metric):
        return [v for v in (data.number(row.get("low")), data.number(row.get("high")))
                if v is not None]
    marks = data.kept_marks(row, cell["trim"])
    return [v for v, k in zip(data.values(cell, metric), marks) if k and v is not None]


def kept_numbers(cell, *metrics):
    """The rounds that were kept, after the first of @metrics that the cell has."""
    metric = next((m for m in metrics if data.median(cell, m) is not None), None)
    marks = data.kept_marks(cell["metrics"].get(metric, {}), cell["trim"])
    return {i for i, k in enumerate(marks) if k}


def apart(first, second):
    """Whether all of @first lie on one side of all of @second."""
    return bool(first and second) and (max(first) < min(second) or max(second) < min(first))


def quotient(tops, bottoms, rule):
    """Of two lists of values by round: each round's quotient, and the median of the kept ones.

    None if they have not the same rounds: a quotient across rounds would say something else.
    """
    if len(tops) != len(bottoms):
        return None
    every = [a / b if a is not None and b else None for a, b in zip(tops, bottoms)]
    left = [every[i] for i in trimmed(every, rule)]
    if not left:
        return None
    return {"y": statistics.median(left), "low": min(left), "high": max(left), "runs": every}
