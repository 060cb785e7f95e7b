# SPDX-License-Identifier: MIT
"""One run of a program under one arm.

The small programs print "begin" when they are warm, and a line of JSON in the end: CPU time of
the machine is taken between the two. Of other programs it is that of the whole run.
"""

import hashlib
import json
import os
import select
import signal
import subprocess
import time

from harness import interrupts, noise, probes, program
from harness.environment import for_programs
from harness.errors import shown

from . import machine
from .arms import KERNEL
from .awake import beside, cpu_time_s, said_by_it
from .drivers.server import NOT_LOADED


class Reading:
    """What a program prints, as it comes, and the machine's CPU time at its marks."""

    def __init__(self, root, marked, by_clock=False, others=()):
        self.root, self.marked, self.by_clock, self.others = root, marked, by_clock, others
        self.text = b""
        self.first = None if marked else self.cpu()
        self.last = None

    def cpu(self):
        """As the ticks have it, and as the clock has it where that is asked for. What computes
        beside the program is left out."""
        times, others_s = probes.cpu_times(self.root), cpu_time_s(self.others)
        read = {"machine_cpu_s": sum(times.values()) if times else None,
                **(machine.reading(self.root) if self.by_clock else {})}
        return {key: value if value is None or key == "polled_s" else value - others_s
                for key, value in read.items()}

    def take(self, piece):
        self.text += piece
        if not self.marked:
            return
        if self.first is None and b"begin\n" in self.text:
            self.first = self.cpu()
        elif self.first is not None and self.last is None and b"}\n" in self.text:
            self.last = self.cpu()

    def used(self):
        """Seconds between the marks, None for what is not known."""
        if self.first is None or self.last is None:
            return {"machine_cpu_s": None}
        return machine.between(self.first, self.last)


def environment(arm, p, c):
    """A driver preloads the server and what measures it by itself, and is not preloaded. What a
    program that was killed leaves behind is removed with the scratch folder."""
    env = for_programs(TMPDIR=str(c.scratch), **arm.variables)
    env.pop("LD_PRELOAD", None)
    if arm.path:
        env["BENCH_PRELOAD" if p.starts_servers else "LD_PRELOAD"] = str(arm.path)
    if arm.path and arm.client and p.starts_servers:
        env["BENCH_PRELOAD_CLIENT"] = str(arm.path)
    return env


def follow(child, reading, until):
    """Until it has closed its output, or the time is over."""
    out = child.stdout.fileno()
    while (left := until - time.monotonic()) > 0:
        if not select.select([out], [], [], left)[0]:
            return
        piece = os.read(out, 65536)
        if not piece:
            return
        reading.take(piece)


def start(argv, env, c, err):
    """In the scratch folder, for what it may leave where it is."""
    def pin():
        if c.cpus:
            os.sched_setaffinity(0, c.cpus)
    with interrupts.held():
        return subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, env=env,
                                stdout=subprocess.PIPE, stderr=err, start_new_session=True,
                                cwd=c.scratch, preexec_fn=pin)


def execute(argv, env, c, reading, err):
    """(exit status, None for a program that hung; seconds; resources used)"""
    begin = time.monotonic()
    child = start(argv, env, c, err)
    try:
        follow(child, reading, begin + c.limit_s)
    finally:
        status, used = program.wait(child, max(0, begin + c.limit_s - time.monotonic()))
        child.stdout.close()
    if not reading.marked:
        reading.last = reading.cpu()
    return status, time.monotonic() - begin, used


def own_figures(text):
    """(operations, seconds) of a small program."""
    lines = text.strip().split("\n")
    try:
        r = json.loads(lines[-1])
        return r["ops"], r["seconds"]
    except (ValueError, KeyError, TypeError) as e:
        raise ValueError("it printed no result") from e


def what_is_wrong(status, said, arm):
    if arm.path and NOT_LOADED in said:
        return f"{arm.name} is not loaded: " + shown(said.strip().split("\n")[0])
    if status:
        last = said.strip().split("\n")[-1]
        how = f"exit status {status}" if status > 0 else \
            f"crashed: {signal.strsignal(-status) or -status}"
        return how + (f": {shown(last)}" if last else "")
    return None


def share(seconds, operations):
    return None if seconds is None else seconds / operations


def add_figures(run, p, text, wall_s, c):
    """Time and CPU time of an operation."""
    try:
        operations, seconds = p.read(text, wall_s, c.scratch) if p.read else own_figures(text)
    except (ValueError, KeyError, LookupError, OSError) as e:
        run["why"] = run["why"] or shown(e)
        return
    if operations <= 0 or seconds <= 0:
        run["why"] = run["why"] or "it did nothing"
        return
    run.update(ops=operations, seconds=seconds, time_s=seconds / operations,
               cpu_s=share(run["machine_cpu_s"], operations))
    if "not_idle_s" in run:
        idle_less, polled = run["not_idle_s"], run["polled_s"]
        both = None if None in (idle_less, polled) else idle_less + polled
        run.update(machine_s=share(idle_less, operations), polling_s=share(both, operations))


def noise_reading(c):
    """What computes beside the program is ours."""
    read = noise.reading(c.fsroot)
    return {**read, "harness_s": read["harness_s"] + cpu_time_s(c.beside)}


def measure(p, arm, c):
    """The run, with "why" if it has no figures."""
    argv = [*arm.beside, *(p.native if arm.name == "native" else p.argv)(c)]
    reading = Reading(c.fsroot, p.read is None, not set(KERNEL) <= set(p.skips), c.beside)
    before, err_path = noise_reading(c), c.folder / "stderr"
    with open(err_path, "wb") as err, beside(arm):
        status, wall_s, used = execute(argv, environment(arm, p, c), c, reading,
                                       err if p.read is None or p.same_output
                                       else subprocess.STDOUT)
    text, said = reading.text.decode("utf-8", "replace"), err_path.read_text("utf-8", "replace")
    if not said and p.read and not p.same_output:
        said = text
    awake, said = said_by_it(said)
    run = {"arm": arm.name, "status": status, "wall_s": wall_s,
           "own_cpu_s": used.ru_utime + used.ru_stime, **reading.used(),
           "involuntary_per_s": used.ru_nivcsw / wall_s,
           "voluntary_switches": used.ru_nvcsw, "verdict": None,
           "why": f"hung: no end after {c.limit_s:g} s" if status is None
           else what_is_wrong(status, said, arm),
           "output": hashlib.sha256(reading.text).hexdigest() if p.same_output else None,
           "ops": None, "seconds": None, "time_s": None, "cpu_s": None,
           **({"awake": awake} if arm.beside else {})}
    noise.judge(p.name, run, before, noise_reading(c))
    if status is not None:
        add_figures(run, p, text, wall_s, c)
    return run
