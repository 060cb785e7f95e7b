# SPDX-License-Identifier: MIT
"""What the preload module is held to; the only table of it.

Each figure is formed from the two runs of one round, ours and plain:
  speed     so many times as many operations a second
  time      share of the time of an operation
  cpu       share of the CPU time of the whole machine, of an operation
  extra_ns  so many ns more for an operation
  machine   as cpu, but by the clock: what was not idle (machine.py)
  polling   the same, and what CPUs polled in the kernel's idle loop
"""

from typing import NamedTuple

from .arms import AWAKE, KERNEL


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

# Programs like those of strangers that lost. Under the module and under fd they lose nothing.
STRANGERS = ("apache/1", "apache/32", "gdbus", "gstreamer/video", "haproxy/1", "mono/monitor",
             "mono/semaphore", "nng/ipc", "nng/tcp", "node/http", "ocaml/event",
             "postgresql/notify", "python/processes", "ssh/echo", "uv/work1", "uv/work4")

BARS = {
    **dict.fromkeys(STRANGERS, NO_LOSS),
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
    "memcached/16": NO_LOSS,
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


# Under the arms for waits that are inside of the kernel. One client: so many times as fast.
ONE_CLIENT = {
    **dict.fromkeys(("redis/1", "mariadb/select1", "node/workers", "nginx/1", "memcached/1"),
                    {"fd": 4}),
    **dict.fromkeys(("postgresql/select1-on", "postgresql/select1-off", "postgresql/tpcb1-on",
                     "postgresql/tpcb1-off"), {"fd": 1.3, "awake": 2.5, "spinner": 2.5}),
    **dict.fromkeys(("go/channels", "pool/pipe1", "pool/epoll1"), {}),
}
MANY_CLIENTS = {"fd": 0.98, "awake": 0.98, "spinner": 0.98}
COMPUTES = ("xz", "zstd", "gcc")
ALONE_CPU, MANY_CPU = Bar("machine", 1.0), Bar("machine", 1.05)
AS_HELD = Bar("time", 1.1, "held")


def kernel_bars(name, arm):
    """What is held awake for ever has none, nor has the hog: ipcwait awake is compared with them."""
    if arm in ("held", "hog"):
        return []
    if name in STRANGERS:
        return NO_LOSS if arm == "fd" else []
    if name in COMPUTES:
        return [Bar("time", 1.01)]
    speeds = ONE_CLIENT.get(name, MANY_CLIENTS)
    return [*([Bar("speed", speeds[arm])] if arm in speeds else []),
            ALONE_CPU if name in ONE_CLIENT else MANY_CPU,
            *([AS_HELD] if arm in AWAKE else [])]


# Beside a program that computes. The other bars are for a machine that has nothing else to do.
BESIDE = [Bar("speed", 0.97), Bar("machine", 1.05)]
BUSY = {"ours": ("mono/monitor", "mono/semaphore", "ocaml/event"),
        "fd": ("apache/1", "nng/tcp", "postgresql/notify", "python/processes", "ssh/echo")}

# Over all programs that are to lose nothing, those of each arm by themselves: the geometric mean of
# their speeds, and what no program's interval may lie below.
MEAN, LEAST = Bar("speed", 0.995), NO_LOSS[0]
NEAR_PLAIN = 0.03


def loses_nothing(name, arm="ours"):
    """Is the program held to do as well as plain, and not to gain?"""
    return any(bar.figure in ("speed", "time") and bar.against == "none"
               and abs(bar.limit - 1) < NEAR_PLAIN for bar in bars_of(name, arm))


def bars_of(name, arm="ours", busy=False):
    """Every workload of a database has the same. A further library has those of the module."""
    if busy:
        return BESIDE if name in BUSY.get(arm if arm in KERNEL else "ours", ()) else []
    if arm in KERNEL:
        return kernel_bars(name, arm)
    if name.startswith(("mariadb/", "postgresql/")):
        return NO_LOSS
    return BARS.get(name, [])
