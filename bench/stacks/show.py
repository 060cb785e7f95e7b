# SPDX-License-Identifier: MIT
"""What `scripts/bench --profile` prints: the tables that people ask for first."""
import sys

from . import flame, recording, tables, trees
from .errors import FAILED, Refused, shown

INCLUSIVE_ROWS = 25
EXCLUSIVE_ROWS = 12
HOTTEST = 3
CALLER_ROWS = 8
CALLER_DEPTH = 4


def hottest(profile):
    """The functions with the most samples in themselves."""
    table = tables.shares(profile)
    return sorted(table, key=lambda name: (-table[name].excl, name))[:HOTTEST]


def overview(result):
    """Lines: the functions in both orders, and who calls the hottest ones."""
    p = result.profile
    lines = [result.how, *map(shown, tables.head(p)), "",
             *tables.functions(p, "incl", INCLUSIVE_ROWS), "",
             *tables.functions(p, "excl", EXCLUSIVE_ROWS)]
    for name in hottest(p):
        lines += ["", *trees.lines(p, name, True, CALLER_DEPTH, CALLER_ROWS)]
    return lines


def where(folded, picture):
    return ["", f"stacks: {shown(folded)}", f"picture: {shown(picture)}",
            f"more: python3 bench/stacks report {shown(folded)} --callers "
            "FUNCTION --depth 5; also --callees, --thread, --threads; and diff of two files"]


def record(context, argv, out=None):
    """Run @argv, print the overview, and keep @out.folded and @out.svg.

    @context may have `build`, a build directory with the sampler, and `profile_by`, "cpu" or
    "wall". Raises Refused if there is nothing to show, and, after showing what there is, if
    the program failed; KeyboardInterrupt if it was interrupted.
    """
    folded = f"{out}.folded" if out else None
    result = recording.record(context, argv, folded)
    lines = overview(result)
    if out:
        recording.write(f"{out}.svg", flame.write_svg(result.profile))
        lines += where(folded, f"{out}.svg")
    print("\n".join(["", *lines]))
    sys.stdout.flush()
    if result.interrupted:
        raise KeyboardInterrupt
    if result.status:
        raise Refused(result.profile.notes[-1], FAILED)
    return result
