# SPDX-License-Identifier: MIT
"""How a run of the harness ends other than well, and how text from outside is shown."""

OK, FAILED, BAD_INPUT, SLOWER, NOISY, INTERRUPTED = 0, 1, 2, 3, 4, 130


class Ending(Exception):
    """Stop with one line on stderr and this exit status."""

    def __init__(self, text, status=FAILED):
        super().__init__(text)
        self.status = status


def refused(text):
    """What the person asked for cannot be done as asked."""
    return Ending(text, BAD_INPUT)


def shown(text, most=200):
    """Text from outside on one line: control characters as '?', the rest cut off."""
    text = "".join(c if c.isprintable() else "?" for c in str(text))
    return text if len(text) <= most else text[:most - 3] + "..."


def reason(error):
    """Why a system call failed, without the path."""
    return shown(error.strerror or error)
