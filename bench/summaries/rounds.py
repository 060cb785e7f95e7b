# SPDX-License-Identifier: MIT
"""Results of bench/preload and bench/descriptors: rows with medians and intervals, no runs."""

import statistics

from preload import pooling
from preload.judging import usable

from . import machines
from .layout import short, shortened

PRELOAD, DESCRIPTORS = "bench/preload", "bench/descriptors"
COLUMNS = ("arm", "figure", "against", "own", "median", "low", "high", "sign", "limit", "verdict")


def program_of(found):
    return PRELOAD if "programs" in found else DESCRIPTORS if "cells" in found else None


def row(r):
    return [short(r.get(column)) for column in COLUMNS]


def complaints(entry):
    """Each reason for a run without figures once for each arm."""
    told = {}
    for done in entry["rounds"]:
        told.update({arm: run["why"] for arm, run in done.items() if run["why"]})
    return {"complaints": told} if told else {}


def times(entry):
    """{arm: [median, least, most]} of the seconds of an operation."""
    found = {}
    for done in entry["rounds"]:
        for arm, run in done.items():
            if usable(run):
                found.setdefault(arm, []).append(run["time_s"])
    return {arm: [short(v) for v in (statistics.median(s), min(s), max(s))]
            for arm, s in found.items()}


def pairs(entry):
    """The quotients that --pool is made of, of a program that is to lose nothing."""
    if not pooling.loses_nothing(entry["name"]) or not any("ours" in r for r in entry["rounds"]):
        return {}
    values = {figure: pooling.pairs(entry, figure) for figure in pooling.FIGURES}
    quotients = {figure: [short(v) for v in found] for figure, (found, _) in values.items()}
    return {"pairs": {**quotients, "disturbed": values[pooling.FIGURES[0]][1]}}


def entry_of(entry, program):
    kept = {key: entry[key] for key in ("name", "title", "units", "missing") if entry.get(key)}
    own = [r for r in entry["rows"] if r["arm"] != r["against"]]
    return {**kept, "rounds": len(entry["rounds"]), "time_s": times(entry),
            "rows": [row(r) for r in own], **complaints(entry),
            **(pairs(entry) if program == PRELOAD else {})}


def summary(found, program):
    key = "programs" if program == PRELOAD else "cells"
    return {"measured": found["finished"], "machine": machines.of(found["environment"]),
            "method": shortened(found["method"]), "verdict": shortened(found["verdict"]),
            "columns": COLUMNS, key: [entry_of(e, program) for e in found[key]]}
