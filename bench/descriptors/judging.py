# SPDX-License-Identifier: MIT
"""From the runs of a cell to its rows: medians, and quotients within a round with the interval and
the verdict of bench/preload."""

import statistics

from harness import noise
from preload import judging as preload

from .groups import BARS, HELD, ITSELF, ONE_OF, is_judged

REACHED, MISSED, UNCERTAIN, NO_BAR = "reached", "not reached", "not certain", "no bar"
FEW, NO_RUNS = preload.FEW, "no runs"
WORDS = {preload.REACHED: REACHED, preload.MISSED: MISSED, preload.NOISY: UNCERTAIN}

KEYS = {"time": "time_s", "worst": "time_s", "again": "time_s", "cpu": "cpu_s", "own_cpu": "processes_cpu_s",
        "answers_cpu": "answers_cpu_s", "latency": "latency_s"}


def other(done, against):
    """The run of a round that others are held against, None if it is not there."""
    if against not in ONE_OF:
        return done.get(against) if preload.usable(done.get(against)) else None
    both = [done[arm] for arm in ONE_OF[against] if preload.usable(done.get(arm))]
    return min(both, key=lambda run: run["time_s"]) if len(both) == 2 else None


def quotient(figure, run, base):
    """None if it cannot be formed: of CPU time in ticks there may have been none."""
    if figure == "speed":
        return base["time_s"] / run["time_s"]
    if figure == "again":
        return run["time_s"] / run["first_time_s"]
    key = KEYS[figure]
    return run[key] / base[key] if base[key] and run[key] is not None else None


def median(figure, rounds, arm):
    """Of the arm's own runs: of "speed" round trips a second, else seconds."""
    key = KEYS.get(figure, "per_s")
    values = [r[arm][key] for r in rounds if preload.usable(r.get(arm)) and r[arm][key] is not None]
    return statistics.median(values) if values else None


def compared(bar, rounds, arm):
    values = []
    for done in rounds:
        run = done.get(arm)
        base = run if bar.against == ITSELF else other(done, bar.against)
        if base and preload.usable(run):
            values.append(quotient(bar.figure, run, base))
    values = [v for v in values if v is not None]
    low, high = preload.interval(values) or (None, None)
    middle = max if bar.figure == "worst" else statistics.median
    return {"arm": arm, "figure": bar.figure, "against": bar.against, "values": values,
            "own": median(bar.figure, rounds, arm),
            "median": middle(values) if values else None, "low": low, "high": high}


def verdict(row, bar, disturbed):
    if not row["values"]:
        return NO_RUNS
    if bar.figure == "worst" and row["low"] is not None:    # that itself, and no interval
        row = {**row, "low": row["median"], "high": row["median"]}
    said = preload.held_against(row, bar, disturbed)
    return WORDS.get(said, said)


def judge(group, rounds, arms):
    """Rows of a cell: all arms, of which some have bars."""
    rows, disturbed = [], preload.share_disturbed(rounds) > noise.SHARE_MOST
    for bar in BARS[group]:
        for arm in arms:
            judged = is_judged(arm, group, bar)
            if bar.against == HELD and not judged:
                continue
            row = compared(bar, rounds, arm)
            row["limit"], row["sign"] = (bar.limit, bar.sign) if judged else (None, None)
            row["verdict"] = verdict(row, bar, disturbed) if judged else NO_BAR
            rows.append(row)
    return rows
