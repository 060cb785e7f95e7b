# SPDX-License-Identifier: MIT
"""Which variants of a row are the best, or cannot be told from it.

Variants of a row run one after the other in each round, so what slows a round slows all of them.
Their quotients are formed within the rounds, where that cancels.
"""

import math
import statistics

from . import pooling, stats
from .quantity import WIDE
from .summary import in_logs, logs, rounding

# Chance that a row says "slower" of any variant that is not.
ALARM = 0.05

BEST, UNCLEAR, SLOWER = "*", "?", " "


def quotients(entry, best):
    """Logarithms, round by round; None where one of the two is missing."""
    if not (in_logs(entry["values"]) and in_logs(best["values"])):
        return []
    pairs = zip(logs(entry["values"]), logs(best["values"]))
    return [None if None in pair else pair[0] - pair[1] for pair in pairs]


def against_best(row, trim):
    """A test, not yet done, for each variant but the one with the lowest median."""
    known = {impl: e for impl, e in row.items() if e is not None}
    if len(known) < 2:
        return []
    best = known[min(known, key=lambda impl: known[impl]["median"])]
    found = []
    for impl, entry in known.items():
        if entry is not best:
            ratios = quotients(entry, best)
            found.append({"impl": impl, "kept": stats.kept(ratios, trim), "p": None, "half": None,
                          "spread": stats.spread(ratios, trim),
                          "rounding": rounding(entry) + rounding(best)})
    return found


def judge(test, variance, dof):
    """Adds how probable the quotient is where there is no difference."""
    if variance is None or not test["kept"]:
        return
    variance = variance * stats.median_variance(len(test["kept"])) + test["rounding"]
    test["ratio"] = statistics.median(test["kept"])
    test["half"] = stats.half_width(variance, dof)
    test["p"] = stats.significance(test["ratio"], variance, dof)


def mark(test):
    if test["p"] is None:
        return UNCLEAR
    if test["p_adjusted"] < ALARM:
        return SLOWER if test["ratio"] > 0 else BEST
    return BEST if test["half"] <= math.log1p(WIDE) else UNCLEAR


def marks(rows, trim):
    """For each {variant: entry} of a question {variant: mark}; none without a @trim, for what has
    no runs. What three quotients do not tell of their spread, those of the other rows do."""
    if trim is None:
        return [{} for _ in rows]
    tests = [against_best(row, trim) for row in rows]
    every = [test for those in tests for test in those]
    floor = [(v if v is None else max(v, t["rounding"]), d)
             for t in every for v, d in [t["spread"]]]
    for test, (variance, dof) in zip(every, pooling.moderated(floor)):
        judge(test, variance, dof)
    for those in tests:
        stats.holm(those)
    return [{impl: next((mark(t) for t in those if t["impl"] == impl), BEST)
             for impl, e in row.items() if e is not None} if those else {}
            for row, those in zip(rows, tests)]
