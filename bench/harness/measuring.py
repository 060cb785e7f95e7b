# SPDX-License-Identifier: MIT
"""From a new or an interrupted result to a whole one: benchmarks, scoreboard, guests."""

import contextlib
import os
import shlex
import tempfile
from pathlib import Path

import summaries

from . import (environment, interrupts, part_noise, parts, plan, program, progress, reporting,
               session, store, validate)
from .errors import INTERRUPTED, Ending, refused, shown, unexpected


def listed_by(context):
    if not context.program.is_file():
        raise refused(f"no program {shown(context.program)}: build it, or give --program")
    with tempfile.TemporaryDirectory(prefix="ipcwait-bench.") as folder:
        return program.listed(context.program, Path(folder))


def command_of(arguments):
    """To be repeated by others: paths of this machine are left out of it."""
    return ["scripts/bench", *(os.path.basename(a) if a.startswith("/") else a
                               for a in arguments)]


def suite_name(o):
    parts_of_it = [*o.suites, *(n for n in ("scoreboard", "vm") if getattr(o, n))]
    size = "full" if o.full else "quick"
    return size if not parts_of_it else "-".join(parts_of_it + (["full"] if o.full else []))


def out_path(o, context):
    if o.out:
        return Path(o.out)
    name = suite_name(o).replace("/", "-")
    path = context.root / "bench-results" / f"{name}-{store.stamp()}.json"
    store.check_writable(path, "--out")
    return path


def start(o, context, arguments):
    """A new session with nothing measured yet."""
    wants_benchmarks = o.suites or not (o.scoreboard or o.vm)
    listed = listed_by(context) if wants_benchmarks else {}
    chosen = plan.chosen(list(listed), o.suites, o.full, o.filter) if listed else []
    seconds = o.min_time or plan.min_time(list(listed), o.full)
    how = session.method(chosen, o, seconds, context)
    result = store.empty(suite_name(o), command_of(arguments),
                         environment.read(context, o.label), how)
    return session.make(result, out_path(o, context), context, listed, context.bar)


def resume(o, context):
    path = Path(o.resume)
    found = validate.result(path)
    store.check_writable(path, "--resume")
    how = found["ipcwait"]["method"]
    listed = listed_by(context) if how.get("benchmarks") else {}
    session.check_resumable(found, path, context, listed)
    context.full = how["size"] == "full"
    context.quick = not context.full
    if "scoreboard" in how.get("parts", []):
        parts.open_rows(found["ipcwait"].get("seed"), path)
    if "vm" in how.get("parts", []):
        parts.call("vm.qemu", "find")
    return session.make(found, path, context, listed, context.bar)


def announce(s):
    if s.chosen:
        left = session.left_s(s)
        reporting.say([f"{len(s.chosen)} benchmarks, {s.rounds} runs each: about "
                       f"{progress.duration(left)}", *plan.pairs_note(s.chosen, s.listed)])
    for name, value in s.own["method"]["preset"].items():
        reporting.say([f"{name} is set, and changes what is measured: {shown(value)}"])


def pieces(s, part, *arguments):
    """What a part measures, with the noise meanwhile, as it comes."""
    return part_noise.each(s.context.fsroot, parts.each(part, "iterate", s.context, *arguments))


def run_scoreboard(s):
    """Each row is in the file as soon as it is measured: all of them take a quarter of an hour."""
    wanted = parts.open_rows(s.own.get("seed"), s.path)
    if not wanted:
        return
    total = len(wanted)
    s.progress.piece("rows of the scoreboard", 0, total)
    with contextlib.closing(pieces(s, "seed", wanted)) as rows:
        for number, row in enumerate(rows, 1):
            s.own["seed"] = parts.call("seed", "ordered", [*(s.own.get("seed") or []), row])
            session.save(s)
            s.progress.piece("rows of the scoreboard", number, total)


def run_guests(s):
    """All of them, also those that an interrupted session has: the new ones take their places."""
    with contextlib.closing(pieces(s, "vm")) as guests:
        for guest in guests:
            others = [g for g in s.own.get("guests") or [] if g["label"] != guest["label"]]
            s.own["guests"] = [*others, guest]
            session.save(s)
            s.progress.part = ""
            s.progress.note(f"{guest['label']}: {guest.get('error') or 'measured'}")


def run_parts(s):
    """What is not Google Benchmark. What one of them measured is kept if the next fails."""
    wanted = s.own["method"].get("parts", [])
    if "scoreboard" in wanted:
        run_scoreboard(s)
    if "vm" in wanted:
        run_guests(s)
    s.progress.clear()


def so_far(s):
    done = [f"{len(s.done)} of {len(s.chosen) * s.rounds} runs"] if s.chosen else []
    if "scoreboard" in s.own["method"].get("parts", []):
        rows = s.own.get("seed") or []
        total = len(rows) + len(parts.open_rows(rows, s.path))
        done.append(f"{len(rows)} of {total} rows of the scoreboard")
    if s.own.get("guests"):
        done.append(f"{len(s.own['guests'])} guests")
    return " after " + ", ".join(done) if done else ""


def resume_line(s):
    how = f"interrupted{so_far(s)}; go on with: scripts/bench --resume "
    return how + shlex.quote(str(s.path)) + extra_options(s.context)


def extra_options(context):
    """Those that --resume needs again."""
    text = ""
    if context.build != context.root / "build-bench":
        text += f" --build {shlex.quote(str(context.build))}"
    if context.program != context.build / "bench" / "grid" / "ipcwait_bench":
        text += f" --program {shlex.quote(str(context.program))}"
    return text


def measure(o, s):
    announce(s)
    s.context.progress = s.progress.detail
    complete = False
    try:
        session.run_rounds(s)
        run_parts(s)
        complete = True
    except interrupts.Interrupted:
        s.progress.clear()
        reporting.complain(resume_line(s))
        return INTERRUPTED
    except Exception as e:
        s.progress.clear()
        why, status = (str(e), e.status) if isinstance(e, Ending) else (unexpected(e), 1)
        raise Ending(f"{why}; what there is: {shown(s.path)}", status) from e
    finally:
        with interrupts.held():
            session.conclude(s, complete)
    return reporting.report(o, s.result, s.path, summaries.write(s.path))
