# SPDX-License-Identifier: MIT
"""Recording a command: perf for CPU time where it works, the own sampler for everything else.

CPU time says where the work is. Wall-clock time says where threads are, and a thread that
waits is in its wait: perf's timers stop while a thread sleeps, the sampler's do not.
"""
import os
from typing import NamedTuple, Optional

from . import perf, preload, run, samples, text_formats
from .errors import FAILED, Refused, reason

# Primes, so that no program does the same thing at each tick. Every tick on the wall clock
# wakes a sleeping thread, so there are fewer of them.
RATES = {"cpu": 997, "wall": 199}
SOURCES = ("auto", "perf", "sampler")
CALL_GRAPHS = ("dwarf", "fp")


class Recording(NamedTuple):
    profile: samples.Profile
    how: str                    # "cpu time by perf, event cpu-clock, 997 Hz per CPU"
    status: int                 # of the command, negative for a signal
    interrupted: bool
    out: Optional[str]          # the folded stacks that were written


def choose(by, source, rate, call_graph):
    """(the event for perf, or None for the sampler; why it is not perf, or None)"""
    if source == "sampler":
        return None, None
    if by == "wall":
        if source == "perf":
            raise Refused("perf sees only threads that run: wall-clock time is the sampler's")
        return None, None
    event, why = perf.usable_event(rate, call_graph)
    if source == "perf" and event is None:
        raise Refused(why)
    return event, why


def take(argv, by, event, rate, call_graph, build, stdout):
    """(what was recorded, in words how)"""
    if event:
        return (perf.record(argv, event, rate, call_graph, stdout),
                f"CPU time by perf, event {event}, {rate} Hz")
    kind = "CPU time" if by == "cpu" else "wall-clock time, waiting included,"
    return (preload.record(argv, by, rate, call_graph, build, stdout),
            f"{kind} by the preloaded sampler, {rate} Hz per thread")


def write(path, text):
    try:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
    except OSError as e:
        raise Refused(f"{path}: {reason(e)}") from e


def record(context, argv, out=None, *, by=None, source="auto", rate=None, call_graph="dwarf",
           stdout=None):
    """Run @argv and return a Recording; @out is a file for the folded stacks, or None.

    @context may have `build`, a build directory with the sampler, and `profile_by`, "cpu" or
    "wall". @stdout is where the command's output goes, as for subprocess.
    """
    by = by or getattr(context, "profile_by", None) or "cpu"
    rate = rate or RATES[by]
    program = run.find(argv[0])
    if out:
        write(out, "")
    event, why = choose(by, source, rate, call_graph)
    recorded, how = take([program, *argv[1:]], by, event, rate, call_graph,
                         getattr(context, "build", None), stdout)
    notes = [why] if why else []
    end = run.ending(recorded.status, recorded.interrupted)
    notes += [end] if end else []
    profile = recorded.profile._replace(source=os.path.basename(program))
    if not samples.total(profile):
        raise Refused("; ".join([f"{profile.source}: no samples ({how})", *profile.notes, *notes]),
                      FAILED)
    profile = profile._replace(notes=profile.notes + notes)
    if out:
        write(out, text_formats.write_folded(profile))
    return Recording(profile, how, recorded.status, recorded.interrupted, out)
