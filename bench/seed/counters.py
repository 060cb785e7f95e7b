# SPDX-License-Identifier: MIT
"""Counters of the whole machine, read before and after a run; energy and shares of CPU time are
only looked at here, the others are harness/probes.py's.

Every reader takes the root of the file system, so that a saved machine can be read as well.
What is not there is None, never 0.
"""

from pathlib import Path

from harness import probes


def energy(root="/"):
    """{package: (microjoules, range)}, None where nothing can be read."""
    found = {}
    for zone in sorted(Path(root, "sys/class/powercap").glob("intel-rapl:[0-9]*")):
        if zone.name.count(":") != 1:       # a part of a package, which has it already
            continue
        now = probes.number(zone, "energy_uj")
        if now is not None:
            found[zone.name] = now, probes.number(zone, "max_energy_range_uj") or 0
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
    return {"interrupts": probes.interrupts(root), "idle": probes.idle_states(root),
            "cpu": probes.cpu_kinds(root), "energy": energy(root)}


def shares(before, after):
    """CPU time of all CPUs by kind, in percent of all; nice counts as user, irq as system."""
    spent = probes.difference(before, after)
    if not spent or not sum(spent.values()):
        return None
    spent["user"] += spent.pop("nice")
    spent["system"] += spent.pop("irq")
    total = sum(spent.values())
    return {k: 100 * v / total for k, v in spent.items()}
