# SPDX-License-Identifier: MIT
"""A program under all arms, round by round."""

import shutil

from . import judging, measuring
from .arms import Arm, turned

LONG_ROUNDS, QUICK_ROUNDS = 7, 6


def rounds_of(p, o):
    """Fewer than six have no interval of 95 %."""
    if o.rounds:
        return o.rounds
    if o.quick:
        return QUICK_ROUNDS
    return LONG_ROUNDS if p.long else 15


def empty_scratch(c):
    shutil.rmtree(c.scratch, ignore_errors=True)
    c.scratch.mkdir(mode=0o755)


def note_verdict(run, plain):
    """What is wrong beyond figures: it hung, or it ends in another way than the plain program."""
    if run["status"] is None:
        run["verdict"] = judging.HUNG
    elif plain is None:
        return
    elif (run["status"], run["output"]) != (plain["status"], plain["output"]):
        run["verdict"] = judging.DIFFERS
    elif run["why"]:
        run["verdict"] = judging.FAILED


def verdicts(done):
    """When all arms of a round have run: the plain one is what the others are compared with."""
    plain = done.get("none")
    for name, run in done.items():
        note_verdict(run, None if name == "native" else plain)


def measured(p, arms, o, c, note):
    """Rounds: {arm: run}. Who has hung once has no further runs."""
    present = [arm for arm in arms if not arm.missing]
    if p.native:
        present.append(Arm("native"))
    rounds, hung = [], set()
    count = rounds_of(p, o)
    for turn in range(count):
        done = {}
        for arm in turned(present, turn):
            if arm.name in hung:
                continue
            note(f"{p.name}: round {turn + 1} of {count}, {arm.name}")
            empty_scratch(c)
            done[arm.name] = measuring.measure(p, arm, c)
            if done[arm.name]["status"] is None:
                hung.add(arm.name)
        verdicts(done)
        rounds.append(done)
        if "none" in hung:
            break
    return rounds


def entry(p, arms, o, c, note):
    """Of the result file."""
    why = p.missing(c)
    found = {"name": p.name, "title": p.title, "units": p.units, "missing": why, "rounds": [],
             "rows": []}
    if why:
        return found
    arms = [arm for arm in arms if arm.name not in p.skips]
    found["rounds"] = measured(p, arms, o, c, note)
    found["rows"] = judging.judge(p.name, found["rounds"], [arm.name for arm in arms],
                                  busy=o.busy)
    return found
