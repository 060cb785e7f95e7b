# SPDX-License-Identifier: MIT
"""The text that `perf script` prints, with or without call chains.

A sample is a line with the thread, the time and the event, lines with a frame each, the
innermost first, and an empty line. A frame is `address name+offset (file)`; names of C++ have
blanks and parentheses of their own, so the file is the last pair that is preceded by a blank.
"""
import re

from . import samples

WITH_PROCESS = re.compile(r"\s*(?P<name>\S(?:.*?\S)?)\s+(?P<process>-?\d+)/(?P<thread>-?\d+)"
                          r"\s(?P<rest>.*)")
THREAD_ONLY = re.compile(r"\s*(?P<name>\S(?:.*?\S)?)\s+(?P<thread>-?\d+)\s+"
                         r"(?P<rest>(?:\[\d+\]\s+)?(?:\S{5}\s+)?\d+\.\d+:.*|\S+:\s.*)")
EVENT = re.compile(r"(?:\[\d+\]\s+)?(?:\S{5}\s+)?(?:\d+\.\d+:\s+)?(?:\d+\s+)?"
                   r"(?P<event>[A-Za-z][\w.:/=,-]*?):(?:\s+(?P<frame>[0-9a-f]{1,16}\s.*))?\s*")
FRAME = re.compile(r"\s*(?P<address>[0-9a-f]{1,16})(?:\s+(?P<where>.*\S))?\s*")
FILE = re.compile(r"(?P<name>.*?)\s*\((?P<file>(?:[^()]|\([^()]*\))*)\)")
OFFSET = re.compile(r"\+0x[0-9a-f]+$")

# How unwinders mark that there is nothing further out.
NO_ADDRESS = {0, 2**64 - 1}


def frame_name(where, address):
    """The function; without a symbol the file it is in; None for the mark of an end."""
    m = FILE.fullmatch(where)
    name, file = (m["name"], m["file"]) if m else (where, "")
    name = samples.usual_name(OFFSET.sub("", name).strip())
    if name and name != "[unknown]":
        return name
    if file in ("", "[unknown]"):
        return None if address in NO_ADDRESS else "[unknown]"
    return "[" + file.strip("[]").rpartition("/")[2] + "]"


def header(line):
    """(thread, event, the frame on the same line or None), or None."""
    m = WITH_PROCESS.fullmatch(line) or THREAD_ONLY.fullmatch(line)
    event = EVENT.fullmatch(m["rest"].strip()) if m else None
    if not event:
        return None
    process = m.groupdict().get("process", "?")
    return f"{m['name']}-{process}/{m['thread']}", event["event"], event["frame"]


def frame_of(line):
    """(name or None) in a tuple, or () if the line is no frame."""
    m = FRAME.fullmatch(line)
    if not m:
        return ()
    return (frame_name(m["where"] or "", int(m["address"], 16)),)


def read(text, source):
    counts, events, bad = {}, {}, []
    thread, stack = None, []

    def finish():
        if thread is not None and stack:
            samples.add(counts, thread, reversed(stack), 1)

    lines = text.split("\n")
    cut = lines.pop() != ""
    for number, line in enumerate(lines, 1):
        head = None if line[:1] in "\t#" else header(line)
        if head:
            finish()
            thread, stack = head[0], []
            events[head[1]] = events.get(head[1], 0) + 1
            line = head[2] or ""
        frame = frame_of(line) if thread is not None else ()
        if frame:
            stack += [name for name in frame if name is not None]
        elif not line.strip() and not head:
            finish()
            thread, stack = None, []
        elif line.strip() and not line.startswith("#"):
            bad.append(number)
    if not cut:
        finish()
    return samples.Profile(source, counts, notes_on(events, bad, cut and thread is not None))


def notes_on(events, bad, cut):
    notes = []
    if len(events) > 1:
        notes.append("samples of several events are added up: " + ", ".join(sorted(events)))
    if cut:
        notes.append("the text ends in the middle of a stack, which is left out")
    if bad:
        notes.append(f"{len(bad)} lines left out: neither a sample nor a frame "
                     f"(first: line {bad[0]})")
    return notes
