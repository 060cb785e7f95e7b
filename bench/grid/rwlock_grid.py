#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reader-writer lock against the C library's, cell by cell: "readers" of scripts/bench.

    bench/grid/rwlock_grid.py                         # 48 cells, about 5 minutes
    bench/grid/rwlock_grid.py --wakes cheap           # while /dev/cpu_dma_latency is held at 0
    bench/grid/rwlock_grid.py --threads 16 --runs 9   # a part of it
    bench/grid/rwlock_grid.py --from FILE...          # show results of scripts/bench

"x glibc" is how many times as many operations a second libipcwait does: a quotient within a round, and
the median over the rounds that are kept. "noise" is the same quotient of glibc to itself. "worst" is the
99.9th percentile of the times until a thread has the lock, of all its operations. Where sections are so
short that one thread at a time is best, and where they fill the time, no lock gets far above 1.
"""

import math
import re
import statistics
import sys

from mutex_grid import geometric_mean, measure, measured, options, quotient, run, time_text

OURS, THEIRS, TWIN = "ipcwait", "glibc", "glibc-again"
THREADS = ("2", "4", "8", "16")
WRITERS = ("0", "1", "10", "50")
SECTIONS = ("0", "1us", "10us")
NAME = re.compile(r"^readers/impl:([^/]+)/threads:([0-9]+)/writers:([0-9]+)/section:([^/]+)")

CELL_LEAST, MEAN_LEAST = 0.9, 1.4
WORST_NS = 20e6     # what is never too long


def read(paths):
    """Cells (threads, writers, section) in which both are there."""
    return {cell: impls for cell, impls in measured(paths, NAME).items()
            if all("real_time" in impls.get(i, {}) for i in (OURS, THEIRS))}


def order(cell):
    threads, writers, section = cell
    return int(threads), int(writers), SECTIONS.index(section) if section in SECTIONS else 99


def worst_ns(metrics):
    """The 99.9th percentile of waits, or None where there were too few."""
    for name in ("wait_p999_ns", "wait_sampled_p999_ns"):
        if name in metrics:
            return metrics[name]["median"]
    return None


def is_too_long(ours, theirs):
    return ours is not None and ours > max(WORST_NS, theirs or 0)


def show(cells):
    """Quotients by cell, and the cells whose waits are too long, after the table has been printed."""
    found, late = {}, []
    print(f"{'threads':>7} {'writers %':>9} {'section':>8} {'ours ns':>9} {'CPU ns':>9}   {'glibc ns':>9} "
          f"{'CPU ns':>9}{'x glibc':>9}{'noise':>7}   {'worst us':>9} {'glibc us':>9}")
    for cell in sorted(cells, key=order):
        impls = cells[cell]
        found[cell] = quotient(impls, THEIRS, OURS)
        noise = quotient(impls, THEIRS, TWIN) if TWIN in impls else math.nan
        times = [time_text(impls[i][m]["median"]) for i in (OURS, THEIRS)
                 for m in ("real_time", "cpu_time")]
        worst = [worst_ns(impls[i]) for i in (OURS, THEIRS)]
        words = ["-" if w is None else f"{w / 1000:.0f}" for w in worst]
        if is_too_long(*worst):
            late.append(cell)
        print(f"{cell[0]:>7} {cell[1]:>9} {cell[2]:>8} {times[0]:>9} {times[1]:>9}   {times[2]:>9} "
              f"{times[3]:>9}{found[cell]:9.2f}{noise:7.2f}   {words[0]:>9} {words[1]:>9}"
              f"{'' if found[cell] >= CELL_LEAST else f'  below {CELL_LEAST}'}"
              f"{'  waits too long' if cell in late else ''}")
    return found, late


def conclude(found, late):
    below = sum(q < CELL_LEAST for q in found.values())
    mean = geometric_mean(list(found.values()))
    print(f"\ncells below {CELL_LEAST}: {below} of {len(found)}   bar 0  "
          f"{'NOT reached' if below else 'reached'}")
    print(f"geometric mean ({len(found)}): {mean:.2f}   bar >= {MEAN_LEAST:.2f}  "
          f"{'reached' if mean >= MEAN_LEAST else 'NOT reached'}   "
          f"median {statistics.median(found.values()):.2f}")
    print(f"waits above glibc's and {WORST_NS / 1e6:.0f} ms: {len(late)}   bar 0  "
          f"{'NOT reached' if late else 'reached'}")


def main(arguments):
    o = options(arguments, __doc__, THREADS)
    names = f"^readers/impl:({OURS}|{THEIRS}|{TWIN})/threads:({'|'.join(o.threads)})/"
    run("rwlock_grid.py", lambda: read(o.sources or [measure(o, "rwlock-grid", "readers", names)]),
        lambda cells: conclude(*show(cells)))


if __name__ == "__main__":
    main(sys.argv[1:])
