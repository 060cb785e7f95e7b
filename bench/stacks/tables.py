# SPDX-License-Identifier: MIT
"""Tables of functions: where the samples are, and how two recordings differ.

Exclusive is what was seen in the function itself, inclusive what was seen in it or in what it
called. A function that is several times in one stack counts once: 100 % is the most there is.
"""
import math
from typing import NamedTuple

from . import samples
from .errors import shown

SORTS = ("incl", "excl")
MISSING = "\N{EN DASH}"


class Share(NamedTuple):
    incl: int
    excl: int


def shares(profile):
    """{function: Share}"""
    inclusive, exclusive = {}, {}
    for stack, count in samples.by_stack(profile).items():
        for name in set(stack):
            inclusive[name] = inclusive.get(name, 0) + count
        if stack:
            exclusive[stack[-1]] = exclusive.get(stack[-1], 0) + count
    return {name: Share(n, exclusive.get(name, 0)) for name, n in inclusive.items()}


def percent(count, total):
    return 100 * count / total if total else 0.0


def cut(rows, top):
    """The first @top rows, and a line that says how many there are beyond them."""
    if not top or len(rows) <= top:
        return rows, []
    return rows[:top], [f"... and {len(rows) - top} more (--top {len(rows)})"]


def head(profile):
    """What the table is about, a line each."""
    threads = samples.by_thread(profile)
    among = f" in {len(threads)} thread{'s' if len(threads) > 1 else ''}" if any(threads) else ""
    return [f"{samples.total(profile)} samples{among}", *profile.notes]


def functions(profile, sort="incl", top=0):
    """Lines: inclusive and exclusive share of each function that has any of what is sorted by."""
    table, total = shares(profile), samples.total(profile)
    order = (lambda s: (s.incl, s.excl)) if sort == "incl" else (lambda s: (s.excl, s.incl))
    names = sorted((n for n in table if order(table[n])[0]),
                   key=lambda n: tuple(-v for v in order(table[n])) + (n,))
    names, more = cut(names, top)
    lines = [" inclusive             exclusive",
             "       %    samples         %    samples  function"]
    for name in names:
        s = table[name]
        lines.append(f"{percent(s.incl, total):8.2f} {s.incl:10d}  "
                     f"{percent(s.excl, total):8.2f} {s.excl:10d}  {shown(name)}")
    return lines + more


def threads(profile):
    """Lines: how many samples each thread has."""
    table, total = samples.by_thread(profile), samples.total(profile)
    lines = ["       %    samples  thread"]
    for name, count in sorted(table.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"{percent(count, total):8.2f} {count:10d}  {shown(name) or '(not known)'}")
    return lines


def chance(count, total):
    """Two standard deviations of a share, in points: a sample falls into it or does not."""
    if not total:
        return 0.0
    # One more hit and one more miss: a function that was seen never or always can vary too.
    p = (count + 1) / (total + 2)
    return 200 * math.sqrt(p * (1 - p) / total)


def differences(a, b, sort="incl"):
    """[(name, count in a, count in b, difference in points, what chance can make)]"""
    tables, totals = (shares(a), shares(b)), (samples.total(a), samples.total(b))
    rows = []
    for name in tables[0].keys() | tables[1].keys():
        counts = [getattr(t.get(name, Share(0, 0)), sort) for t in tables]
        points = percent(counts[1], totals[1]) - percent(counts[0], totals[0])
        noise = math.hypot(*(chance(c, n) for c, n in zip(counts, totals)))
        rows.append((name, *(c if name in t else None for c, t in zip(counts, tables)),
                     points, noise))
    return sorted(rows, key=lambda row: (-abs(row[3]), row[0]))


def difference(a, b, sort="incl", top=0):
    """Lines: what B has more or less of than A, the largest difference first."""
    totals = (samples.total(a), samples.total(b))
    rows, more = cut(differences(a, b, sort), top)
    word = "inclusive" if sort == "incl" else "exclusive"
    lines = [f"A  {shown(a.source)}: {totals[0]} samples",
             f"B  {shown(b.source)}: {totals[1]} samples",
             f"{word} shares; a difference within +- is what sampling twice can give", "",
             "     A %      B %  B - A points      +-  function"]
    for name, left, right, points, noise in rows:
        sides = [f"{MISSING:>8}" if count is None else f"{percent(count, total):8.2f}"
                 for count, total in zip((left, right), totals)]
        lines.append(f"{sides[0]} {sides[1]}  {points:+12.2f} {noise:7.2f}  {shown(name)}")
    return lines + more
