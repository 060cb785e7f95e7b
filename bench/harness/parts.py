# SPDX-License-Identifier: MIT
"""The other folders of bench/ that scripts/bench starts: report, seed, vm, stacks.

An exception that a part defines itself explains what cannot be done as asked: one line, exit
status 2, or the exception's own `status`. Any other one is a failure of the part.
"""

import importlib

from .errors import BAD_INPUT, FAILED, Ending, refused, shown


def function(part, name):
    """The part's function, looked up before anything is measured for it."""
    try:
        module = importlib.import_module(part)
    except ImportError as e:
        raise refused(f"bench/{part} cannot be used: {shown(e)}") from e
    if not hasattr(module, name):
        raise refused(f"bench/{part} has no {name}()")
    return getattr(module, name)


def call(part, name, *arguments):
    """The part's exceptions become endings of ours."""
    wanted = function(part, name)
    try:
        return wanted(*arguments)
    except Ending:
        raise
    except Exception as e:
        if type(e).__module__.split(".")[0] == part:
            status = getattr(e, "status", None)
            raise Ending(shown(e, 400), status if isinstance(status, int) else BAD_INPUT) from e
        raise Ending(f"bench/{part} failed: {type(e).__name__}: {shown(e)}", FAILED) from e
