# SPDX-License-Identifier: MIT
"""What queue_bench holds queues and channels to: each check has variants, and bars between them."""

from typing import NamedTuple

TCMALLOC = "tcmalloc"
SEED = "bench/seed/"
# Of several producers and consumers. urcu_wfcq hides what was pushed behind a push that is under way.
LINEARIZABLE = ["boost", "tbb", "urcu_lfq"]


class Variant(NamedTuple):
    """argv: the program below the build folder, and its arguments."""

    argv: list
    env: dict = {}
    units: str = "items"        # what the program counts


class Bar(NamedTuple):
    """times: ours is so many times as fast as the best of peers; share: it takes this part of its
    time, or of its CPU time; most: that figure of ours is at most so much."""

    ours: str
    peers: list
    kind: str
    limit: float
    figure: str = "wall_ns"


class Check(NamedTuple):
    title: str
    variants: dict
    bars: list


def queue(name, count, producers=1, consumers=None, *more, **env):
    """As many consumers as producers, if nobody says."""
    return Variant([SEED + "queue_test", name, count, producers, consumers or producers, *more],
                   env)


def one_to_one(n):
    count = n(100_000_000)
    names = ["ipcwait", "seed_list", "seed_cache", "urcu_wfcq", "moodycamel"]
    variants = {name: queue(name, count) for name in names}
    for name in ("seed_list", "urcu_wfcq"):
        variants[f"{name} {TCMALLOC}"] = queue(name, count, LD_PRELOAD=TCMALLOC)
    return Check("one producer, one consumer", variants, [
        Bar("ipcwait", ["seed_list"], "times", 2.5),
        Bar("ipcwait", ["moodycamel"], "times", 1.0),
        Bar("ipcwait", [f"urcu_wfcq {TCMALLOC}"], "times", 0.9)])


def crowd(threads):
    def check(n):
        count = n(10_000_000)
        names = ["ipcwait", *LINEARIZABLE, "urcu_wfcq", "moodycamel"]
        return Check(f"{threads} producers, {threads} consumers",
                     {name: queue(name, count, threads) for name in names},
                     [Bar("ipcwait", LINEARIZABLE, "times", 2.5),
                      Bar("ipcwait", ["moodycamel"], "times", 0.8)])
    return check


def one_consumer(producers):
    """ipcwait_mpsc is ours with IPCWAIT_QUEUE_ONE_CONSUMER."""
    def check(n):
        count = n(20_000_000)
        names = ["ipcwait_mpsc", "ipcwait", "urcu_wfcq", "moodycamel"]
        variants = {name: queue(name, count, producers, 1) for name in names}
        fast = f"urcu_wfcq {TCMALLOC}"
        variants[fast] = queue("urcu_wfcq", count, producers, 1, LD_PRELOAD=TCMALLOC)
        return Check(f"{producers} producers, one consumer", variants, [
            Bar("ipcwait_mpsc", ["ipcwait"], "times", 1.0),
            Bar("ipcwait_mpsc", ["moodycamel"], "times", 1.0),
            Bar("ipcwait_mpsc", ["urcu_wfcq", fast], "times", 0.9)])
    return check


def spsc(n):
    count = n(100_000_000)
    peers = ["boost_spsc", "ck_ring", "moodycamel_spsc"]
    return Check("bounded, one producer, one consumer",
                 {name: queue(name, count) for name in ["ipcwait_spsc", *peers]},
                 [Bar("ipcwait_spsc", peers, "times", 1.2)])


def blocking(n):
    count = n(50_000_000)
    return Check("a consumer that waits in the queue, saturated",
                 {"ipcwait": queue("ipcwait", count),
                  "ipcwait waits": queue("ipcwait", count, 1, 1, "wait")},
                 [Bar("ipcwait waits", ["ipcwait"], "times", 0.95),
                  Bar("ipcwait waits", [], "most", 0.01, "futex_wakes")])


def trickle(gap_us, count):
    def check(n):
        return Check(f"an item each {gap_us} us",
                     {name: Variant(["bench/queue/trickle_test", name, gap_us, n(count)])
                      for name in ("ipcwait", "futex")},
                     [Bar("ipcwait", ["futex"], "share", 1.05),
                      Bar("ipcwait", ["futex"], "share", 1.10, "cpu_ns")])
    return check


def many(n):
    count = n(50_000_000)
    return Check("8 producers and 8 consumers against one of each",
                 {"ipcwait": queue("ipcwait", count), "ipcwait 8P8C": queue("ipcwait", count, 8)},
                 [Bar("ipcwait 8P8C", ["ipcwait"], "times", 0.5)])


def over_channels(test, rounds, fast_rounds, bars, *more):
    """@bars: against Go with two CPUs and against glibc, as shares."""
    def check(n):
        ours = ["ipcwait", "ipcwait-rendezvous"]
        variants = {name: Variant([SEED + "channel_test", test, name,
                                   n(fast_rounds if name in ours else rounds)], units="messages")
                    for name in [*ours, "glibc", "tbb", *more]}
        variants["Go"] = Variant([SEED + "go_" + test, n(fast_rounds)], {"GOMAXPROCS": "2"},
                                 "messages")
        return Check(f"{test}, ns a message", variants,
                     [Bar(name, [peer], "share", limit) for name in ours
                      for peer, limit in zip(("Go", "glibc"), bars)])
    return check


def file(n):
    count = n(20_000_000)
    return Check("records of 30 bytes, written one by one, and by a channel in batches",
                 {how: Variant([SEED + "write_test", count, how], units="writes")
                  for how in ("direct", "channel", "batches")},
                 [Bar("channel", ["direct"], "share", 0.35),
                  Bar("batches", ["direct"], "share", 0.35)])


def between(n):
    count = n(10_000_000)
    return Check("messages of 64 bytes between two processes",
                 {way: Variant(["bench/queue/between_test", way, count])
                  for way in ("channel", "batches", "pipe", "socket", "packets")},
                 [Bar("channel", [peer], "times", 10) for peer in ("pipe", "socket", "packets")])


def burst(n):
    return Check("kB more than before, after a burst of items, drained and trimmed",
                 {"ipcwait": Variant(["bench/queue/burst_test", n(10_000_000)])},
                 [Bar("ipcwait", [], "most", 4096, "kept_kb")])


# {name: function of how to scale a count}
CHECKS = {
    "1p1c": one_to_one,
    "2p2c": crowd(2),
    "4p4c": crowd(4),
    "2p1c": one_consumer(2),
    "4p1c": one_consumer(4),
    "spsc": spsc,
    "blocking": blocking,
    "trickle50": trickle(50, 20_000),
    "trickle1000": trickle(1000, 2000),
    "8p8c": many,
    "pingpong": over_channels("pingpong", 100_000, 1_000_000, (1.0, 0.1)),
    "serverchannel": over_channels("serverchannel", 100_000, 100_000, (1.5, 0.4), "futex",
                                   "futex-yields"),
    "server": over_channels("server", 10_000, 10_000, ()),
    "seda": over_channels("seda", 10_000, 10_000, ()),
    "file": file,
    "between": between,
    "burst": burst,
}
