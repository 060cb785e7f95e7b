# SPDX-License-Identifier: MIT
"""scripts/bench: from the command line to the exit status."""

import os
import re
from pathlib import Path
from types import SimpleNamespace

import summaries

from . import (compare, compare_table, interrupts, joining, measuring, names, options, parts, plan,
               probes, progress, store, validate)
from .errors import FAILED, INTERRUPTED, NOISY, OK, SLOWER, Ending, refused, shown, unexpected
from .reporting import check_outputs, check_programs, complain, report, say, write_reports

ROOT = Path(__file__).resolve().parents[2]


def make_context(o):
    """What the parts may know about this run. docs/benchmarks/harness.md lists it."""
    build = Path(o.build) if o.build else ROOT / "build-bench"
    bar = progress.Progress(quiet=o.no_progress)
    return SimpleNamespace(
        build=build.absolute(), root=ROOT, cache=build.absolute() / "cache",
        program=Path(o.program or build / "bench" / "grid" / "ipcwait_bench").absolute(),
        fsroot=Path(os.environ.get("IPCWAIT_BENCH_FSROOT") or "/"),
        named=bool(o.build or o.program), quick=not o.full, full=o.full, min_time_s=o.min_time,
        profile_by=o.profile_by or "cpu", force=o.force, probes=probes, bar=bar,
        progress=bar.note)


def show_comparison(o):
    first, second = (validate.result(path) for path in o.compare)
    for path, result in zip(o.compare, (first, second)):
        verdict = result["ipcwait"]["verdict"]
        if verdict.get("noisy") and not o.force:
            raise Ending(f"{shown(path)} was too noisy to judge: {shown(verdict.get('why'))}; "
                         "--force compares it all the same", NOISY)
    compared = compare.rows(first, second)
    if not compared["cells"]:
        raise refused("the two results have no benchmark in common")
    missing = compare.only_in_one(first, second)
    say(compare_table.text(compared, first, second, missing))
    return SLOWER if compare.ours_slower(compared) else OK


def join(o, arguments):
    joined = joining.join(o.joined, measuring.command_of(arguments))
    path = Path(o.out) if o.out else ROOT / "bench-results" / f"joined-{store.stamp()}.json"
    store.check_writable(path, "--out")
    store.save(joined, path)
    say(joining.text(joined["ipcwait"]["hosts"]))
    for line in joining.warnings(joined["ipcwait"]["hosts"]):
        complain(f"warning: {line}")
    say([f"result: {shown(path)}"])
    write_reports(o, joined)
    return OK


def show_list(o, context):
    listed = list(measuring.listed_by(context))
    if o.suites or o.quick or o.full or o.filter:
        listed = plan.chosen(listed, o.suites, o.full, o.filter)
    say(map(shown, listed))
    return OK


def profile(o, context):
    listed = measuring.listed_by(context)
    plan.check_suites([o.profile], list(listed))
    those = [listed[n] for n in listed if names.belongs(n, o.profile)]
    pattern = "|".join(names.exactly(n) for n in those)
    argv = [str(context.program), "--benchmark_filter=" + pattern,
            f"--benchmark_min_time={o.min_time or plan.MIN_TIME_S['full'][1]:g}"]
    what = re.sub(r"[^-.\w]", "-", o.profile)[:80]
    out = ROOT / "bench-results" / f"profile-{what}-{store.stamp()}"
    store.check_writable(out, "--profile")
    parts.call("stacks", "record", context, argv, out)
    return OK


def run(arguments):
    o = options.parse(arguments)
    check_outputs(o)
    check_programs(o)
    if o.compare:
        return show_comparison(o)
    if o.joined:
        return join(o, arguments)
    if o.source:
        shortened = summaries.opened(o.source)
        return report(o, shortened or validate.result(o.source), None)
    context = make_context(o)
    if o.list:
        return show_list(o, context)
    if o.profile:
        return profile(o, context)
    session = measuring.resume(o, context) if o.resume else \
        measuring.start(o, context, arguments)
    return measuring.measure(o, session)


def check(arguments):
    """What can be said before anything is installed or built: a line "build" if it is needed.
    Reading results takes no build, and who names a program or a build directory has one."""
    if {"-h", "--help"} & set(arguments):
        return OK
    o = options.parse(arguments)
    check_outputs(o)
    plan.pattern(o.filter)
    if o.resume:
        validate.result(o.resume)
    if not (o.compare or o.joined or o.source or o.program or o.build):
        say(["build"])
    return OK


def main(arguments):
    """The exit status. Messages are one line each."""
    interrupts.catch()
    try:
        if arguments[:1] == ["--check-arguments"]:
            return check(arguments[1:])
        return run(arguments)
    except Ending as e:
        complain(e)
        return e.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except OSError as e:
        complain(shown(e.strerror or e))
        return FAILED
    except Exception as e:      # whatever it is: one line, and nobody has to read a traceback
        complain(unexpected(e))
        return FAILED
