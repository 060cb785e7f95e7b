# SPDX-License-Identifier: MIT
"""What the preload module is held to; the only table of it.

Each figure is formed from the two runs of one round, ours and plain:
  speed     so many times as many operations a second
  time      share of the time of an operation
  cpu       share of the CPU time of the whole machine, of an operation
  extra_ns  so many ns more for an operation
"""

from typing import NamedTuple


class Bar(NamedTuple):
    figure: str
    limit: float
    against: str = "none"       # the arm

    @property
    def sign(self):
        return ">=" if self.figure == "speed" else "<="


HALF = [Bar("time", 0.5)]
NO_LOSS = [Bar("speed", 0.98)]
NO_HARM = [Bar("time", 1.02)]
NO_BURN = [*NO_HARM, Bar("cpu", 1.05)]
FAST_PATH = [Bar("extra_ns", 3)]

BARS = {
    "java/synchronous": [Bar("speed", 20), Bar("cpu", 0.3)],
    "java/linked": [Bar("speed", 15), Bar("cpu", 0.3)],
    "java/forkjoin": [Bar("speed", 8), Bar("cpu", 0.3)],
    "java/batches": [Bar("speed", 1.1)],
    "python/queue": [Bar("speed", 5)],
    "python/submit": [Bar("speed", 4)],
    "python/asyncio": [Bar("speed", 1.3)],
    "rust/condvar": HALF,
    "rust/channel": HALF,
    "rust/park": HALF,
    "cpp/semaphore": HALF,
    "cpp/atomic": HALF,
    "cpp/latch": HALF,
    "c/sem_test": [Bar("time", 1.3, "native")],
    "alone/mutex": FAST_PATH,
    "alone/sem": FAST_PATH,
    "sqlite/wal": NO_LOSS,
    "node/stat": NO_LOSS,
    "node/readFile": NO_LOSS,
    "rocksdb/readwhilewriting": NO_LOSS,
    "sysbench/threads": NO_HARM,
    "sysbench/mutex": NO_HARM,
    "stress-ng/sem": NO_HARM,
    "rt-tests/ptsematest": HALF,
    "xz": NO_BURN,
    "zstd": NO_BURN,
    "hackbench/processes": NO_BURN,
    "hackbench/threads": NO_BURN,
    "redis": NO_BURN,
    "gcc": NO_BURN,
}


def bars_of(name):
    """Every workload of a database has the same."""
    if name.startswith(("mariadb/", "postgresql/")):
        return NO_LOSS
    return BARS.get(name, [])
