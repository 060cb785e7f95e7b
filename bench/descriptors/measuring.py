# SPDX-License-Identifier: MIT
"""One run of the program for a cell and an arm, and rounds of them."""

import contextlib
import json
import subprocess
import time

from harness import interrupts, noise, program
from harness.environment import for_programs
from harness.errors import shown
from preload.arms import turned
from preload.cli import hold_awake
from preload.measuring import what_is_wrong

PROGRAM = "bench/descriptors/pairs"


def environment(arm, moves=False):
    """@moves: the library may move threads of the program, as the module always may."""
    env = for_programs(**({"IPCWAIT_PLACE": "1"} if moves else {}))
    env.pop("LD_PRELOAD", None)
    if arm.path:
        env.update(LD_PRELOAD=str(arm.path), IPCWAIT_FD="1")
    return env


def of_phases(phases):
    """Where the work changes: of a round trip, in the first third, the middle and the last."""
    if len(phases) < 3:
        return {}
    first, middle, last = ({"time_s": p["seconds"] / p["round_trips"],
                            "processes_cpu_s": p["cpu_s"] / p["round_trips"]} for p in phases)
    return {**last, "first_time_s": first["time_s"], "first_cpu_s": first["processes_cpu_s"],
            "long_time_s": middle["time_s"], "long_cpu_s": middle["processes_cpu_s"]}


def figures(text):
    """Of what the program printed: what rows are made of."""
    try:
        r = json.loads(text.strip().split("\n")[-1])
        turns, wall, latency = r["round_trips"], r["seconds"], r["latency"] or {}
        if turns <= 0 or wall <= 0:
            raise ValueError("it did nothing")
        machine = r["machine_cpu_s"]
        return {"time_s": wall / turns, "cpu_s": None if machine is None else machine / turns,
                "processes_cpu_s": r["cpu_s"] / turns,
                "answers_cpu_s": r["answers_cpu_s"] / turns, "per_s": r["per_s"],
                "pair_least_per_s": r["pair_least_per_s"],
                "pair_most_per_s": r["pair_most_per_s"],
                "latency_s": latency.get("median_ns", 0) / 1e9 or None,
                "latency_p90_s": latency.get("p90_ns", 0) / 1e9 or None,
                **of_phases(r["phases"])}
    except ZeroDivisionError as e:
        raise ValueError("a third of it did nothing") from e
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as e:
        raise ValueError("it printed no result") from e


def execute(argv, env, c):
    """(exit status or None, resources used)"""
    with open(c.folder / "stdout", "wb") as out, open(c.folder / "stderr", "wb") as err:
        with interrupts.held():
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     start_new_session=True, env=env)
        return program.wait(child, c.limit_s)


def measure(cell, arm, c):
    """The run, with "why" if it has no figures."""
    argv = [*arm.prefix, str(c.build / PROGRAM), *cell.options(), "--way", arm.way,
            *(["--beside", arm.beside] if cell.beside == "none" else []),
            *(["--place", arm.place] if arm.place else []),
            "--seconds", f"{cell.seconds(c.seconds):.6f}"]
    before, began = noise.reading(c.fsroot), time.monotonic()
    with hold_awake() if arm.held else contextlib.nullcontext():
        status, used = execute(argv, environment(arm, cell.moves), c)
    wall_s, after = time.monotonic() - began, noise.reading(c.fsroot)
    said = (c.folder / "stderr").read_text("utf-8", "replace")
    run = {"arm": arm.name, "why": f"hung: no end after {c.limit_s:g} s" if status is None
           else what_is_wrong(status, said, arm)}
    # The start is part of the process's time as of the machine's.
    run.update(wall_s=wall_s, own_cpu_s=used.ru_utime + used.ru_stime,
               involuntary_per_s=used.ru_nivcsw / wall_s)
    noise.judge(cell.name, run, before, after)
    if not run["why"]:
        try:
            run.update(figures((c.folder / "stdout").read_text("utf-8", "replace")))
        except ValueError as e:
            run["why"] = shown(e)
    return run


def rounds(cell, arms, count, c, note):
    """[{arm: run}]: each arm once in a round, and each begins in its turn."""
    present, found = [arm for arm in arms if not arm.missing], []
    for turn in range(count):
        done = {}
        for arm in turned(present, turn):
            note(f"{cell.name}: round {turn + 1} of {count}, {arm.name}")
            done[arm.name] = measure(cell, arm, c)
        found.append(done)
    return found
