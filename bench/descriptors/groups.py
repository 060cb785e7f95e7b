# SPDX-License-Identifier: MIT
"""What is run, and what is held to what; the only table of it.

Figures of a run, each held against another run of the same round:
  time     share of the time of a round trip
  cpu      share of the CPU time of the whole machine, of a round trip
  own_cpu  share of the CPU time of the processes alone, of a round trip
  answers_cpu  the same, of those alone that wait through the others' pauses
  latency  share of the median time from a write to the return of the other's wait
  speed    so many times as many round trips a second
"""

from typing import NamedTuple

from harness.errors import refused, shown
from preload.arms import AWAKE
from preload.bars import Bar

PLAIN, HELD, BETTER = "plain", "held", "better"     # BETTER: of plain and fixed, in a round
KINDS = ("pipe", "unix", "tcp", "eventfd")

# Group: what its bars are, for the arms that are judged. Where nearly all time is idle the
# machine's is too little to be measured in ticks.
BARS = {
    "apart": [Bar("time", 0.35, PLAIN), Bar("cpu", 0.35, PLAIN), Bar("time", 1.10, HELD)],
    "free": [Bar("time", 1.0, PLAIN), Bar("cpu", 1.1, PLAIN)],
    "pairs": [Bar("speed", 0.9, BETTER)],
    "busy": [Bar("speed", 0.9, PLAIN)],
    "long": [Bar("latency", 1.05, PLAIN), Bar("own_cpu", 1.10, PLAIN),
             Bar("answers_cpu", 1.10, PLAIN)],
}
JUDGED = ("library", "ours")


def is_judged(arm, group, bar):
    """What was asked of looks, and of `ipcwait awake`."""
    if bar.against == HELD:
        return arm in AWAKE
    return arm in JUDGED or (arm in AWAKE and group == "apart")


class Cell(NamedTuple):
    group: str
    kind: str
    pairs: int = 1
    work_us: int = 0
    pause_us: int = 0

    @property
    def name(self):
        many = f"{self.pairs}x{self.work_us}us"
        more = {"pairs": many, "busy": many, "long": f"{self.pause_us / 1000:g}ms"}
        return f"{self.group}/{self.kind}/" + more.get(self.group, f"{self.work_us}us")

    def options(self):
        """Of the program, without the way and the time."""
        return ["--kind", self.kind, "--pairs", str(self.pairs), "--work-us", str(self.work_us),
                "--pause-us", str(self.pause_us),
                *(["--beside", "compute"] if self.group == "busy" else []),
                "--place", "apart" if self.group in ("apart", "busy") else "free"]


def of_group(group):
    if group == "pairs":
        return [Cell(group, kind, pairs, work) for kind in ("unix", "pipe")
                for work in (0, 5, 20) for pairs in (1, 2, 4, 8)]
    if group == "busy":
        return [Cell(group, kind, pairs, work) for kind in ("unix", "pipe") for work in (0, 5)
                for pairs in (1, 2)]
    if group == "long":
        return [Cell(group, kind, pause_us=pause) for kind in KINDS for pause in (1000, 5000)]
    return [Cell(group, kind, work_us=work) for kind in KINDS for work in (0, 5)]


def cells(names):
    """Of these groups, with commas; all if there are none."""
    wanted = names.split(",") if names else list(BARS)
    for name in wanted:
        if name not in BARS:
            raise refused(f"--groups: no group {shown(name)}")
    return [cell for group in BARS if group in wanted for cell in of_group(group)]
