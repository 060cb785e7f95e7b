# SPDX-License-Identifier: MIT
"""Two plain formats: folded stacks, and stacks between lines with an exclamation mark.

Folded: a stack a line, outermost function first, `main;run;wait 12`. If the first name looks
like "name-process/thread" it is the thread. A `;` cannot stand in a name: it is written as `:`.

Bang: the format that scripts around DTrace, SystemTap and perf used: after a line with nothing
but `!` come the functions, innermost first, and then how often the stack was seen. A function
may be `address : name+offset [module]`, of which the name is kept. Threads get lost.
"""
import re

from . import samples
from .errors import Refused

FOLDED = re.compile(r"(\S(?:.*?\S)?)\s+(\d{1,18})\s*")
COUNT = re.compile(r"\s*(\d{1,18})\s*")
ADDRESS = re.compile(r"(?:0x)?[0-9a-f]+ : (.+)")
OFFSET = re.compile(r"(.+?)\+(?:0x)?[0-9a-f]+(?:/(?:0x)?[0-9a-f]+)?(?: \[[^\]]*\]?)?")


def left_out(lines, first):
    return f"{lines} line{'s' if lines > 1 else ''} left out: not a stack (first: line {first})"


def read_folded(text, source):
    counts, bad = {}, []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        m = FOLDED.fullmatch(line)
        # A file that was cut may end in the middle of a count.
        if m and number == len(lines):
            bad.append(number)
        elif m:
            names = [name for name in m[1].split(";") if name]
            thread = names.pop(0) if names and samples.THREAD.fullmatch(names[0]) else ""
            samples.add(counts, thread, names, int(m[2]))
        elif line.strip() and not line.startswith("#"):
            bad.append(number)
    if len(lines) > 1 and bad == [len(lines)]:
        notes = ["the last line has no end: left out"]
    else:
        notes = [left_out(len(bad), bad[0])] if bad else []
    return samples.Profile(source, counts, notes)


def write_folded(profile):
    rows = []
    for (thread, stack), count in profile.counts.items():
        names = ([thread] if thread else []) + list(stack)
        rows.append(";".join(n.replace(";", ":").replace("\n", " ") for n in names) + f" {count}")
    return "".join(row + "\n" for row in sorted(rows))


def bare_name(line):
    """The function of a line; offsets are known to be there only behind an address."""
    name = line.strip()
    m = ADDRESS.fullmatch(name)
    if not m:
        return name
    offset = OFFSET.fullmatch(m[1])
    return offset[1] if offset else m[1]


def read_bang(text, source):
    counts, notes, block = {}, [], None
    lines = text.split("\n")
    for number, line in enumerate([*lines, "!"], 1):
        if line.strip() != "!":
            if block is not None and line.strip():
                block.append(line)
            elif line.strip() and not notes:
                notes.append(f"line {number}: what stands before the first `!` is left out")
            continue
        count = COUNT.fullmatch(block[-1]) if block and len(block) > 1 else None
        if count:
            samples.add(counts, "", map(bare_name, reversed(block[:-1])), int(count[1]))
        elif block:
            last = number > len(lines)
            notes.append(("the last stack" if last else f"the stack that ends in line {number}")
                         + " has no count: left out")
        block = []
    if len(notes) > 3:
        notes[2:] = [f"and {len(notes) - 2} more stacks without a count"]
    return samples.Profile(source, counts, notes)


def write_bang(profile):
    rows = []
    for stack, count in sorted(samples.by_stack(profile).items()):
        names = "".join(f" {name}\n" for name in reversed(stack))
        rows.append(f"!\n{names}\t{count}\n")
    if not rows:
        raise Refused(f"{profile.source}: no stacks to write", 1)
    return "".join(rows) + "!\n"
