# SPDX-License-Identifier: MIT
"""The files that the preloaded sampler leaves behind: sample_file.c has their layout."""
import os
import struct
from typing import NamedTuple

from . import samples, symbols
from .errors import Refused, reason

HEADER = struct.Struct("=8sQQQQQ")
RECORD = struct.Struct("=IIII16s")
MAGIC = b"IWSTACK\0"
FRAMES_MOST = 128


class Record(NamedTuple):
    thread: str
    weight: int
    pcs: tuple


def records_of(data, source):
    """([Record], samples that did not fit, whether the end is missing)"""
    if len(data) < HEADER.size or not data.startswith(MAGIC):
        raise Refused(f"{source}: is not a file of the sampler", 1)
    _, _, used, dropped, _, _ = HEADER.unpack_from(data)
    found, at, end = [], HEADER.size, min(used, len(data))
    while at + RECORD.size <= end:
        frames, weight, process, thread, name = RECORD.unpack_from(data, at)
        after = at + RECORD.size + 8 * frames
        if not 0 < frames <= FRAMES_MOST or after > end:
            return found, dropped, True
        # A weight of 0: the process ended while it wrote this one.
        if weight:
            pcs = struct.unpack_from(f"={frames}Q", data, at + RECORD.size)
            label = name.split(b"\0")[0].decode("utf-8", "replace")
            found.append(Record(f"{label}-{process}/{thread}", weight, pcs))
        at = after
    return found, dropped, False


def calls(pcs):
    """Addresses inside the calls, innermost first.

    A return address may belong to the next line, or the next function; the byte before it is
    in the call. The first address is that of the instruction itself.
    """
    inner = [pc for pc in pcs[1:] if pc]
    return [pcs[0], *(pc - 1 for pc in inner)]


def stack_of(pcs, names):
    """The names, outermost first. A file without symbols is one frame, not one per call."""
    stack = []
    for pc in reversed(calls(pcs)):
        for name in reversed(names[pc]):
            if not (stack and name == stack[-1] and name.startswith("[")):
                stack.append(name)
    return stack


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def add_file(counts, path):
    """Add the samples of one process. Return: notes."""
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError as e:
        raise Refused(f"{path}: {reason(e)}", 1) from e
    found, dropped, cut = records_of(data, os.path.basename(path))
    names = symbols.resolve({pc for r in found for pc in calls(r.pcs)}, read_text(path + ".maps"))
    for r in found:
        samples.add(counts, r.thread, stack_of(r.pcs, names), r.weight)
    notes = [f"{dropped} samples did not fit into the file: use a lower --rate"] if dropped else []
    return notes + (["the end of the samples cannot be read"] if cut else [])


def read(paths, source):
    counts, notes = {}, []
    for path in sorted(paths):
        notes += add_file(counts, path)
    return samples.Profile(source, counts, notes)
