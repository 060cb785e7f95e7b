# SPDX-License-Identifier: MIT
"""How a run of the harness ends other than well, and how text from outside is shown."""

import os
import traceback

from texts import shown

OK, FAILED, BAD_INPUT, SLOWER, NOISY, INTERRUPTED = 0, 1, 2, 3, 4, 130


class Ending(Exception):
    """Stop with one line on stderr and this exit status."""

    def __init__(self, text, status=FAILED):
        super().__init__(text)
        self.status = status


def refused(text):
    """What the person asked for cannot be done as asked."""
    return Ending(text, BAD_INPUT)


def unexpected(error):
    """One line for what nobody has thought of, with the place: it is a mistake of ours."""
    at = traceback.extract_tb(error.__traceback__)
    where = f" in {os.path.basename(at[-1].filename)}:{at[-1].lineno}" if at else ""
    return f"{type(error).__name__}{where}: {shown(error)}"


def reason(error):
    """Why a system call failed, without the path."""
    return shown(error.strerror or error)
