# SPDX-License-Identifier: MIT
"""How the stack tools refuse: one line, and an exit status."""

BAD_INPUT = 2
FAILED = 1


class Refused(Exception):
    """A message for the user; the second argument is the exit status."""

    def __init__(self, message, status=BAD_INPUT):
        super().__init__(shown(message))
        self.status = status


def shown(text):
    """@text without what would move the cursor or end the line."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def reason(error):
    """What went wrong, of an OSError."""
    return error.strerror or str(error)
