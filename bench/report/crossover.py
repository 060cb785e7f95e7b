# SPDX-License-Identifier: MIT
"""Where one line overtakes another, beyond what the intervals leave in doubt."""

import itertools
import math

from . import gnuplot, place, show, style

# The pairs that answer "spin or sleep?"; all pairs of many lines would be a thicket.
ASKED = ("spin", "block", "glibc", "ipcwait")
MOST = 4
NEAR = 1.3


def chosen(series):
    found = sorted((s for s in series if s["impl"] in ASKED),
                   key=lambda s: ASKED.index(s["impl"]))
    return found if len(found) > 1 else series[:MOST]


def sign(p, q):
    """-1 or 1 if one of two points is below the other without a doubt, else 0."""
    return -1 if p["high"] < q["low"] else 1 if q["high"] < p["low"] else 0


def both(a, b):
    """The pairs of points at the same x."""
    other = {q["x"]: q for q in b["points"]}
    return [(p, other[p["x"]]) for p in a["points"]
            if p["x"] in other and p["y"] > 0 and other[p["x"]]["y"] > 0]


def between(left, right):
    """(x, y) where the lines of two pairs meet, straight on logarithmic axes; None if not."""
    gaps = [math.log(p["y"] / q["y"]) for p, q in (left, right)]
    if gaps[0] * gaps[1] >= 0:
        return None
    share = gaps[0] / (gaps[0] - gaps[1])

    def middle(key):
        ends = [math.log(pair[0][key]) for pair in (left, right)]
        return math.exp(ends[0] + share * (ends[1] - ends[0]))

    return middle("x"), middle("y")


def of_pair(a, b):
    """(x, y) of the one crossing of two lines; None if there is none, or no single one."""
    pairs = both(a, b)
    signs = [sign(p, q) for p, q in pairs]
    clear = [i for i, s in enumerate(signs) if s]
    turns = [(i, j) for i, j in zip(clear, clear[1:]) if signs[i] != signs[j]]
    if len(turns) != 1:
        return None
    i, j = turns[0]
    met = [between(left, right) for left, right in zip(pairs[i:j], pairs[i + 1:j + 1])]
    return next((m for m in met if m), None)


def find(series):
    """[(x, y, text)], the pair that says most first."""
    found = []
    for a, b in itertools.combinations(chosen(series), 2):
        met = of_pair(a, b)
        if met:
            found.append((*met, f"{show.short(a['impl'], 16)} = {show.short(b['impl'], 16)} at "
                          f"{show.time_ns(met[0], 2)}"))
    return found[:MOST]


def apart(found):
    """Without those too near to one already there: the text below the figure has all."""
    kept = []
    for one in found:
        if all(max(one[0] / k[0], k[0] / one[0]) > NEAR for k in kept):
            kept.append(one)
    return kept


def mark(figure, p, found, tag, series):
    """Labels for the points. Returns what gnuplot has to draw for them."""
    if not found:
        return []
    found = apart(found)
    lines = [box for s in series
             for box in place.along([(p.px(q["x"]), p.py(q["y"])) for q in s["points"]])]
    boxes = place.beside([(p.px(x), p.py(y), text) for x, y, text in found], 11,
                         (p.left, p.top, p.right, p.bottom), lines)
    for (x, y, text), (box, far) in zip(found, boxes):
        figure.text(box[0], (box[1] + box[3]) / 2, text, 11, style.INK, boxed=True)
        if far > 10:
            figure.line(p.px(x), p.py(y), min(max(p.px(x), box[0]), box[2]),
                        (box[1] + box[3]) / 2)
    figure.add(*gnuplot.block(f"c{tag}", [f"{x:.9g} {y:.9g}" for x, y, _ in found]))
    return [f"$c{tag} using 1:2 with points pt 6 ps 1.5 lw 2 lc rgb '{style.INK}' notitle"]


def sentence(found, what):
    if not found:
        return f"No two of the lines asked about cross in {what} beyond their intervals."
    return f"In {what}: " + show.sentence_list(text for _, _, text in found) + "."
