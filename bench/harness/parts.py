# SPDX-License-Identifier: MIT
"""The other folders of bench/ that scripts/bench starts: report, seed, vm, stacks.

An exception that a part defines itself explains what cannot be done as asked: one line, exit
status 2, or the exception's own `status`. Any other one is a failure of the part.
"""

import contextlib
import importlib

from .errors import BAD_INPUT, FAILED, Ending, refused, shown


def function(part, name):
    """What the part, or a file of it, calls @name, looked up before anything is measured."""
    try:
        module = importlib.import_module(part)
    except ImportError as e:
        raise refused(f"bench/{part} cannot be used: {shown(e)}") from e
    if not hasattr(module, name):
        raise refused(f"bench/{part} has no {name}")
    return getattr(module, name)


@contextlib.contextmanager
def endings(part):
    """The part's exceptions become endings of ours."""
    folder = part.split(".")[0]
    try:
        yield
    except Ending:
        raise
    except Exception as e:
        if type(e).__module__.split(".")[0] == folder:
            status = getattr(e, "status", None)
            raise Ending(shown(e, 400), status if isinstance(status, int) else BAD_INPUT) from e
        raise Ending(f"bench/{folder} failed: {type(e).__name__}: {shown(e)}", FAILED) from e


def call(part, name, *arguments):
    wanted = function(part, name)
    with endings(part):
        return wanted(*arguments)


def each(part, name, *arguments):
    """The same for a function that yields what it measures as it goes on."""
    wanted = function(part, name)
    with endings(part):
        yield from wanted(*arguments)


def open_rows(found, path):
    """The scoreboard's rows that a result does not have yet."""
    known = function("seed", "IDS")
    have = [row.get("id") if isinstance(row, dict) else None for row in found or []]
    if not all(name in known for name in have):
        raise refused(f"--resume: the scoreboard in {shown(path)} is damaged")
    return [name for name in known if name not in have]
