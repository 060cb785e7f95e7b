# SPDX-License-Identifier: MIT
"""Stacks of threads that have a CPU, by perf."""
import os
import shutil
import subprocess
import tempfile
from typing import NamedTuple

from . import perf_script, run
from .errors import FAILED, Refused

# Cycles see into code that holds off interrupts; many guests have none. cpu-clock is a timer.
EVENTS = ("cycles", "cpu-clock")

# Bytes of each stack that are copied for `dwarf`. Enough for our benchmarks, whose frames are
# small, and half of perf's default: with 1000 samples a second it is 4 MB a second per CPU.
STACK_BYTES = 4096

# A second is enough for our programs; for large ones with debug information it can be minutes.
INLINE_SECONDS = 60

FIELDS = "comm,pid,tid,time,event,ip,sym,symoff,dso"


class Recorded(NamedTuple):
    profile: object
    status: int
    interrupted: bool
    event: str


def command(event, rate, call_graph, output):
    graph = f"dwarf,{STACK_BYTES}" if call_graph == "dwarf" else "fp"
    return ["perf", "record", "-q", "-e", event, "-F", str(rate), "--call-graph", graph,
            "-o", output, "--"]


def complaint(text):
    """The line that says what is wrong: perf explains at length, below a line `Error:`."""
    lines = [line.strip() for line in text.splitlines()]
    return next((line for line in lines if line and not line.endswith(":")), "no reason given")


def level():
    try:
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
            return f", perf_event_paranoid is {f.read().strip()}"
    except OSError:
        return ""


def usable_event(rate, call_graph):
    """(event, None), or (None, why there is none). Tries on a program that does nothing."""
    if not shutil.which("perf"):
        return None, "perf is not installed"
    why = ""
    with tempfile.TemporaryDirectory(prefix="stacks.") as folder:
        for event in EVENTS:
            output = os.path.join(folder, event)
            r = subprocess.run([*command(event, rate, call_graph, output), "true"],
                               stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               errors="replace", check=False)
            if r.returncode == 0 and os.path.exists(output):
                return used_event(output) or event, None
            why = complaint(r.stderr)
    return None, f"perf cannot record here: {why}{level()}"


def used_event(data):
    """perf takes another event by itself if the CPU does not have the one wanted."""
    r = subprocess.run(["perf", "evlist", "-i", data], stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, errors="replace", check=False)
    words = r.stdout.split()
    return words[0].split(":")[0] if r.returncode == 0 and words else None


def script(data, *options, seconds=None):
    try:
        r = subprocess.run(["perf", "script", "-i", data, *options, "-F", FIELDS],
                           stdin=subprocess.DEVNULL, capture_output=True, check=False,
                           timeout=seconds)
    except FileNotFoundError as e:
        raise Refused(f"{data}: needs perf to be read, which is not installed") from e
    if r.returncode:
        raise Refused(f"{data}: perf cannot read it: "
                      + complaint(r.stderr.decode("utf-8", "replace")))
    return r.stdout


def script_bytes(data):
    """What perf script says about a perf.data, with inlined functions if that does not take
    forever: perf asks another program about every address."""
    try:
        return script(data, seconds=INLINE_SECONDS)
    except subprocess.TimeoutExpired:
        return script(data, "--no-inline")


def record(argv, event, rate, call_graph, stdout=None):
    """Run @argv under perf."""
    with tempfile.TemporaryDirectory(prefix="stacks.") as folder:
        data = os.path.join(folder, "perf.data")
        status, interrupted = run.run([*command(event, rate, call_graph, data), *argv],
                                      stdout=stdout)
        if not os.path.exists(data):
            raise Refused(f"perf record wrote nothing, exit status {status}", FAILED)
        text = script_bytes(data).decode("utf-8", "replace")
    return Recorded(perf_script.read(text, argv[0]), status, interrupted, event)
