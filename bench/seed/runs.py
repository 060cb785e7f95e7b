# SPDX-License-Identifier: MIT
"""Running programs: interleaved rounds, time limits, and what is kept of five runs."""

import json
import os
import signal
import statistics
import subprocess

from harness import stats
from harness.environment import for_programs
from texts import shown

ROUNDS = 5      # as the seed measured: of five runs the first and the last are dropped


class Missing(Exception):
    """Something that the row needs is not here; the text is the reason."""


class Failed(Exception):
    """A run went wrong; the text says how."""


def program(context, *names, package=None):
    """The path of a program in the build folder."""
    path = context.build.joinpath(*names)
    if not os.access(path, os.X_OK) or path.is_dir():
        raise Missing(f"not built: {package or names[-1]}")
    return path


def finish(process, seconds):
    """(standard output, standard error); nothing of the process group is left behind."""
    try:
        return process.communicate(timeout=seconds)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass                # all have ended
        process.wait()


def run(argv, seconds, **env):
    """Its standard output."""
    name = os.path.basename(argv[0])
    try:
        process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   errors="replace", env=for_programs(LC_ALL="C", **env),
                                   start_new_session=True)
    except OSError as e:
        raise Missing(f"{name} cannot be run: {e.strerror}") from e
    with process:
        try:
            out, error = finish(process, seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{name} did not end within {seconds} s") from None
    if process.returncode:
        # The last line may only say that what the line before it is about has ended.
        said = "; ".join(shown(line) for line in error.strip().split("\n")[-2:]) or "without a word"
        raise Failed(f"{name} ended with {process.returncode}: {said}")
    return out


def run_json(argv, seconds, **env):
    """The JSON object that it prints, with CPU seconds and CPUs used worked out."""
    text = run(argv, seconds, **env)
    try:
        found = json.loads(text)
    except ValueError as e:
        raise Failed(f"{os.path.basename(argv[0])} printed no JSON") from e
    if {"user_seconds", "system_seconds", "seconds"} <= found.keys():
        found["cpu_seconds"] = found["user_seconds"] + found["system_seconds"]
        found["cpus_used"] = found["cpu_seconds"] / max(found["seconds"], 1e-9)
    return found


def rounds(variants, count=ROUNDS, progress=lambda text: None):
    """Every variant once per round, each round beginning with another one.

    @variants: {name: function without arguments that returns the figures of one run}.
    Returns {name: {"runs": [...], "missing": reason or None, "failed": reason or None}}.
    A variant that failed is not run again.
    """
    found = {name: {"runs": [], "missing": None, "failed": None} for name in variants}
    names = list(variants)
    for turn in range(count):
        start = turn % max(len(names), 1)
        for name in names[start:] + names[:start]:
            mine = found[name]
            if mine["missing"] or mine["failed"]:
                continue
            progress(f"{name}, run {turn + 1} of {count}")
            try:
                mine["runs"].append(variants[name]())
            except Missing as e:
                mine["missing"] = str(e)
            except Failed as e:
                mine["failed"] = str(e)
    return found


def kept(runs, key, trim="order"):
    """The values of the runs that are kept, as everywhere in bench/; None where a run has none."""
    values = [key(r) if callable(key) else r.get(key) for r in runs]
    return stats.kept(values, trim) if values and None not in values else None


def median(runs, key, trim="order"):
    """Of those, None without them."""
    values = kept(runs, key, trim)
    return statistics.median(values) if values else None


def reason(result):
    """Why a variant of rounds() has no figures, None if it has."""
    return result["missing"] or (f"FAILED: {result['failed']}" if result["failed"] else None)


def kept_of(results, name, key):
    """Of a variant of rounds(); None if it is not there, or has no figures."""
    result = results.get(name)
    return None if result is None or reason(result) else kept(result["runs"], key)


def median_of(results, name, key):
    values = kept_of(results, name, key)
    return statistics.median(values) if values else None
