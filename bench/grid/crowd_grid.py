#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libipcwait's longest waits against glibc's, cell by cell: "starvation" of scripts/bench.

    bench/grid/crowd_grid.py                               # 18 cells, about 6 minutes
    bench/grid/crowd_grid.py --wakes cheap                 # while /dev/cpu_dma_latency is held at 0
    bench/grid/crowd_grid.py --threads-per-cpu 8 --runs 9  # a part of it
    bench/grid/crowd_grid.py --from FILE...                # show results of scripts/bench

A cell compares two mutexes, two semaphores of one token, or two queues of one place under a mutex
and condition variables (bench/peers/lock_token.c). 2, 4 or 8 threads for each CPU do nothing but
lock. With r threads per CPU the bars are:

    99.9th percentile of waits   at most 1.25 times glibc's, or r ms if that is longer
    longest wait of a run        at most 2 times glibc's, or 4 r ms if that is longer

The medians over the rounds that are kept are judged. "worst" is the highest of all rounds. The
longest wait grows with the time of a run, which is 1 s unless --min-time says otherwise.
"""

import re
import sys
from typing import NamedTuple

from mutex_grid import measure, measured, options, run, time_text


class Bar(NamedTuple):
    metric: str
    title: str
    text: str
    times: float        # glibc's wait
    least_ns: float     # for each thread per CPU


BARS = (Bar("wait_p999_ns", "99.9 % ms", "99.9th percentile", 1.25, 1e6),
        Bar("wait_max_ns", "longest ms", "longest wait", 2, 4e6))

OBJECTS = {"mutex": ("ipcwait", "glibc"), "semaphore": ("ipcwait-sem", "glibc-sem"),
           "queue": ("ipcwait-queue", "glibc-queue")}
THREADS = ("2", "4", "8")
SECTIONS = ("1us", "10us")
NAME = re.compile(r"^starvation/impl:([^/]+)/threads_per_cpu:([0-9]+)/section:([^/]+)")

MIN_TIME_S = 1


def read(paths):
    """{(object, threads per CPU, section): [metrics of libipcwait, of glibc]} of pairs."""
    return {(kind, *cell): [impls[i] for i in pair]
            for cell, impls in measured(paths, NAME).items() for kind, pair in OBJECTS.items()
            if all("real_time" in impls.get(i, {}) for i in pair)}


def order(cell):
    kind, threads, section = cell
    return (list(OBJECTS).index(kind), int(threads),
            SECTIONS.index(section) if section in SECTIONS else 99)


def middle(metrics, bar):
    """None if there were too few waits for a percentile."""
    return metrics[bar.metric]["median"] if bar.metric in metrics else None


def worst(metrics, bar):
    """A summary has the highest of all rounds instead of the rounds."""
    if bar.metric not in metrics:
        return None
    entry = metrics[bar.metric]
    return max((v for v in entry["values"] if v is not None), default=entry["high"])


def limit(theirs, threads, bar):
    return max(bar.times * (middle(theirs, bar) or 0), bar.least_ns * int(threads))


def is_above(ours, most, bar):
    """Also where the wait is not known."""
    wait = middle(ours, bar)
    return wait is None or wait > most


def ms_text(ns):
    return "-" if ns is None else f"{ns / 1e6:.2f}"


def figures(impl, metrics, limits):
    waits = "".join(f"{ms_text(middle(metrics, bar)):>11}{ms_text(worst(metrics, bar)):>9}{most:>9}"
                    for bar, most in zip(BARS, limits))
    return (f" {impl:<14}{1e9 / metrics['real_time']['median']:>11.0f}"
            f"{time_text(metrics['cpu_time']['median']):>9}{waits}")


def show(cells):
    """Prints the table. Returns for each bar which of the cells are above it."""
    found = []
    titles = "".join(f"{bar.title:>11}{'worst':>9}{'bar':>9}" for bar in BARS)
    print(f"{'object':<10}{'threads/CPU':>11}{'section':>9} {'impl':<14}{'sections/s':>11}"
          f"{'CPU ns':>9}{titles}")
    for cell in sorted(cells, key=order):
        kind, threads, section = cell
        ours, theirs = cells[cell]
        limits = [limit(theirs, threads, bar) for bar in BARS]
        found.append([is_above(ours, most, bar) for bar, most in zip(BARS, limits)])
        marks = [f"  {bar.text} too long" for bar, late in zip(BARS, found[-1]) if late]
        names = OBJECTS[kind]
        print(f"{kind:<10}{threads:>11}{section:>9}"
              f"{figures(names[0], ours, [ms_text(most) for most in limits])}{''.join(marks)}")
        print(f"{'':<30}{figures(names[1], theirs, [''] * len(BARS))}".rstrip())
    return list(zip(*found))


def conclude(found):
    print()
    for bar, late in zip(BARS, found):
        print(f"{bar.text} above {bar.times:g} times glibc's and {bar.least_ns / 1e6:.0f} ms for "
              f"each thread per CPU: {sum(late)} of {len(late)}   bar 0  "
              f"{'NOT reached' if any(late) else 'reached'}")


def main(arguments):
    o = options(arguments, __doc__, THREADS, "threads-per-cpu", MIN_TIME_S)
    impls = "|".join(impl for pair in OBJECTS.values() for impl in pair)
    names = f"^starvation/impl:({impls})/threads_per_cpu:({'|'.join(o.threads)})/"
    run("crowd_grid.py",
        lambda: read(o.sources or [measure(o, "crowd-grid", "starvation", names)]),
        lambda cells: conclude(show(cells)))


if __name__ == "__main__":
    main(sys.argv[1:])
