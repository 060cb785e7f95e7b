# SPDX-License-Identifier: MIT
"""Rows of the scoreboard, and the figures in them."""

import os

from .catalogue import ENTRIES

MEASURED = "measured"
NOT_AVAILABLE = "not available"
NOT_YET = "not yet in libipcwait"
FAILED = "failed"       # its figures mean nothing, for example after a wrong checksum


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


def direction(a, b, more=1.0):
    """Is @a above @more times @b? None if one of them is missing."""
    return None if a is None or b is None else a > more * b


def spinning(a, b, more=1.0):
    """direction() for claims about spinning: on one CPU there is nobody to spin for."""
    return direction(a, b, more) if len(os.sched_getaffinity(0)) > 1 else None
