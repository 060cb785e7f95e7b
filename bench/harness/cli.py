# SPDX-License-Identifier: MIT
"""scripts/bench: from the command line to the exit status."""

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from . import (compare, compare_table, environment, interrupts, joining, names, options, parts,
               plan, probes, program, progress, session, store, table, validate)
from .errors import FAILED, INTERRUPTED, NOISY, OK, SLOWER, Ending, refused, shown

ROOT = Path(__file__).resolve().parents[2]


def make_context(o):
    """What the parts may know about this run. docs/benchmarks/harness.md lists it."""
    build = Path(o.build) if o.build else ROOT / "build-bench"
    bar = progress.Progress(quiet=o.no_progress)
    return SimpleNamespace(
        build=build.absolute(), root=ROOT, cache=build.absolute() / "cache",
        program=Path(o.program or build / "bench" / "grid" / "ipcwait_bench").absolute(),
        fsroot=Path(os.environ.get("IPCWAIT_BENCH_FSROOT") or "/"),
        quick=not o.full, full=o.full, min_time_s=o.min_time, profile_by=o.profile_by or "cpu",
        force=o.force, probes=probes, bar=bar, progress=bar.note)


def listed_by(context):
    if not context.program.is_file():
        raise refused(f"no program {shown(context.program)}: build it, or give --program")
    with tempfile.TemporaryDirectory(prefix="ipcwait-bench.") as folder:
        return program.listed(context.program, Path(folder))


def command_of(arguments):
    """To be repeated by others: paths of this machine are left out of it."""
    return ["scripts/bench", *(os.path.basename(a) if a.startswith("/") else a
                               for a in arguments)]


def say(lines):
    print("\n".join(lines), flush=True)


def write_reports(o, result):
    for path, function in ((o.report, "write_html"), (o.markdown, "write_markdown")):
        if path:
            parts.call("report", function, result, path)
            say([f"report: {shown(path)}"])


def check_outputs(o):
    """Nothing is measured for a file that cannot be written."""
    for path, option in ((o.report, "--report"), (o.markdown, "--markdown"), (o.out, "--out")):
        if path:
            if not os.path.isdir(Path(path).parent):
                raise refused(f"{option}: no folder for {shown(path)}")
            store.check_writable(path, option)
    if o.report:
        parts.function("report", "write_html")
    if o.markdown:
        parts.function("report", "write_markdown")


def report(o, result, path):
    """Table and reports; the exit status."""
    verdict = result["ipcwait"]["verdict"]
    where = f" {shown(path)} has all runs." if path else ""
    if verdict.get("noisy") and not o.force:
        print(f"scripts/bench: not reported: {shown(verdict.get('why'))}; repeat it when the "
              f"machine is quiet, or see it with --from FILE --force.{where}", file=sys.stderr)
        return NOISY
    if result["ipcwait"]["summary"]:
        say(table.text(result))
    if path:
        say([f"result: {shown(path)}"])
    write_reports(o, result)
    failed = session.failures(result)
    for name, error in failed.items():
        print(f"scripts/bench: {shown(name)}: {shown(error)}", file=sys.stderr)
    return FAILED if failed else OK


def suite_name(o):
    parts_of_it = [*o.suites, *(n for n in ("scoreboard", "vm") if getattr(o, n))]
    size = "full" if o.full else "quick"
    return size if not parts_of_it else "-".join(parts_of_it + (["full"] if o.full else []))


def out_path(o):
    if o.out:
        return Path(o.out)
    name = suite_name(o).replace("/", "-")
    path = ROOT / "bench-results" / f"{name}-{store.stamp()}.json"
    store.check_writable(path, "--out")
    return path


def start(o, context, arguments):
    """A new session with nothing measured yet."""
    wants_benchmarks = o.suites or not (o.scoreboard or o.vm)
    listed = listed_by(context) if wants_benchmarks else {}
    chosen = plan.chosen(list(listed), o.suites, o.full, o.filter) if listed else []
    seconds = o.min_time or plan.min_time(list(listed), o.full)
    if listed:
        how = session.method(chosen, o, seconds, context)
    else:
        how = {"runs": o.runs or plan.RUNS, "trim": o.trim or "order", "min_time_s": None,
               "order": session.ORDER, "benchmarks": []}
    how["parts"] = [n for n in ("scoreboard", "vm") if getattr(o, n)]
    result = store.empty(suite_name(o), command_of(arguments),
                         environment.read(context, o.label), how)
    return session.make(result, out_path(o), context, listed, context.bar)


def resume(o, context):
    path = Path(o.resume)
    found = validate.result(path)
    store.check_writable(path, "--resume")
    wanted = found["ipcwait"]["method"].get("benchmarks")
    listed = listed_by(context) if wanted else {}
    session.check_resumable(found, path, context, listed)
    if "scoreboard" in found["ipcwait"]["method"].get("parts", []):
        parts.open_rows(found["ipcwait"].get("seed"), path)
    return session.make(found, path, context, listed, context.bar)


def announce(s):
    if s.chosen:
        left = session.left_s(s)
        say([f"{len(s.chosen)} benchmarks, {s.rounds} runs each: about {progress.duration(left)}",
             *plan.pairs_note(s.chosen, s.listed)])


def run_scoreboard(s):
    """Each row is in the file as soon as it is measured: all of them take a quarter of an hour."""
    wanted = parts.open_rows(s.own.get("seed"), s.path)
    for row in parts.each("seed", "iterate", s.context, wanted) if wanted else ():
        s.own["seed"] = parts.call("seed", "ordered", [*(s.own.get("seed") or []), row])
        session.save(s)


def run_parts(s):
    """What is not Google Benchmark. What one of them measured is kept if the next fails."""
    wanted = s.own["method"].get("parts", [])
    if "scoreboard" in wanted:
        run_scoreboard(s)
    if "vm" in wanted and not s.own.get("guests"):
        s.own["guests"] = parts.call("vm", "run", s.context)
        session.save(s)
    s.progress.clear()


def so_far(s):
    done = [f"{len(s.done)} of {len(s.chosen) * s.rounds} runs"] if s.chosen else []
    if "scoreboard" in s.own["method"].get("parts", []):
        rows = s.own.get("seed") or []
        total = len(rows) + len(parts.open_rows(rows, s.path))
        done.append(f"{len(rows)} of {total} rows of the scoreboard")
    return " after " + ", ".join(done) if done else ""


def resume_line(s):
    how = f"interrupted{so_far(s)}; go on with: scripts/bench --resume "
    return how + shlex.quote(str(s.path)) + extra_options(s.context)


def extra_options(context):
    """Those that --resume needs again."""
    text = ""
    if context.build != ROOT / "build-bench":
        text += f" --build {shlex.quote(str(context.build))}"
    if context.program != context.build / "bench" / "grid" / "ipcwait_bench":
        text += f" --program {shlex.quote(str(context.program))}"
    return text


def measure(o, s):
    announce(s)
    complete = False
    try:
        session.run_rounds(s)
        run_parts(s)
        complete = True
    except interrupts.Interrupted:
        s.progress.clear()
        print(f"scripts/bench: {resume_line(s)}", file=sys.stderr)
        return INTERRUPTED
    except Ending as e:
        s.progress.clear()
        raise Ending(f"{e}; what there is: {shown(s.path)}", e.status) from e
    finally:
        with interrupts.held():
            session.conclude(s, complete)
    return report(o, s.result, s.path)


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
    every = compared["cells"] + compared["groups"]
    return SLOWER if any(row["verdict"] == "slower" for row in every) else OK


def join(o, arguments):
    joined = joining.join(o.joined, command_of(arguments))
    path = Path(o.out) if o.out else ROOT / "bench-results" / f"joined-{store.stamp()}.json"
    store.check_writable(path, "--out")
    store.save(joined, path)
    say(joining.text(joined["ipcwait"]["hosts"]))
    say([f"result: {shown(path)}"])
    write_reports(o, joined)
    return OK


def show_list(o, context):
    listed = list(listed_by(context))
    if o.suites or o.quick or o.full or o.filter:
        listed = plan.chosen(listed, o.suites, o.full, o.filter)
    say(map(shown, listed))
    return OK


def profile(o, context):
    listed = listed_by(context)
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
    if o.compare:
        return show_comparison(o)
    if o.joined:
        return join(o, arguments)
    if o.source:
        return report(o, validate.result(o.source), None)
    context = make_context(o)
    if o.list:
        return show_list(o, context)
    if o.profile:
        return profile(o, context)
    return measure(o, resume(o, context) if o.resume else start(o, context, arguments))


def main(arguments):
    """The exit status. Messages are one line each."""
    interrupts.catch()
    try:
        return run(arguments)
    except Ending as e:
        print(f"scripts/bench: {e}", file=sys.stderr)
        return e.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except OSError as e:
        print(f"scripts/bench: {shown(e.strerror or e)}", file=sys.stderr)
        return FAILED
