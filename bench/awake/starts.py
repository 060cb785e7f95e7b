# SPDX-License-Identifier: MIT
"""Starts of `ipcwait awake` in turn at rest, right after another program, and during one."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness.environment import for_programs

from . import judging

ROOT = Path(__file__).resolve().parents[2]
OK, FAILED, WRONG = 0, 1, 3
LIMIT_S = 120
REST_S, BEFORE_S = 1.0, 0.5
WHEN = "at rest", "right after", "during"

# What the other program does, on each CPU.
OTHERS = {
    "computes": ("sh", "-c", "while :; do :; done"),
    "hands over": (sys.executable, "-c",
                   "import os; a, b = os.pipe(), os.pipe(); child = os.fork()\n"
                   "while True:\n"
                   "    if child: os.write(a[1], b'x'); os.read(b[0], 1)\n"
                   "    else: os.read(a[0], 1); os.write(b[1], b'x')"),
    "starts others": ("sh", "-c", "while :; do /bin/true; done"),
}


@contextlib.contextmanager
def beside(name):
    """The other program, one for each CPU, with all that it starts."""
    running = []
    try:
        for _ in os.sched_getaffinity(0):
            running.append(subprocess.Popen(OTHERS[name], stdin=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL, start_new_session=True))
        time.sleep(BEFORE_S)
        yield
    finally:
        for process in running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def call(command, *words):
    """Without what earlier trials of this boot have found: each start is the first."""
    return subprocess.run([str(command), "awake", *words], env=for_programs(), check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=LIMIT_S)


def careful(command, trials):
    """The medians of many trials at rest."""
    found = []
    for _ in range(trials):
        time.sleep(REST_S)
        found.append(judging.wakes_of(call(command, "--status").stdout))
    return judging.middle([w for w in found if w])


def start(command):
    return judging.decision_of(call(command, "--explain", "--", "true").stderr)


def start_when(command, when, other):
    if when == "at rest":
        time.sleep(REST_S)
        return start(command)
    with beside(other):
        if when == "during":
            return start(command)
    return start(command)


def play(command, starts):
    """(when, decision, line) of each start. Each program has its turn at each time."""
    others = list(OTHERS)
    for i in range(starts):
        when, other = WHEN[i % len(WHEN)], others[i // len(WHEN) % len(others)]
        decision, line = start_when(command, when, other)
        label = when if when == "at rest" else f"{when}: {other}"
        print(f"  {label:28} {line or 'says nothing'}", flush=True)
        yield when, decision, line


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="bench/awake", description=__doc__)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build-bench")
    parser.add_argument("--starts", type=int, default=30, help="in all; 30 by default")
    parser.add_argument("--careful", type=int, default=15,
                        help="trials at rest that say what is right; 15 by default")
    return parser.parse_args(arguments)


def main(arguments):
    o = options_of(arguments)
    command = o.build / "cli/ipcwait"
    if not command.exists():
        print(f"bench/awake: {command} is missing", file=sys.stderr)
        return FAILED
    try:
        wakes = careful(command, o.careful)
    except ValueError as e:
        print(f"bench/awake: {e}", file=sys.stderr)
        return FAILED
    right = judging.right_ones(wakes)
    print(f"{wakes}, medians of {o.careful} trials: right is {' or '.join(sorted(right))}")
    found = list(play(command, o.starts))
    for when, (good, n) in judging.counted(found, right).items():
        print(f"{when:12} {good} of {n} right")
    if any(decision is None for _, decision, _ in found):
        return FAILED
    return OK if all(decision in right for _, decision, _ in found) else WRONG
