# SPDX-License-Identifier: MIT
"""What is run, and what is held to what; the only table of it.

Figures of a run, each held against another run of the same round:
  time     share of the time of a round trip
  cpu      share of the CPU time of the whole machine, of a round trip
  own_cpu  share of the CPU time of the processes alone, of a round trip
  answers_cpu  the same, of those alone that wait through the others' pauses
  latency  share of the median time from a write to the return of the other's wait
  speed    so many times as many round trips a second
  worst    as time, the highest of all rounds instead of the median
  again    the time of a round trip in the last third as a share of that in the first third

Of a cell with long_us "time" and "own_cpu" are those of the last third.
"""

from typing import NamedTuple

from harness.errors import refused, shown
from preload.arms import AWAKE
from preload.bars import Bar

PLAIN, HELD = "plain", "held"
# The better of plain and fixed in a round; the faster of plain and pinned; the run itself.
BETTER, FASTER, ITSELF = "better", "faster", "itself"
ONE_OF = {BETTER: ("plain", "fixed"), FASTER: ("plain", "pinned")}

KINDS = ("pipe", "unix", "tcp", "eventfd")
STREAMS = ("pipe", "unix", "tcp")

# Groups whose pairs begin on one CPU, and how long such a run lasts at most. Later the scheduler
# has parted the ends by itself. A pair at nice 19 may have no CPU for a while.
STARTS = {"start": 0.05, "start-busy": 0.05, "start-nice": 0.5}

# Group: what its bars are, for the arms that are judged. Where nearly all time is idle the
# machine's is too little to be measured in ticks.
BARS = {
    "apart": [Bar("time", 0.35, PLAIN), Bar("cpu", 0.35, PLAIN), Bar("time", 1.10, HELD)],
    "free": [Bar("time", 1.0, PLAIN), Bar("cpu", 1.1, PLAIN), Bar("time", 1.15, BETTER),
             Bar("worst", 1.5, BETTER)],
    "pairs": [Bar("speed", 0.9, BETTER)],
    "busy": [Bar("speed", 0.9, PLAIN)],
    "long": [Bar("latency", 1.05, PLAIN), Bar("own_cpu", 1.10, PLAIN),
             Bar("answers_cpu", 1.10, PLAIN)],
    "start": [Bar("time", 0.3, PLAIN), Bar("worst", 0.5, PLAIN)],
    "start-busy": [Bar("time", 0.7, PLAIN)],
    "start-nice": [Bar("time", 1.05, PLAIN)],
    "together": [Bar("time", 1.05, FASTER), Bar("own_cpu", 1.05, FASTER)],
    "again": [Bar("time", 1.15, BETTER), Bar("worst", 1.5, BETTER), Bar("again", 1.15, ITSELF)],
}
JUDGED = ("library", "ours")

# Arms of the groups in which not every arm has a place. "pinned" has none in the others.
ARMS = {**{group: ("plain", *JUDGED) for group in STARTS},
        "together": ("plain", "pinned", *JUDGED), "again": ("plain", "fixed", *JUDGED)}


def is_judged(arm, group, bar):
    """What was asked of looks, and of `ipcwait awake`."""
    if bar.against == HELD:
        return arm in AWAKE
    return arm in JUDGED or (arm in AWAKE and group == "apart")


def takes(group, arm):
    """Whether a group measures an arm. What a group starts beside the pairs leaves room for no other."""
    if group in ARMS:
        return arm.name in ARMS[group]
    return arm.name != "pinned" and (group != "busy" or arm.beside == "none")


class Cell(NamedTuple):
    group: str
    kind: str
    pairs: int = 1
    work_us: int = 0
    pause_us: int = 0
    long_us: int = 0

    @property
    def name(self):
        many = f"{self.pairs}x{self.work_us}us"
        more = {"pairs": many, "busy": many, "long": f"{self.pause_us / 1000:g}ms",
                "again": f"{self.work_us}-{self.long_us}us"}
        return f"{self.group}/{self.kind}/" + more.get(self.group, f"{self.work_us}us")

    @property
    def place(self):
        if self.group in STARTS:
            return "start"
        return "apart" if self.group in ("apart", "busy") else "free"

    @property
    def beside(self):
        return {"busy": "compute", "start-busy": "one", "start-nice": "one"}.get(self.group, "none")

    @property
    def moves(self):
        """Whether the library may move threads; the module always may."""
        return self.group in STARTS

    def seconds(self, asked):
        return min(asked, STARTS.get(self.group, asked))

    def options(self):
        """Of the program, without the way and the time."""
        return ["--kind", self.kind, "--pairs", str(self.pairs), "--work-us", str(self.work_us),
                "--pause-us", str(self.pause_us), "--long-us", str(self.long_us),
                *(["--beside", self.beside] if self.beside != "none" else []),
                *(["--nice", "19"] if self.group == "start-nice" else []),
                "--place", self.place]


def of_group(group):
    if group == "pairs":
        return [Cell(group, kind, pairs, work) for kind in ("unix", "pipe")
                for work in (0, 5, 20) for pairs in (1, 2, 4, 8)]
    if group == "busy":
        return [Cell(group, kind, pairs, work) for kind in ("unix", "pipe") for work in (0, 5)
                for pairs in (1, 2)]
    if group == "long":
        return [Cell(group, kind, pause_us=pause) for kind in KINDS for pause in (1000, 5000)]
    if group in STARTS:
        return [Cell(group, kind) for kind in STREAMS]
    if group == "together":
        return [Cell(group, kind, work_us=work) for kind in STREAMS for work in (50, 100, 300)]
    if group == "again":
        return [Cell(group, kind, work_us=work, long_us=long) for kind in STREAMS
                for work in (0, 5) for long in (300, 1000)]
    return [Cell(group, kind, work_us=work) for kind in KINDS for work in (0, 5)]


def cells(names):
    """Of these groups, with commas; all if there are none."""
    wanted = names.split(",") if names else list(BARS)
    for name in wanted:
        if name not in BARS:
            raise refused(f"--groups: no group {shown(name)}")
    return [cell for group in BARS if group in wanted for cell in of_group(group)]
