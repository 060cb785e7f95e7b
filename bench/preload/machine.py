# SPDX-License-Identifier: MIT
"""CPU time of the whole machine that was not idle.

By the clock, as bench/descriptors has it: ticks seldom see a CPU that works for a few us at a time.
A CPU that polls in the kernel's idle loop is idle for /proc/stat, and busy for the host: that time
is read from its idle state of this name.
"""

import time

from harness import probes

POLLS = "POLL"


def not_idle_s(root):
    """Seconds, from some moment on; None where it cannot be read."""
    now_s, kinds, cpus = time.monotonic(), probes.cpu_kinds(root), probes.cpus(root)
    if kinds is None or cpus is None:
        return None
    return cpus * now_s - (kinds["idle"] + kinds["iowait"]) * probes.TICK_S


def polled_s(root):
    """None where no CPU has that state."""
    times = [state["time_us"] for state in (probes.idle_states(root) or {}).values()
             if state["name"] == POLLS and state["time_us"] is not None]
    return sum(times) / 1e6 if times else None


def reading(root):
    return {"not_idle_s": not_idle_s(root), "polled_s": polled_s(root)}


def between(first, last):
    """What passed between two readings, None for what one of them has not."""
    return {key: None if first[key] is None or last[key] is None else last[key] - first[key]
            for key in first}
