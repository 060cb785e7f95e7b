# SPDX-License-Identifier: MIT
"""Over all programs that are to lose nothing: the geometric mean of an arm's speeds, and whose
interval lies wholly below the bar. A speed is the median over the rounds of a program."""

import statistics

from .bars import LEAST, MEAN, loses_nothing
from .judging import FEW, MISSED, NO_BAR, REACHED
from .table import value

ARMS = ("ours", "fd")
FEWEST = 6      # programs: the mean of fewer has no bar


def speeds(entries, arm):
    """{program: the row of its speed}"""
    return {e["name"]: row for e in entries if loses_nothing(e["name"], arm) for row in e["rows"]
            if (row["arm"], row["figure"], row["against"]) == (arm, "speed", "none")
            and row["median"]}


def verdict_of(rows, mean, below):
    if len(rows) < FEWEST:
        return NO_BAR
    if any(row["low"] is None for row in rows):
        return FEW
    return MISSED if below or mean < MEAN.limit else REACHED


def judged(entries):
    """Of each arm that was measured."""
    for arm in ARMS:
        rows = speeds(entries, arm)
        if not rows:
            continue
        mean = statistics.geometric_mean(row["median"] for row in rows.values())
        below = [name for name, row in rows.items()
                 if row["high"] is not None and row["high"] < LEAST.limit]
        yield {"arm": arm, "programs": len(rows), "mean": mean, "below": below,
               "verdict": verdict_of(rows.values(), mean, below)}


def lines(arms):
    for found in arms:
        yield (f"{found['arm']:<8}geometric mean of {found['programs']} speeds "
               f"{value('speed', found['mean'])}, bar {MEAN.sign} {value('speed', MEAN.limit)}; "
               f"wholly below {value('speed', LEAST.limit)}: "
               f"{', '.join(found['below']) or 'none'}; {found['verdict']}")
