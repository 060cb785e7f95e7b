# SPDX-License-Identifier: MIT
"""A line with a bar that is written anew on a terminal, a line for each tenth elsewhere."""

import os
import shutil
import sys
import time

from .errors import shown

BAR = 24


def duration(seconds):
    """As a person would say it."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def clock(seconds):
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes}:{rest:02}"


def bar(share):
    done = round(BAR * min(1.0, share))
    return "[" + "#" * done + "." * (BAR - done) + "]"


class Progress:
    """On stderr. State is what has been printed, so that a line is not printed twice."""

    def __init__(self, quiet=False):
        self.quiet = quiet
        self.terminal = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.tenth = 0
        self.begin = time.monotonic()
        self.part = ""

    def note(self, text):
        """A part without a known length."""
        if self.quiet:
            return
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print("\r\x1b[K" + shown(text, width), end="", file=sys.stderr, flush=True)
        else:
            print(shown(text), file=sys.stderr, flush=True)

    def step(self, share, left_s, name):
        """@share of the time is over, @left_s seconds are to come."""
        if self.quiet:
            return
        if self.terminal:
            self.note(f"{bar(share)} {share:4.0%} {clock(left_s)} left  {name}")
        elif int(share * 10) > self.tenth:
            self.tenth = int(share * 10)
            spent = duration(time.monotonic() - self.begin)
            self.note(f"{self.tenth * 10} % after {spent}, {duration(left_s)} left")

    def piece(self, what, done, total):
        """@done of @total pieces of a part are over; nobody knows how long the others take."""
        share = done / max(total, 1)
        if self.terminal:
            self.part = f"{bar(share)} {done} of {total} {what}"
            self.note(self.part)
        elif done == 0:
            self.tenth = 0
        elif int(share * 10) > self.tenth:
            self.tenth = int(share * 10)
            spent = duration(time.monotonic() - self.begin)
            self.note(f"{done} of {total} {what} after {spent}")

    def detail(self, text):
        """Within a piece, only where it does not stay."""
        if self.terminal:
            self.note(f"{self.part}  {text}" if self.part else text)

    def clear(self):
        if self.terminal and not self.quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
