# SPDX-License-Identifier: MIT
"""From the runs of a program to its figures and verdicts.

A figure is formed within a round, from the arm's run and from the one it is compared with. Shown
is the median over the rounds. Its interval is that of the sign test: it goes from the k-th lowest
value to the k-th highest, k as large as 95 % allow, and assumes nothing of how values are
distributed but that rounds are independent of each other.
"""

import math
import statistics

from harness import noise

from .arms import KERNEL
from .bars import bars_of

CONFIDENCE = 0.95
REACHED, MISSED, NO_BAR, NOISY = "reached", "missed", "no bar", "too noisy"
FEW, NOT_BUILT = "too few rounds", "not built"
HUNG, DIFFERS, FAILED = "HUNG", "DIFFERS", "FAILED"

KEYS = {"time": "time_s", "cpu": "cpu_s", "machine": "machine_s", "polling": "polling_s"}
SHOWN, SHOWN_KERNEL = ("speed", "cpu"), ("speed", "machine", "polling")


def rank(n, confidence=CONFIDENCE):
    """The k of the interval of @n values; 0 where even the lowest and the highest are too near."""
    k, tail = 0, 0.0
    while k < (n + 1) // 2:
        tail += math.comb(n, k) / 2 ** n
        if 2 * tail > 1 - confidence:
            break
        k += 1
    return k


def interval(values):
    """(low, high), None where there are too few values."""
    k = rank(len(values))
    ordered = sorted(values)
    return (ordered[k - 1], ordered[-k]) if k else None


def figure(name, ours, other):
    """Of two runs; None if it cannot be formed."""
    if name == "extra_ns":
        return (ours["time_s"] - other["time_s"]) * 1e9
    if name == "speed":
        return other["time_s"] / ours["time_s"]
    mine, others = ours.get(KEYS[name]), other.get(KEYS[name])
    return mine / others if others and mine is not None else None


def usable(run):
    return run is not None and run["why"] is None


def compared(name, rounds, arm, against):
    """The figure of all rounds in which both ran: its values, median and interval."""
    values = [figure(name, r[arm], r[against]) for r in rounds
              if usable(r.get(arm)) and usable(r.get(against))]
    values = [v for v in values if v is not None]
    low, high = interval(values) or (None, None)
    return {"arm": arm, "against": against, "figure": name, "values": values,
            "median": statistics.median(values) if values else None, "low": low, "high": high}


def held_against(row, bar, disturbed):
    """The verdict of a figure."""
    if row["low"] is None:
        return FEW
    if disturbed:
        return NOISY
    low, high = row["low"] - bar.limit, row["high"] - bar.limit
    if bar.sign == ">=":
        low, high = -high, -low
    if high <= 0:
        return REACHED
    return MISSED if low > 0 else NOISY


def broken(rounds, arm):
    """Why an arm has no good runs where the plain program has, or None."""
    runs = [r[arm] for r in rounds if r.get(arm)]
    return next((run["verdict"] for run in runs if run["verdict"]), None)


def share_disturbed(rounds):
    runs = [run for r in rounds for run in r.values()]
    return sum(run["noisy"] for run in runs) / len(runs) if runs else 0.0


def rows_of(name, rounds, arm, bars, disturbed):
    """Of an arm: its speed and CPU time, and what has bars. What no run has is left out."""
    shown = {(f, "none"): None for f in (SHOWN_KERNEL if arm in KERNEL else SHOWN)}
    shown.update({(bar.figure, bar.against): bar for bar in bars})
    for (what, against), bar in shown.items():
        row = compared(what, rounds, arm, against)
        if what == "polling" and not row["values"]:
            continue
        row["limit"], row["sign"] = (bar.limit, bar.sign) if bar else (None, None)
        row["verdict"] = held_against(row, bar, disturbed) if bar else NO_BAR
        yield row


def ran(rounds, arm):
    return any(arm in r for r in rounds)


def judge(name, rounds, arms, shim="null", busy=False):
    """Rows of a program: each arm but the plain one. @shim has no bars: it is no module. What is
    compared with an arm that was not measured is left out."""
    rows, disturbed = [], share_disturbed(rounds) > noise.SHARE_MOST
    for arm in arms:
        if arm in ("none", "native"):
            continue
        wrong = broken(rounds, arm) or broken(rounds, "none")
        if not ran(rounds, arm):
            wrong = NOT_BUILT
        bars = [] if arm == shim else bars_of(name, arm, busy)
        for row in rows_of(name, rounds, arm, bars, disturbed):
            if row["against"] in KERNEL and not ran(rounds, row["against"]):
                continue
            rows.append({**row, "verdict": wrong or row["verdict"]})
    return rows
