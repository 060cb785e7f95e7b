# SPDX-License-Identifier: MIT
"""python3 bench/descriptors: from the command line to the exit status."""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import summaries
from harness import environment, interrupts, noise, store
from harness.errors import FAILED, INTERRUPTED, OK, Ending, refused, shown, unexpected
from harness.options import Parser, seconds, some, whole
from harness.progress import Progress
from preload.cli import LATENCY, MISSED_BAR, QUICK_SECONDS, ROOT, hold_awake
from preload.session import QUICK_ROUNDS

from . import judging, measuring, table
from .arms import arms as find_arms
from .groups import cells, takes

ROUNDS, SECONDS = 9, 1.0
LIMIT_MORE_S = 30

EPILOG = """\
Exit status: 0 done; 1 a run failed or hung; 2 bad input; 3 a bar was not reached; 130 interrupted.
docs/benchmarks/descriptors.md tells how it measures."""


def parser():
    p = Parser(prog="bench/descriptors", epilog=EPILOG, allow_abbrev=False,
               formatter_class=argparse.RawDescriptionHelpFormatter,
               description="Hand-offs through descriptors: plain calls, looks for a fixed time, "
                           "ipcwait/fd.h, the preload module, and CPUs kept awake.")
    p.add_argument("--groups", type=some, metavar="NAMES",
                   help="apart, free, pairs, busy, long, start, start-busy, start-nice, together, "
                        "again; with commas")
    p.add_argument("--arms", type=some, metavar="NAMES",
                   help="fixed, pinned, library, ours, held, awake, spinner, hog, with commas; plain is "
                        "always there, spinner only if named")
    p.add_argument("--list", action="store_true", help="print the cells, measure nothing")
    p.add_argument("--rounds", type=whole(1, 999), metavar="N", help=f"({ROUNDS})")
    p.add_argument("--seconds", type=seconds, metavar="S", help="to measure in a run (1)")
    p.add_argument("--quick", action="store_true",
                   help=f"{QUICK_ROUNDS} rounds of {QUICK_SECONDS} s")
    p.add_argument("--cheap", action="store_true", help=f"hold {LATENCY} at 0 for all arms")
    p.add_argument("--build", type=some, default=str(ROOT / "build-bench"), metavar="DIR",
                   help="build directory (build-bench)")
    p.add_argument("--json", type=some, metavar="FILE", help="the result, with every run")
    p.add_argument("--no-progress", action="store_true")
    return p


def context(o, folder):
    length = o.seconds or (QUICK_SECONDS if o.quick else SECONDS)
    return SimpleNamespace(
        build=Path(o.build).absolute(), folder=folder, seconds=length,
        rounds=o.rounds or (QUICK_ROUNDS if o.quick else ROUNDS), limit_s=length + LIMIT_MORE_S,
        fsroot=Path(os.environ.get("IPCWAIT_BENCH_FSROOT") or "/"))


def why_not_held():
    """Why CPUs cannot be kept awake, or None. Without --cheap that is an arm less."""
    try:
        hold_awake().close()
    except Ending as e:
        return str(e).removeprefix("--cheap: ")
    return None


def blank(o, c, arms):
    return {"format": 1, "started": store.now(), "finished": None,
            "environment": environment.read(
                SimpleNamespace(build=c.build, fsroot=c.fsroot, root=ROOT, named=False), None),
            "method": {"seconds": c.seconds, "rounds": c.rounds,
                       "idle_states": "held at 0" if o.cheap else "as they are",
                       "interval": "sign test, 95 %",
                       "arms": [a.name for a in arms if not a.missing],
                       "missing": {a.name: a.missing for a in arms if a.missing}},
            "verdict": {"why": None}, "cells": []}


def status_of(entries):
    if any(run["why"] for e in entries for r in e["rounds"] for run in r.values()):
        return FAILED
    missed = any(row["verdict"] == judging.MISSED for e in entries for row in e["rows"])
    return MISSED_BAR if missed else OK


def measure(o, chosen, arms, c):
    bar = Progress(quiet=o.no_progress or not sys.stderr.isatty())
    result = blank(o, c, arms)
    for cell in chosen:
        mine = [a for a in arms if takes(cell.group, a)]
        rounds = measuring.rounds(cell, mine, c.rounds, c, bar.note)
        rows = judging.judge(cell.group, rounds, [a.name for a in mine if not a.missing])
        result["cells"].append({"name": cell.name, "rounds": rounds, "rows": rows})
        bar.clear()
        print("\n".join(table.of_entry(result["cells"][-1])), flush=True)
        runs = [run for e in result["cells"] for r in e["rounds"] for run in r.values()]
        result["verdict"], result["finished"] = noise.verdict(runs), store.now()
        if o.json:
            store.save(result, o.json)
    print(table.conditions(result))
    if o.json:
        print(summaries.described(summaries.write(o.json)))
    return status_of(result["cells"])


def run(arguments):
    o = parser().parse_args(arguments)
    chosen = cells(o.groups)
    if o.list:
        print("\n".join(cell.name for cell in chosen))
        return OK
    if o.json:
        store.check_writable(o.json, "--json")
    with tempfile.TemporaryDirectory(prefix="descriptors.") as folder:
        c = context(o, Path(folder))
        if not (c.build / measuring.PROGRAM).is_file():
            raise refused(f"{shown(o.build)} has no {measuring.PROGRAM}: scripts/configure "
                          "build-bench --buildtype=release -Dtests=disabled && "
                          "ninja -C build-bench")
        arms = find_arms(c.build, o.arms, o.cheap, why_not_held())
        held = hold_awake() if o.cheap else None
        try:
            return measure(o, chosen, arms, c)
        finally:
            if held:
                held.close()


def main(arguments):
    """The exit status. Messages are one line each."""
    interrupts.catch()
    try:
        return run(arguments)
    except Ending as e:
        complain(e)
        return e.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except Exception as e:      # whatever it is: one line, and nobody has to read a traceback
        complain(unexpected(e))
        return FAILED


def complain(text):
    print(f"bench/descriptors: {text}", file=sys.stderr)
