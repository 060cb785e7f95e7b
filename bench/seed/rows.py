# SPDX-License-Identifier: MIT
"""Rows of the scoreboard, and the figures in them."""

import os
import statistics

from .catalogue import ENTRIES

MEASURED = "measured"
NOT_AVAILABLE = "not available"
NOT_YET = "not yet in libipcwait"
FAILED = "failed"       # its figures mean nothing, for example after a wrong checksum

# A direction besides yes and no: the runs overlap, and a repetition may find the opposite.
NOT_TOLD = "not told apart"

# A factor between the medians that is believed all the same.
CLEARLY = 1.1


def row(name, state, why=None, **more):
    """A row of the result file. @more: ours, peers, same_direction, raw, columns, lines."""
    entry = ENTRIES[name]
    made = {"id": name, "title": entry["title"], "seed": entry["seed"], "ours": {},
            "peers": {}, "unit": entry["unit"], "claim": entry["claim"],
            "same_direction": None, "state": state, "why": why, "refers": [], "raw": {},
            "columns": [], "lines": []}
    made.update(more)
    return made


def measured(name, **more):
    return row(name, MEASURED, **more)


def refers(name, others, why):
    """Measured, but in these rows, or in another part of the result file."""
    return row(name, MEASURED, why, refers=list(others))


def unavailable(name, reason, state=NOT_AVAILABLE, **more):
    """The state says "not available" already."""
    return row(name, state, reason.removeprefix(state + ": "), **more)


def number(value, digits=4):
    """As people read it: not more digits than mean something."""
    if value is None:
        return "not available"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    if value and abs(value) >= 10 ** digits:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.{digits}g}"


def quotient(a, b):
    """None where one of them is not there or nothing can be divided by."""
    return a / b if a is not None and b else None


def are_apart(a, b):
    """Are two lists of kept runs? Two single values say nothing about their spread."""
    if len(a) + len(b) > 2 and (max(a) < min(b) or max(b) < min(a)):
        return True
    low, high = sorted((statistics.median(a), statistics.median(b)))
    return high > CLEARLY * low


def direction(a, b, more=1.0):
    """Is @a above @more times @b? Each is the list of its kept runs, or a number that is fixed.
    None if one of them is missing."""
    a, b = (v if isinstance(v, list) else [v] for v in (a, b))
    if not a or not b or None in a or None in b:
        return None
    b = [more * v for v in b]
    return statistics.median(a) > statistics.median(b) if are_apart(a, b) else NOT_TOLD


def all_of(directions):
    """Of a claim about several variants. None if none of them has a direction."""
    known = [d for d in directions if d is not None]
    if not known:
        return None
    return False if False in known else NOT_TOLD if NOT_TOLD in known else True


def spinning(a, b, more=1.0):
    """direction() for claims about spinning: on one CPU there is nobody to spin for."""
    return direction(a, b, more) if len(os.sched_getaffinity(0)) > 1 else None
