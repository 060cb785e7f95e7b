# SPDX-License-Identifier: MIT
"""Whose lines are drawn in colour: ours, glibc's, and the two best of the others.

The rest is grey, with a picture of its own on demand: a dozen coloured lines show nothing.
"""

import math

from . import names, style, versus

BEST = 2


def behind(table, up=False):
    """{impl: how far it is from the best one, in logs, as the mean over its places}. @table is
    {impl: {place: value}}; @up: the best is the largest."""
    sign, best, found = -1 if up else 1, {}, {}
    known = {impl: {at: sign * math.log(v) for at, v in row.items() if v and v > 0}
             for impl, row in table.items() if not names.is_twin(impl)}
    for row in known.values():
        for at, v in row.items():
            best[at] = min(v, best.get(at, v))
    for impl, row in known.items():
        if row:
            found[impl] = sum(v - best[at] for at, v in row.items()) / len(row)
    return found


def main(table, up=False):
    """The implementations in colour, as a set. Our own variants are not "the others"."""
    away = behind(table, up)
    others = [i for i in away if style.family(i) != versus.OURS and i != versus.THEIRS]
    best = sorted(others, key=lambda i: (away[i], i))[:BEST]
    return {versus.OURS, versus.THEIRS, *best} & set(table)


def of_series(series, up=False):
    return main({s["impl"]: {p["x"]: p["y"] for p in s["points"]} for s in series}, up)


def legend(impls, chosen):
    """Entries of the legend: those in colour, and how many are grey."""
    entries = [{"name": i, **style.of(i)} for i in style.order(chosen)]
    rest = len(set(impls) - set(chosen))
    if rest:
        entries.append({"name": f"{rest} other{'s' if rest > 1 else ''}", **style.REST})
    return entries
