# SPDX-License-Identifier: MIT
"""Who called a function, and what it called, to any depth.

Each stack counts once, so the shares of one level add up to that of the level above. In a
stack that has the function several times the innermost counts, and a function that calls
itself directly is no caller of its own: recursion does not hide who started it.
"""
import fnmatch

from . import samples, tables
from .errors import Refused, shown

OUTSIDE = "(nothing above)"
ITSELF = "(in itself)"


def matching(profile, wanted):
    """The functions meant: by name, by name without its parameters, or by wildcards."""
    names = {name for stack in samples.by_stack(profile) for name in stack}
    if wanted in names:
        return {wanted}
    found = {n for n in names if n.split("(")[0] == wanted or fnmatch.fnmatchcase(n, wanted)}
    if found:
        return found
    similar = sorted(n for n in names if wanted and wanted.lower() in n.lower())
    hint = "; similar: " + ", ".join(similar[:5]) if similar else ""
    raise Refused(f"{profile.source}: has no function '{wanted}'{hint}")


def paths(profile, chosen, upwards):
    """(names from the function outwards or inwards, count) of each stack that has it."""
    for stack, count in samples.by_stack(profile).items():
        last = max((i for i, name in enumerate(stack) if name in chosen), default=None)
        if last is None:
            continue
        first = last
        while first and stack[first - 1] == stack[last]:
            first -= 1
        if upwards:
            yield (*reversed(stack[:first]), OUTSIDE), count
        else:
            yield (*stack[last + 1:], ITSELF), count


def grow(branches, depth):
    """{(name, ...): count} for all beginnings of at most @depth names."""
    tree = {}
    for path, count in branches:
        for level in range(1, min(depth, len(path)) + 1):
            tree[path[:level]] = tree.get(path[:level], 0) + count
    return tree


def ordered(tree):
    """The nodes, parents before children, siblings by count."""
    children = {}
    for path in tree:
        children.setdefault(path[:-1], []).append(path)
    waiting = [()]
    while waiting:
        path = waiting.pop()
        if path:
            yield path
        # The end of the list is taken first.
        waiting += sorted(children.get(path, []), key=lambda p: (tree[p], p))


def lines(profile, wanted, upwards, depth=1, top=0):
    """A table of callers or callees, each level indented."""
    chosen = matching(profile, wanted)
    tree = grow(paths(profile, chosen, upwards), depth)
    here = sum(count for path, count in tree.items() if len(path) == 1)
    word = "callers" if upwards else "callees"
    name = shown(wanted) if len(chosen) == 1 else f"{shown(wanted)} ({len(chosen)} functions)"
    all_rows = list(ordered(tree))
    rows, more = tables.cut(all_rows, top)
    out = [f"{word} of {name}: {here} samples, "
           f"{tables.percent(here, samples.total(profile)):.2f} % of all", "",
           f"% of that    samples  {word[:-1]}"]
    for path in rows:
        out.append(f"{tables.percent(tree[path], here):9.2f} {tree[path]:10d}  "
                   f"{'  ' * (len(path) - 1)}{shown(path[-1])}")
    return out + more
