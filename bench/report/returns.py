# SPDX-License-Identifier: MIT
"""T^2/C: throughput squared by CPUs in use, which per item is 1 / (real time x CPU time).

The seed, examples/sem_test and row M-2 of the scoreboard take all CPU time of the program for C.
In a hand-off that includes the waker, who works against the clock all the time whoever waits;
so beside it stands the same with the waiter's CPU time alone. Which of them is meant matters
most at long waits, where spinning doubles the one and multiplies the other.
"""

from . import data, names, rounds, show
from .errors import Missing

TIME, ALL, WAITER = "real_time", "cpu_time", "waiter_cpu_ns"
REFERENCES = ("glibc", "block")
MIXED = "Mixed load (suite pareto)"


def label(cell):
    more = [v for k, v in cell["dims"].items() if k not in ("impl", "wait") and v != names.OWN]
    return " ".join([data.impl(cell), *more])


def title(wait):
    """Of a load: the length of its waits in ns, None for the mixed one."""
    if wait is None:
        return MIXED
    return f"Hand-off after {show.time_ns(wait)}" if wait else "Hand-off with no wait"


def loads(result):
    """([(wait in ns or None for the mixed load, cells)], what was left out)

    The mixed load first, then hand-offs by length.
    """
    cells, left_out, waits = {}, [], {}
    for question in ("pareto", "handoff"):
        try:
            cells[question], out = data.ask(result, question, "impl")
            left_out += out
        except Missing:
            cells[question] = []
    if not cells["pareto"] and not cells["handoff"]:
        raise Missing("The suites pareto and handoff were not run.")
    for cell in cells["handoff"]:
        wait = names.duration_ns(cell["dims"].get("wait", ""))
        if wait is not None:
            waits.setdefault(wait, []).append(cell)
    return ([(None, cells["pareto"])] if cells["pareto"] else []) + sorted(waits.items()), left_out


def reference(cells):
    """The cell that counts as 1; None if there is none."""
    known = {data.impl(c): c for c in reversed(cells)}
    return next((known[r] for r in REFERENCES if r in known), None)


def products(cell, cpu):
    """Real time x CPU time of each run."""
    pairs = zip(data.values(cell, TIME), data.values(cell, cpu))
    return [a * b if a and b else None for a, b in pairs]


def relative(cell, base, cpu):
    """T^2/C as a multiple of that of @base, round by round; None if it is not known."""
    if base is None or any(data.median(c, cpu) is None for c in (cell, base)):
        return None
    return rounds.quotient(products(base, cpu), products(cell, cpu), cell["trim"])
