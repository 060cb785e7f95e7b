#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The mutex against the best of its peers, cell by cell: "contention" of scripts/bench.

    bench/grid/mutex_grid.py                         # 36 cells, about 4 minutes
    bench/grid/mutex_grid.py --wakes cheap           # while /dev/cpu_dma_latency is held at 0
    bench/grid/mutex_grid.py --threads 2 --runs 9    # a part of it
    bench/grid/mutex_grid.py --from FILE...          # show results of scripts/bench

The best peer of a cell is the one with the lowest median time per operation, among glibc's normal
and adaptive mutex, nsync and abseil. Quotients are formed within a round, and medians over the
rounds that are kept: above 1 libipcwait is faster. "noise" is the same quotient of glibc to itself.
"bound" is the quotient of a lock that costs nothing beyond what one thread alone pays: sections one
after the other, thinking beside them on the other CPUs. No lock gets above it.
"""

import argparse
import contextlib
import json
import math
import os
import re
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "bench"))

import summaries  # noqa: E402

DEVICE = "/dev/cpu_dma_latency"

OURS, TWINS = "ipcwait", ("glibc", "glibc-again")
PEERS = ("glibc", "glibc-adaptive", "nsync", "abseil")
THREADS = ("1", "2", "4", "16")
SECTIONS = ("0", "100ns", "1us", "10us", "100us")

NAME = re.compile(r"^contention/impl:([^/]+)/threads:([0-9]+)/section:([^/]+)/think:([^/]+)")

# What is said of it, sections it is about, the least quotient that is wanted.
MEANS = (("all cells", SECTIONS, 1.25), ("sections up to 100 ns", SECTIONS[:2], 2.0),
         ("sections up to 1 us", SECTIONS[:3], 1.5))
CELL_LEAST = 0.9

EXIT_NOISY = 4


@contextlib.contextmanager
def cheap_wakes():
    """Idle CPUs stay awake as long as this is open."""
    with open(DEVICE, "wb", buffering=0) as f:
        f.write(struct.pack("i", 0))
        time.sleep(1)  # the idle governor keeps its habits for so long
        yield


def command(o, path, question, names):
    line = [str(ROOT / "scripts" / "bench"), question, "--full", "--filter", names,
            "--runs", str(o.runs), "--min-time", f"{o.min_time:g}", "--out", str(path)]
    return line + (["--build", o.build] if o.build else [])


def measure(o, name, question, names):
    """The path of the result. What scripts/bench says of single cells is left out."""
    path = o.out or ROOT / "bench-results" / time.strftime(f"{name}-%Y%m%dT%H%M%S.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    with cheap_wakes() if o.wakes == "cheap" else contextlib.nullcontext():
        status = subprocess.run(command(o, path, question, names), stdout=subprocess.DEVNULL,
                                check=False).returncode
    if status not in (0, EXIT_NOISY):
        sys.exit(status)
    print(f"wakes {'as found' if o.wakes == 'found' else 'cheap'}; result: {path}")
    return path


def measured(paths, name):
    """{cell: {impl: {metric: its entry in the summary}}}. The first group of the pattern @name is the
    implementation, and the others are the cell."""
    cells = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            own = summaries.expanded(json.load(f))["ipcwait"]
        if own["verdict"]["noisy"]:
            print(f"{path}: the machine was noisy: {own['verdict']['why']}")
        for entry in own["summary"]:
            found = name.match(entry["name"])
            if found and entry.get("metric"):
                impl, *cell = found.groups()
                cells.setdefault(tuple(cell), {}).setdefault(impl, {})[entry["metric"]] = entry
    return cells


def read(paths):
    """Cells (threads, section, think) in which libipcwait can be compared with a peer."""
    return {cell: impls for cell, impls in measured(paths, NAME).items()
            if OURS in impls and any(p in impls for p in PEERS)}


def quotient(impls, above, below):
    """Of the times of two implementations: the median over the rounds that both kept. A summary has
    those to libipcwait's, and of a twin."""
    a, b = (impls[i]["real_time"] for i in (above, below))
    if "times" in a:
        return a["times"] if below == OURS else 1 / b["times"]
    shares = [a["values"][r] / b["values"][r] for r in range(len(a["values"]))
              if r in kept(a) and r in kept(b)]
    return statistics.median(shares) if shares else a["median"] / b["median"]


def kept(entry):
    """Numbers of the rounds: the summary has the values that were kept."""
    left = list(entry["kept"])
    found = []
    for number, value in enumerate(entry["values"]):
        if value is not None and value in left:
            left.remove(value)
            found.append(number)
    return found


def bound(cells, cell, best_ns, cpus):
    """None where the cells with one thread, which tell what a section takes, were not measured."""
    threads, section, think = cell
    alone = [fastest(cells[("1", section, t)]) if ("1", section, t) in cells else None
             for t in ("0", think)]
    if None in alone:
        return None
    return best_ns / max(alone[0], alone[1] / min(int(threads), cpus))


def fastest(impls):
    return min(impls[i]["real_time"]["median"] for i in impls if i in PEERS or i == OURS)


def order(cell):
    threads, section, think = cell
    return int(threads), SECTIONS.index(section) if section in SECTIONS else 99, think


def time_text(ns):
    return f"{ns:.1f}" if ns < 1000 else f"{ns:.0f}"


def show(cells):
    """Quotients by cell and bounds by cell, after the table has been printed."""
    found, bounds = {}, {}
    cpus = len(os.sched_getaffinity(0))
    print(f"{'threads':>7} {'section':>8} {'think':>6} {'ours ns':>10} {'CPU ns':>10}   "
          f"{'best ns':>10} {'CPU ns':>10} {'best peer':<15}{'x best':>7}{'noise':>7}{'bound':>7}")
    for cell in sorted(cells, key=order):
        impls = cells[cell]
        best = min((p for p in PEERS if p in impls), key=lambda p: impls[p]["real_time"]["median"])
        found[cell] = quotient(impls, best, OURS)
        bounds[cell] = bound(cells, cell, impls[best]["real_time"]["median"], cpus)
        noise = quotient(impls, *TWINS) if all(t in impls for t in TWINS) else math.nan
        times = [time_text(impls[i][metric]["median"]) for i in (OURS, best)
                 for metric in ("real_time", "cpu_time")]
        print(f"{cell[0]:>7} {cell[1]:>8} {cell[2]:>6} {times[0]:>10} {times[1]:>10}   "
              f"{times[2]:>10} {times[3]:>10} {best:<15}{found[cell]:7.2f}{noise:7.2f}"
              f"{'' if bounds[cell] is None else f'{bounds[cell]:7.2f}'}"
              f"{'' if found[cell] >= CELL_LEAST else '  below ' + str(CELL_LEAST)}")
    return found, bounds


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def conclude(found, bounds):
    print()
    below = sum(q < CELL_LEAST for q in found.values())
    print(f"cells below {CELL_LEAST}: {below} of {len(found)}"
          f"   bar 0  {'NOT reached' if below else 'reached'}")
    for text, sections, least in MEANS:
        those = [q for (_, section, _), q in found.items() if section in sections]
        most = [b for (_, section, _), b in bounds.items() if section in sections]
        mean = geometric_mean(those)
        print(f"geometric mean, {text} ({len(those)}): {mean:.2f}   bar >= {least:.2f}  "
              f"{'reached' if mean >= least else 'NOT reached'}"
              f"{'' if None in most else f'   bound {geometric_mean(most):.2f}'}")


def options(arguments, doc, threads, of="threads", min_time=0.1):
    parser = argparse.ArgumentParser(description=doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wakes", choices=("found", "cheap"), default="found")
    parser.add_argument(f"--{of}", dest="threads", type=lambda t: t.split(","), default=threads)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--min-time", type=float, default=min_time)
    parser.add_argument("--build", help="build directory; else scripts/bench makes one")
    parser.add_argument("--out", type=Path, help="the result (bench-results/NAME-grid-<time>.json)")
    parser.add_argument("--from", nargs="+", dest="sources", metavar="FILE")
    return parser.parse_args(arguments)


def run(program, find, show_cells):
    """The exit is a line where there is nothing to be shown. The other grids call it too."""
    try:
        cells = find()
    except OSError as e:
        sys.exit(f"{program}: {e.filename}: {os.strerror(e.errno)}")
    except (ValueError, LookupError, TypeError) as e:
        sys.exit(f"{program}: this is no result of scripts/bench: {e!r}")
    if not cells:
        sys.exit(f"{program}: no cell has libipcwait and a peer")
    show_cells(cells)


def main(arguments):
    o = options(arguments, __doc__, THREADS)
    impls = "|".join((OURS, *PEERS, TWINS[1]))
    names = f"^contention/impl:({impls})/threads:({'|'.join(o.threads)})/"
    run("mutex_grid.py",
        lambda: read(o.sources or [measure(o, "mutex-grid", "contention", names)]),
        lambda cells: conclude(*show(cells)))


if __name__ == "__main__":
    main(sys.argv[1:])
