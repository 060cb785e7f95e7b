# SPDX-License-Identifier: MIT
"""Ctrl-C, SIGTERM and SIGHUP as an exception that never comes at a bad moment."""

import contextlib
import signal

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

STATE = {"held": 0, "pending": False}


class Interrupted(KeyboardInterrupt):
    """The person, or the system, wants this to end."""


def arrived(_number, _frame):
    if STATE["held"]:
        STATE["pending"] = True
    else:
        raise Interrupted


def catch():
    for number in SIGNALS:
        signal.signal(number, arrived)


@contextlib.contextmanager
def held():
    """While a child is started, or a file is replaced: afterwards is soon enough."""
    STATE["held"] += 1
    try:
        yield
    finally:
        STATE["held"] -= 1
    if STATE["pending"] and not STATE["held"]:
        STATE["pending"] = False
        raise Interrupted
