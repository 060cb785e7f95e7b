# SPDX-License-Identifier: MIT
"""Run a program that writes result lines, QEMU or guest_init itself, and never leave it behind.

The limits are on silence: first for the first result line, then for any line, marked or not.
Whatever happens, the process group is killed at the end, and the kernel kills the process if this
program dies first.
"""

import collections
import ctypes
import os
import resource
import selectors
import signal
import subprocess
import time

from harness.environment import for_programs

from .stream import Stream, shown

Limits = collections.namedtuple("Limits", "first_s silence_s total_s")

# Between a panic and the end of QEMU, which -no-reboot makes of the restart.
AFTER_PANIC_S = 1
PR_SET_PDEATHSIG = 1
LINE_BYTES_MOST = 4 << 20


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _before_exec(cpus):
    def prepare():
        _die_with_parent()
        if cpus:
            os.sched_setaffinity(0, cpus)
    return prepare


def _start(argv, cpus):
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, start_new_session=True, bufsize=0, env=for_programs(),
                            preexec_fn=_before_exec(cpus))


def _kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.stdout.close()
    return process.wait()


def _verdict(stream, status, why):
    """None, or what was wrong. A torn line is no failure of the guest, but must not be hidden."""
    last = f"; last: {stream.last}" if stream.last else ""
    if stream.panic:
        return f"kernel panic: {stream.panic}"
    if why and not stream.ended():
        return why + last
    if not stream.ended():
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"ended with {how} before its last line{last}"
    errors = [f"{head.get('what')}: {head.get('error')}" for head, _ in stream.of_kind("error")]
    if errors:
        return shown("; ".join(errors))
    return f"{stream.lost()} lines were lost on the way" if stream.lost() else None


class _Clock:
    """When the next thing has to have happened."""

    def __init__(self, limits):
        self.limits = limits
        self.begin = self.heard = time.monotonic()
        self.first = None  # of the marked lines
        self.panic = None

    def line(self, kind, panicked):
        self.heard = time.monotonic()
        if kind and self.first is None:
            self.first = self.heard
        if panicked and self.panic is None:
            self.panic = self.heard

    def next(self):
        """(when, why): the nearest limit."""
        ends = [(self.begin + self.limits.total_s, f"not done after {self.limits.total_s:g} s"),
                (self.heard + self.limits.silence_s, f"no line for {self.limits.silence_s:g} s")]
        if self.first is None:
            ends.append((self.begin + self.limits.first_s,
                         f"no result line for {self.limits.first_s:g} s"))
        if self.panic is not None:
            ends.append((self.panic + AFTER_PANIC_S, "panic"))
        return min(ends)


def _lines(process, clock):
    """Yield lines as they come; return None at the end of the file, or which limit was passed."""
    buffer = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            until, why = clock.next()
            left = until - time.monotonic()
            if left <= 0 or not selector.select(left):
                yield buffer
                return why
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece or len(buffer) > LINE_BYTES_MOST:
                yield buffer
                return None if not piece else "a line without end"
            *whole, buffer = (buffer + piece).split(b"\n")
            yield from whole


def _collect(process, stream, clock, on_line):
    lines = _lines(process, clock)
    while True:
        try:
            line = next(lines)
        except StopIteration as end:
            return end.value
        kind = stream.feed(line)
        clock.line(kind, stream.panic)
        if kind and on_line:
            on_line(stream)


def _cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def follow(argv, limits, cpus=None, on_line=None):
    """
    Run @argv to its end, or to that of its time. @on_line(stream) after each result line.

    Return: {"stream", "error": None or text, "wall_s", "first_line_s": None or seconds, "cpu_s": of
    the process and what it waited for}. OSError if it cannot be started.
    """
    cpu = _cpu_seconds()
    clock, stream, why = _Clock(limits), Stream(), None
    process = _start(argv, cpus)
    try:
        why = _collect(process, stream, clock, on_line)
        if why is None:
            process.wait(timeout=limits.silence_s)
    except subprocess.TimeoutExpired:
        why = "closed its output and went on"
    finally:
        status = _kill(process)
    return {"stream": stream, "error": _verdict(stream, status, why),
            "wall_s": time.monotonic() - clock.begin,
            "first_line_s": None if clock.first is None else clock.first - clock.begin,
            "cpu_s": _cpu_seconds() - cpu}
