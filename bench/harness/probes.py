# SPDX-License-Identifier: MIT
"""What the kernel counts. All paths are below @root, so that a saved tree can be read as well.

Each function returns None where the file is missing or is not what it should be.
"""

import os
import re
from pathlib import Path

TICK_S = 1 / os.sysconf("SC_CLK_TCK")

# Of /proc/stat, in its order; what is added up to the time in which something ran here.
KINDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
BUSY = ("user", "nice", "system", "irq", "softirq")

# The rows of /proc/interrupts by their text, which is the same on all architectures, and the
# names that x86 gives them.
INTERRUPTS = {
    "RES": ("Rescheduling interrupts",),
    "CAL": ("Function call interrupts",),
    "LOC": ("Local timer interrupts", "arch_timer", "riscv-timer"),
}


def read(root, path):
    try:
        return (Path(root) / path).read_text("ascii", "replace").strip()
    except OSError:
        return None


def number(root, path):
    text = read(root, path)
    return int(text) if text is not None and text.isdecimal() else None


def cpu_kinds(root):
    """Ticks since the start by kind of time, over all CPUs."""
    m = re.match("cpu +" + " ".join([r"(\d+)"] * len(KINDS)), read(root, "proc/stat") or "")
    return dict(zip(KINDS, map(int, m.groups()))) if m else None


def cpu_times(root):
    """Seconds since the start, over all CPUs: what ran here, and what the host took."""
    ticks = cpu_kinds(root)
    if ticks is None:
        return None
    return {"busy_s": sum(ticks[kind] for kind in BUSY) * TICK_S,
            "steal_s": ticks["steal"] * TICK_S}


def cpus(root):
    """CPUs that are online."""
    return len(re.findall(r"^cpu\d", read(root, "proc/stat") or "", re.M)) or None


def interrupt_kind(line):
    for kind, texts in INTERRUPTS.items():
        if any(text in line for text in texts):
            return kind
    return None


def interrupts(root):
    """Interrupts between CPUs and of the timer, over all CPUs."""
    text = read(root, "proc/interrupts")
    if text is None:
        return None
    found = {}
    for line in text.splitlines():
        kind = interrupt_kind(line)
        if kind:
            counts = re.match(r"\s*\w+:((?:\s+\d+)+)(?:\s|$)", line)
            found[kind] = found.get(kind, 0) + sum(map(int, counts[1].split() if counts else []))
    return found or None


def idle_states(root):
    """By (CPU, state): name and counters of its idle states."""
    folders = Path(root).glob("sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*")
    states = {}
    for folder in folders:
        cpu, state = (int(re.sub(r"\D", "", p)) for p in folder.parts[-3::2])
        states[cpu, state] = {"name": read(folder, "name"), "usage": number(folder, "usage"),
                              "time_us": number(folder, "time"), "above": number(folder, "above"),
                              "below": number(folder, "below")}
    return states or None


def difference(before, after):
    """Of counters in two dictionaries; what only one of them has is left out."""
    if before is None or after is None:
        return None
    return {key: after[key] - before[key] for key in after if key in before}


def idle_difference(before, after, seconds):
    """The table of idle states between two readings."""
    if before is None or after is None:
        return None
    rows = []
    for (cpu, state), new in sorted(after.items()):
        old = before.get((cpu, state), {})
        row = {"cpu": cpu, "state": state, "name": new["name"]}
        for key in ("usage", "time_us", "above", "below"):
            known = new[key] is not None and old.get(key) is not None
            row[key] = new[key] - old[key] if known else None
        known = row["time_us"] is not None and seconds > 0
        row["share"] = row["time_us"] / 1e6 / seconds if known else None
        rows.append(row)
    return rows
