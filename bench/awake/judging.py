# SPDX-License-Identifier: MIT
"""What a start has decided, and what would have been right. No measurements."""

import re
import statistics
from typing import NamedTuple

# As in cli/awake_trial.c: a wake that is cheap anyway, and the share that makes a way worth it.
CHEAP_US, WORTH = 6.0, 0.75
# A share this near to the limit is neither right nor wrong.
NEAR = 0.1

HALTED = re.compile(r"^wakes +([\d.]+) us of a halted CPU \(measured just now\)", re.M)
WAYS = {"qos": re.compile(r"^wakes .*, ([\d.]+) us of a polling one", re.M),
        "spinner": re.compile(r"^wakes .*, ([\d.]+) us of one with a spinner", re.M)}
SAYS = "ipcwait: awake: "


class Wakes(NamedTuple):
    """Microseconds, None for what was not measured."""
    halted: float
    qos: float
    spinner: float


def wakes_of(status):
    """What `ipcwait awake --status` has measured, or None."""
    halted = HALTED.search(status)
    if not halted:
        return None
    found = {name: pattern.search(status) for name, pattern in WAYS.items()}
    return Wakes(float(halted[1]), **{k: float(m[1]) if m else None for k, m in found.items()})


def middle(many):
    """The medians of what many trials have measured. ValueError: none did."""
    def median(name):
        values = [getattr(w, name) for w in many if getattr(w, name) is not None]
        return statistics.median(values) if values else None
    halted = median("halted")
    if halted is None:
        raise ValueError("no trial at rest has measured anything: other programs need the CPUs")
    return Wakes(halted, median("qos"), median("spinner"))


def right_ones(wakes):
    """The decisions that are right: one, or two where a figure is near a limit."""
    def near(value, limit):
        return abs(value / limit - 1) <= NEAR
    right = set()
    if wakes.halted < CHEAP_US or near(wakes.halted, CHEAP_US):
        right.add("nothing")
    if wakes.halted < CHEAP_US * (1 - NEAR):
        return right
    for name in ("qos", "spinner"):
        value = getattr(wakes, name)
        if value is None:
            continue
        share = value / wakes.halted
        if share <= WORTH or near(share, WORTH):
            right.add(name)
        if share <= WORTH * (1 - NEAR):
            return right
    return right | {"nothing"}


def decision_of(said):
    """(what a start with --explain has decided, the line), or (None, None)."""
    for line in said.splitlines():
        text = line.removeprefix(SAYS)
        if text == line:
            continue
        for begin, decision in (("qos", "qos"), ("spinners", "spinner"),
                                ("keeps no CPU awake", "nothing")):
            if text.startswith(begin):
                return decision, text
    return None, None


def counted(starts, right):
    """{when: (right decisions, starts)} of (when, decision, line)."""
    found = {}
    for when, decision, _ in starts:
        good, n = found.get(when, (0, 0))
        found[when] = good + (decision in right), n + 1
    return found
