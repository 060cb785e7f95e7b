# SPDX-License-Identifier: MIT
"""What a wait costs: the time it lost, and the CPU time it took, both in ns.

This is the sum that the rule for the window keeps small (docs/design): spinning pays in CPU
time, sleeping in latency. Both are means over all hand-offs of a run, so that they add up: a
median forgets the share of hand-offs that went wrong, and their CPU time is in the sum all the
same. A benchmark without one of the two counters has no cost.
"""

from . import data, show

LATENCY, CPU = "latency_mean_ns", "waiter_cpu_ns"
TEXT = (f"the added latency and the waiter's CPU time of the mean hand-off, {LATENCY} + {CPU}.")


def point(cell):
    """The cost as a point of a curve; its x is the caller's."""
    latency, cpu = data.median(cell, LATENCY), data.median(cell, CPU)
    if latency is None or cpu is None:
        return None
    ends = zip(data.interval(cell, LATENCY), data.interval(cell, CPU))
    low, high = (a + b for a, b in ends)
    runs = data.values(cell, LATENCY), data.values(cell, CPU)
    pairs = zip(*runs) if len(runs[0]) == len(runs[1]) else ()
    return {"y": latency + cpu, "low": low, "high": high,
            "runs": [a + b for a, b in pairs if a is not None and b is not None]}


def rows(cell):
    """Rows of the data table: both summands, the sum beside the first."""
    made = point(cell)
    if not made:
        return []
    return [data.raw_row(cell, LATENCY, f"cost {show.time_ns(made['y'], 4)}"),
            data.raw_row(cell, CPU)]
