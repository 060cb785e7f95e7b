# SPDX-License-Identifier: MIT
"""What guest_init writes: marked lines between whatever firmware and kernel say.

A marked line is a JSON list of two, a head of kind hello, info, run, error or end, and the
document of the program that was run, or null. The kernel writes to the same serial line, at any
moment, so a line can come torn.
"""

import json
import re

MARK = "@@ipcwait"

# A terminal's orders, which the firmware likes.
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?=]*[A-Za-z]|.)")
PANIC = re.compile(r"Kernel panic - not syncing: (.*)")
SHOWN_MOST = 160


def shown(text):
    """Text of unknown origin, fit for a line of a message."""
    plain = ESCAPE.sub("", text).strip()
    plain = "".join(c if " " <= c <= "~" else "?" for c in plain)
    return plain if len(plain) <= SHOWN_MOST else plain[:SHOWN_MOST] + "..."


class Stream:
    """Collects lines. A class, as it is fed bit by bit while the guest runs."""

    def __init__(self):
        self.heads = []  # (head, document)
        self.torn = 0
        self.panic = None
        self.last = ""  # of what stands between, and of torn lines

    def feed(self, raw):
        """One line as bytes. Return: the head's kind, None for anything else."""
        text = raw.decode("ascii", "replace").strip()
        before, mark, payload = text.partition(MARK)
        panic = PANIC.search(text)
        if panic and not self.panic:
            self.panic = shown(panic[1])
        if shown(before if mark else text):
            self.last = shown(before if mark else text)
        return self._marked(payload) if mark else None

    def _marked(self, payload):
        try:
            head, document = json.loads(payload)
            kind = head["kind"]
        except (ValueError, TypeError, KeyError, RecursionError):
            self.torn += 1
            self.last = shown(payload)
            return None
        self.heads.append((head, document))
        return kind

    def of_kind(self, kind):
        return [(head, document) for head, document in self.heads if head["kind"] == kind]

    def ended(self):
        return bool(self.of_kind("end"))

    def lost(self):
        """Lines that were written and did not arrive whole; None without the last line."""
        ends = self.of_kind("end")
        if not ends:
            return None
        return max(0, int(ends[0][0].get("lines", 0)) - (len(self.heads) - 1))
