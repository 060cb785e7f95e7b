# SPDX-License-Identifier: MIT
"""Counters of the whole machine, read before and after: interrupts, idle states, CPU time, energy.

Every reader takes the root of the file system, so that a saved machine can be read as well.
What is not there is None, never 0.
"""

import os
import re
from pathlib import Path

KINDS = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"]
WAKE_WORDS = {"Rescheduling interrupts": "RES", "Function call interrupts": "CAL"}


def read(path):
    try:
        return Path(path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return None


def interrupts(root="/"):
    """{"RES": n, "CAL": n} summed over the CPUs, on arm64 with the lines IPI0... as well."""
    text = read(os.path.join(root, "proc/interrupts"))
    if text is None:
        return None
    found = {}
    for line in text.splitlines()[1:]:
        name, _, rest = line.strip().partition(":")
        counts = re.match(r"(?:\s+\d+)+", rest)
        if not counts:
            continue
        total = sum(map(int, counts[0].split()))
        words = rest[counts.end():].strip()
        if re.fullmatch(r"IPI\d+", name):
            found[name] = total
        key = name if name in ("RES", "CAL") else WAKE_WORDS.get(words)
        if key:
            found[key] = found.get(key, 0) + total
    return found or None


def idle_states(root="/"):
    """{(cpu, state): {"name", "usage", "time_us", "above", "below"}}, None without cpuidle."""
    found = {}
    base = Path(root, "sys/devices/system/cpu")
    for folder in base.glob("cpu[0-9]*/cpuidle/state[0-9]*"):
        cpu, state = int(folder.parts[-3][3:]), int(folder.name[5:])
        figures = {"name": (read(folder / "name") or "?").strip()}
        for key, name in (("usage", "usage"), ("time_us", "time"), ("above", "above"),
                          ("below", "below")):
            text = read(folder / name)
            figures[key] = int(text) if text and text.strip().isdigit() else None
        found[cpu, state] = figures
    return found or None


def cpu_times(root="/"):
    """{kind: clock ticks of all CPUs}, None without /proc/stat."""
    text = read(os.path.join(root, "proc/stat"))
    first = re.match(r"cpu +([\d ]+)", text or "")
    if not first:
        return None
    return dict(zip(KINDS, map(int, first[1].split())))


def energy(root="/"):
    """{package: (microjoules, range)}, None where nothing can be read."""
    found = {}
    for zone in sorted(Path(root, "sys/class/powercap").glob("intel-rapl:[0-9]*")):
        if zone.name.count(":") != 1:       # a part of a package, which has it already
            continue
        now, most = read(zone / "energy_uj"), read(zone / "max_energy_range_uj")
        if now and now.strip().isdigit():
            found[zone.name] = int(now), int(most) if most and most.strip().isdigit() else 0
    return found or None


def joules(before, after):
    """Between two readings of energy(); the counters begin again at their range."""
    if not before or not after or before.keys() != after.keys():
        return None
    total = 0
    for zone, (then, most) in before.items():
        now = after[zone][0]
        total += now - then if now >= then else now + most - then
    return total * 1e-6


def snapshot(root="/"):
    return {"interrupts": interrupts(root), "idle": idle_states(root), "cpu": cpu_times(root),
            "energy": energy(root)}


def difference(before, after):
    """Of two dictionaries of numbers; None if one of them is missing."""
    if before is None or after is None:
        return None
    return {k: after[k] - before[k] for k in after if k in before}


def shares(before, after):
    """CPU time of all CPUs by kind, in percent of all; nice counts as user, irq as system."""
    spent = difference(before, after)
    if not spent or not sum(spent.values()):
        return None
    spent["user"] = spent.get("user", 0) + spent.pop("nice", 0)
    spent["system"] = spent.get("system", 0) + spent.pop("irq", 0)
    total = sum(spent.values())
    return {k: 100 * v / total for k, v in spent.items()}


def idle_lines(before, after, seconds):
    """One line per CPU and state: what was spent in it between the two readings."""
    if not before or not after:
        return None
    lines = []
    for (cpu, state), now in sorted(after.items()):
        then = before.get((cpu, state))
        if not then:
            continue
        line = {"cpu": cpu, "state": state, "name": now["name"]}
        for key in ("usage", "time_us", "above", "below"):
            both = now[key] is not None and then[key] is not None
            line[key] = now[key] - then[key] if both else None
        line["share"] = None if line["time_us"] is None else line["time_us"] / (seconds * 1e6)
        lines.append(line)
    return lines
