# SPDX-License-Identifier: MIT
"""python3 bench/preload: from the command line to the exit status."""

import argparse
import contextlib
import fnmatch
import os
import re
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import summaries
from harness import environment, interrupts, noise, store
from harness.errors import FAILED, INTERRUPTED, OK, Ending, refused, shown, unexpected
from harness.options import Parser, seconds, some, whole
from harness.progress import Progress

from . import judging, overall, pooling, session, table
from .arms import arms as find_arms
from .awake import LATENCY, busy, hold_awake
from .catalogue import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
MISSED_BAR = 3
QUICK_SECONDS = 0.25

EPILOG = """\
Exit status: 0 done; 1 a program hung, failed or ended differently under an arm; 2 bad input;
3 a bar was missed; 130 interrupted. docs/benchmarks/preload.md tells how it measures."""


def parser():
    p = Parser(prog="bench/preload", epilog=EPILOG, allow_abbrev=False,
               formatter_class=argparse.RawDescriptionHelpFormatter,
               description="Programs under nothing, under a shim that only forwards, and under "
                           "the preload module; those that wait in the kernel also with "
                           "IPCWAIT_FD, beside ipcwait awake, and with idle CPUs held awake.")
    p.add_argument("--only", type=some, metavar="NAMES",
                   help="programs, with commas; java means java/..., and there are * and ?")
    p.add_argument("--list", action="store_true", help="print the programs, measure nothing")
    p.add_argument("--pool", nargs="+", metavar="FILE.json",
                   help="measure nothing: of these results, all programs that are to lose nothing "
                        "as one sample")
    p.add_argument("--rounds", type=whole(1, 999), metavar="N", help="(15; 7 of long programs)")
    p.add_argument("--seconds", type=seconds, metavar="S", help="to measure in a run (1)")
    p.add_argument("--quick", action="store_true",
                   help=f"{session.QUICK_ROUNDS} rounds of {QUICK_SECONDS} s")
    p.add_argument("--arm", action="append", default=[], metavar="NAME=PATH",
                   help="a further library to preload, held to the same bars")
    p.add_argument("--arms", type=some, metavar="NAMES",
                   help="only these and none, with commas; fd, awake, spinner, held and hog only "
                        "if named")
    p.add_argument("--cpus", type=some, metavar="LIST", help="pin to these, as 0 or 0,1")
    p.add_argument("--cheap", action="store_true", help=f"hold {LATENCY} at 0")
    p.add_argument("--busy", action="store_true",
                   help="beside a program that computes on the last CPU, whatever the arm")
    p.add_argument("--limit", type=whole(1, 3600), default=120, metavar="S",
                   help="a run that takes longer hangs (120)")
    p.add_argument("--build", type=some, default=str(ROOT / "build-bench"), metavar="DIR",
                   help="build directory (build-bench)")
    p.add_argument("--out", type=some, metavar="FILE.json", help="the result, with every run")
    p.add_argument("--markdown", type=some, metavar="FILE.md", help="the table")
    p.add_argument("--no-progress", action="store_true")
    return p


def chosen(names):
    """Those programs, in the order of the catalogue."""
    if not names:
        return PROGRAMS
    patterns = names.split(",")
    for pattern in patterns:
        if not any(fits(p.name, pattern) for p in PROGRAMS):
            raise refused(f"--only: no program {shown(pattern)}")
    return [p for p in PROGRAMS if any(fits(p.name, pattern) for pattern in patterns)]


def fits(name, pattern):
    return name.startswith(pattern + "/") or fnmatch.fnmatchcase(name, pattern)


def cpu_list(text):
    if not text:
        return None
    if not re.fullmatch(r"\d{1,4}(,\d{1,4})*", text):
        raise refused(f"--cpus: {shown(text)} is no list like 0 or 0,1")
    wanted = {int(n) for n in text.split(",")}
    if not wanted <= os.sched_getaffinity(0):
        raise refused(f"--cpus: {shown(text)}: not all of them are ours")
    return wanted


def context(o, folder):
    folder.chmod(0o755)         # servers run as somebody else
    return SimpleNamespace(
        build=Path(o.build).absolute(), source=ROOT / "bench/preload", folder=folder,
        scratch=folder / "scratch", beside=(), cpus=cpu_list(o.cpus), limit_s=o.limit,
        seconds=o.seconds or (QUICK_SECONDS if o.quick else 1.0),
        fsroot=Path(os.environ.get("IPCWAIT_BENCH_FSROOT") or "/"))


def method(o, c, arms):
    return {"seconds": c.seconds, "limit_s": c.limit_s,
            "cpus": sorted(c.cpus) if c.cpus else None,
            "idle_states": "held at 0" if o.cheap else "as they are", "busy": o.busy,
            "interval": "sign test, 95 %", "arms": [a.name for a in arms if not a.missing],
            "missing": {a.name: a.missing for a in arms if a.missing}}


def status_of(result):
    entries = result["programs"]
    verdicts = {row["verdict"] for e in entries for row in [*e["rows"], *result["overall"]]}
    verdicts |= {run["verdict"] for e in entries for r in e["rounds"] for run in r.values()}
    if verdicts & {judging.HUNG, judging.DIFFERS, judging.FAILED}:
        return FAILED
    return MISSED_BAR if judging.MISSED in verdicts else OK


def write(o, result):
    if o.out:
        store.save(result, o.out)
    if o.markdown:
        store.write_text(o.markdown, table.markdown(result), "--markdown")


def measure(o, programs, arms, c):
    bar = Progress(quiet=o.no_progress or not sys.stderr.isatty())
    result = {"format": 1, "started": store.now(), "finished": None,
              "environment": environment.read(
                  SimpleNamespace(build=c.build, fsroot=c.fsroot, root=ROOT, named=False), None),
              "method": method(o, c, arms), "verdict": {"why": None}, "programs": [],
              "overall": []}
    for p in programs:
        result["programs"].append(session.entry(p, arms, o, c, bar.note))
        bar.clear()
        print("\n".join(table.of_entry(result["programs"][-1])), flush=True)
        runs = [run for e in result["programs"] for r in e["rounds"] for run in r.values()]
        result["verdict"] = noise.verdict(runs)
        result["overall"] = [] if o.busy else list(overall.judged(result["programs"]))
        result["finished"] = store.now()
        write(o, result)
    print("\n".join([*overall.lines(result["overall"]), table.conditions(result)]))
    if o.out:
        print(summaries.described(summaries.write(o.out)))
    return status_of(result)


def run(arguments):
    o = parser().parse_args(arguments)
    if o.pool:
        if o != parser().parse_args(["--pool", *o.pool, "--build", str(o.build)]):
            raise refused("--pool measures nothing, and takes no other options")
        print("\n".join(pooling.lines(o.pool)))
        return OK
    programs = chosen(o.only)
    for path, option in ((o.out, "--out"), (o.markdown, "--markdown")):
        if path:
            store.check_writable(path, option)
    if not (Path(o.build) / "meson-info").is_dir():
        raise refused(f"{shown(o.build)} is no build folder: scripts/configure build-bench "
                      "--buildtype=release -Dtests=disabled && ninja -C build-bench")
    with tempfile.TemporaryDirectory(prefix="preload.") as folder:
        c = context(o, Path(folder))
        if o.list:
            for p in programs:
                print(f"{p.name:<28}{p.title:<56}{p.missing(c) or ''}".rstrip())
            return OK
        arms = find_arms(c.build, o.arm, o.arms, o.cheap)
        with hold_awake() if o.cheap else contextlib.nullcontext(), \
                busy([max(c.cpus or os.sched_getaffinity(0))] if o.busy else []) as c.beside:
            return measure(o, programs, arms, c)


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
    print(f"bench/preload: {text}", file=sys.stderr)
