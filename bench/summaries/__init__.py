# SPDX-License-Identifier: MIT
"""Summaries of results: what the repository keeps of a measurement. docs/benchmarks/results.md says
what is in them, and where the raw results go.
"""

import hashlib
from pathlib import Path

from harness import store
from harness.errors import refused, shown

from . import grids, layout, rounds, tables

FORMAT = 1

# What the lint allows in bench/results: tests/lint/results.py.
BYTES_MOST = 30 << 10

KINDS = (grids, rounds, tables)


def of(found):
    """The summary of a raw result. Refuses a file that no benchmark here writes."""
    for kind in KINDS:
        program = kind.program_of(found)
        if program:
            return {"summary_of": program, "format": FORMAT, **kind.summary(found, program)}
    raise ValueError("no benchmark here writes such a file")


def _of_any_machine(command):
    """Without the folders of the machine: a path from its root becomes the file's name."""
    return [a.rpartition("/")[2] if a.startswith("/") else a for a in command]


def is_summary(found):
    return isinstance(found, dict) and "summary_of" in found


def path_of(raw):
    """Beside the raw result."""
    return Path(raw).with_suffix(".summary.json")


def write(raw, path=None):
    """Writes the summary of the file @raw; returns its path."""
    path, found = Path(path or path_of(raw)), store.load_json(raw)
    if is_summary(found):
        raise refused(f"{shown(raw)} is a summary")
    try:
        made = of(found)
    except (KeyError, TypeError, ValueError, AttributeError, LookupError) as e:
        raise refused(f"{shown(raw)} cannot be summarized: {shown(e, 80)}") from e
    if isinstance(made.get("command"), list):
        made["command"] = _of_any_machine(made["command"])
    made["raw_sha256"] = hashlib.sha256(Path(raw).read_bytes()).hexdigest()
    store.write_text(path, layout.text(made), "--out")
    return path


def described(path):
    """A line for the terminal."""
    size = Path(path).stat().st_size
    large = f", more than the {BYTES_MOST >> 10} KiB that bench/results takes" \
        if size > BYTES_MOST else ""
    return f"summary: {shown(path)} ({-(-size // 1024)} KiB{large})"


def expanded(found):
    """@found as a result of scripts/bench, if it is the summary of one: as the result was, without
    its runs."""
    if not is_summary(found):
        return found
    if (found["summary_of"], found.get("format")) != (grids.PROGRAM, FORMAT):
        raise ValueError(f"it is no summary of scripts/bench in format {FORMAT}")
    return grids.result(found)


def opened(path):
    """The result that the summary at @path stands for; None if the file is no summary."""
    found = store.load_json(path)
    try:
        return expanded(found) if is_summary(found) else None
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise refused(f"{shown(path)} cannot be shown: {type(e).__name__}: {shown(e, 80)}") from e
