# SPDX-License-Identifier: MIT
"""Rounds over all benchmarks: measuring, repeating what was disturbed, keeping what is there."""

import os
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

from . import (environment, noise, options, part_noise, plan, probes, program, store, summary,
               validate)
from .errors import refused, shown

ORDER = "variants one after the other, rotated in each round, backwards in every second"

# A disturbed run is repeated at once, this often.
REPEATS = 2

# Share of the runs that may be repeats: with more the verdict is "noisy" anyway, and the time
# would be three times what was announced.
REPEATS_SHARE = 0.25

# Rounds of --full last minutes: not more than this is lost if the machine goes down.
SAVE_EVERY_S = 30

# Errors that say what a row is missing. Any other one is a failure.
EXPLAINED = ("not built", "not available", "not yet")


def method(chosen, o, min_time_s, context):
    """How it is measured: all that --resume needs."""
    how = {"runs": o.runs or plan.RUNS, "trim": o.trim or "order",
           "min_time_s": min_time_s if chosen else None, "order": ORDER, "benchmarks": chosen,
           "size": "full" if o.full else "quick",
           "parts": [n for n in ("scoreboard", "vm") if getattr(o, n)],
           "slowed": os.environ.get("IPCWAIT_BENCH_SLOW"), "preset": environment.presets()}
    if chosen:
        how["program_sha256"] = program.fingerprint(context.program)
    return how


def make(result, path, context, listed, progress):
    """What the functions here share."""
    own = result["ipcwait"]
    s = SimpleNamespace(result=result, own=own, path=Path(path), context=context, listed=listed,
                        progress=progress, chosen=own["method"]["benchmarks"],
                        rounds=own["method"]["runs"], seconds={}, begin=time.time(),
                        saved=time.monotonic(), idle=probes.idle_states(context.fsroot))
    s.done = {(r["name"], r["round"]) for r in own["runs"] if r["used"]}
    s.failed = {r["name"] for r in result["benchmarks"] if r.get("error_occurred")}
    s.offset_s = own.get("measured_s") or 0.0
    return s


def check_resumable(found, path, context, listed):
    """The same program with the same benchmarks, and something left to do."""
    own = found["ipcwait"]
    how = own["method"]
    if own["complete"]:
        raise refused(f"--resume: {shown(path)} is complete")
    planned, wanted = how.get("benchmarks"), how.get("parts", [])
    if not all(isinstance(names, list) and all(isinstance(n, str) for n in names)
               for names in (planned, wanted)) or how.get("size") not in ("quick", "full"):
        raise refused(f"--resume: {shown(path)} does not say what was to be measured")
    if how.get("preset") != environment.presets():
        raise refused("--resume: " + ", ".join(environment.PRESETS)
                      + f" or {environment.PRESETS_WITH}* was set differently")
    if not planned:
        return
    if how.get("program_sha256") != program.fingerprint(context.program):
        raise refused(f"--resume: {shown(path)} was measured with another build of the program")
    if not summary.is_number(how.get("min_time_s")):
        raise refused(f"--resume: {shown(path)} does not say for how long it was measured")
    if how.get("slowed") != os.environ.get("IPCWAIT_BENCH_SLOW"):
        raise refused("--resume: IPCWAIT_BENCH_SLOW was set differently")
    if not all(name in listed for name in planned):
        raise refused(f"--resume: {shown(path)} has benchmarks that the program does not have")
    whole = (all(validate.RUN.keys() <= r.keys() for r in own["runs"])
             and all("repetition_index" in r for r in found["benchmarks"]))
    if not whole or how["runs"] > options.RUNS_MOST:
        raise refused(f"--resume: the runs of {shown(path)} are damaged")


def mean(values):
    return sum(values) / len(values)


def expected_s(s, name):
    """Seconds of one run: as it was so far, or as others were against what was expected."""
    first = plan.run_s(s.own["method"]["min_time_s"])
    if name in s.seconds:
        return mean(s.seconds[name])
    return mean([mean(v) for v in s.seconds.values()]) if s.seconds else first


def left_s(s):
    open_runs = [n for n in s.chosen for r in range(s.rounds)
                 if (n, r) not in s.done and n not in s.failed]
    return sum(expected_s(s, name) for name in open_runs)


def row_for_file(row, name, s, round_number):
    """As Google Benchmark would have written it, had it made the repetitions itself."""
    head = {"name": name, "family_index": s.chosen.index(name), "per_family_instance_index": 0,
            "run_name": name, "run_type": "iteration", "repetitions": s.rounds,
            "repetition_index": round_number}
    filled = {"threads": 1, "iterations": 0, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}
    rest = {k: v for k, v in row.items() if k not in head}
    return store.finite({**head, **filled, **rest})


def one_run(s, name, round_number, attempt, folder):
    """(entry of "runs", row)"""
    before = noise.reading(s.context.fsroot)
    begin = s.offset_s + time.time() - s.begin
    figures, context, row = program.measure(s.context.program, name, s.listed[name],
                                            s.own["method"]["min_time_s"], folder)
    run = {"name": name, "round": round_number, "attempt": attempt, "start_s": round(begin, 3),
           "used": True, **figures}
    noise.judge(name, run, before, noise.reading(s.context.fsroot))
    if context and not s.result["context"]:
        s.result["context"] = store.public_context(context)
    return run, row_for_file(row, name, s, round_number)


def may_repeat(s):
    repeats = sum(not r["used"] for r in s.own["runs"])
    return repeats < max(2, REPEATS_SHARE * s.rounds * len(s.chosen))


def measure(s, name, round_number, folder):
    """One run, and repetitions while it is disturbed."""
    for attempt in range(1 + REPEATS):
        run, row = one_run(s, name, round_number, attempt, folder)
        failed = bool(row.get("error_occurred"))
        if failed or not run["noisy"] or attempt == REPEATS or not may_repeat(s):
            break
        run.update(used=False, row=row)
        s.own["runs"].append(run)
    s.own["runs"].append(run)
    s.result["benchmarks"].append(row)
    s.done.add((name, round_number))
    s.seconds.setdefault(name, []).append(run["wall_s"])
    if failed:
        s.failed.add(name)


def save(s):
    s.own["measured_s"] = s.offset_s + time.time() - s.begin
    store.save(s.result, s.path)
    s.saved = time.monotonic()


def run_rounds(s):
    """Everything that is not there yet. A benchmark that failed is not tried again."""
    total = len(s.chosen) * s.rounds
    with tempfile.TemporaryDirectory(prefix="ipcwait-bench.") as folder:
        for round_number in range(s.rounds):
            for name in plan.order(s.chosen, round_number):
                if (name, round_number) in s.done or name in s.failed:
                    continue
                left = left_s(s)
                spent = s.offset_s + time.time() - s.begin
                s.progress.step(spent / (spent + left) if total else 1, left, name)
                measure(s, name, round_number, Path(folder))
                if time.monotonic() - s.saved > SAVE_EVERY_S:
                    save(s)
            save(s)
    s.progress.clear()


def idle_table(s):
    """Since the start; after --resume the earlier part is added."""
    now = probes.idle_states(s.context.fsroot)
    rows = probes.idle_difference(s.idle, now, time.time() - s.begin)
    earlier = {(r["cpu"], r["state"]): r for r in s.own["idle_states"] or []}
    for row in rows or []:
        old = earlier.get((row["cpu"], row["state"]))
        for key in ("usage", "time_us", "above", "below") if old else ():
            known = row[key] is not None and old[key] is not None
            row[key] = row[key] + old[key] if known else None
        if old and row["time_us"] is not None:
            row["share"] = row["time_us"] / 1e6 / (s.offset_s + time.time() - s.begin)
    return rows


def conclude(s, complete):
    """Summary and verdict over what there is, and the file."""
    rows = {}
    for row in sorted(s.result["benchmarks"], key=lambda r: r["repetition_index"]):
        rows.setdefault(row["name"], []).append(row)
    s.own["summary"] = summary.of_rows(s.chosen, rows, s.own["method"]["trim"])
    counted = [r for r in s.own["runs"] if r["used"] and r["name"] not in s.failed]
    s.own["verdict"] = part_noise.add_to(noise.verdict(counted, s.own["summary"]), s.own)
    s.own["idle_states"] = idle_table(s)
    s.own["complete"] = complete
    s.own["finished"] = store.now() if complete else None
    save(s)


def failures(result):
    """What failed, other than by not being there: benchmarks, rows of the scoreboard, guests."""
    own = result["ipcwait"]
    found = {e["name"]: e["error"] for e in own["summary"] if "error" in e}
    found.update({g["label"]: g["error"] for g in own.get("guests") or [] if g.get("error")})
    found = {name: why for name, why in found.items() if not why.startswith(EXPLAINED)}
    found.update({row["id"]: row.get("why") or "failed" for row in own.get("seed") or []
                  if row.get("state") == "failed"})
    return found
