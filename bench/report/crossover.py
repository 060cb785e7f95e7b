# SPDX-License-Identifier: MIT
"""Where one line overtakes another, beyond what the intervals leave in doubt."""

import itertools
import math

from . import gnuplot, names, place, show, style

# The pairs that answer "spin or sleep?"; all pairs of many lines would be a thicket.
ASKED = ("spin", "block", "glibc", "ipcwait")
MOST = 4
NEAR = 1.3


def chosen(series):
    found = sorted((s for s in series if s["impl"] in ASKED),
                   key=lambda s: ASKED.index(s["impl"]))
    others = [s for s in series if not names.is_twin(s["impl"])]
    return found if len(found) > 1 else others[:MOST]


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
    if gaps[0] * gaps[1] >= 0 or left[0]["x"] <= 0:
        return None
    share = gaps[0] / (gaps[0] - gaps[1])

    def middle(key):
        ends = [math.log(pair[0][key]) for pair in (left, right)]
        return math.exp(ends[0] + share * (ends[1] - ends[0]))

    return middle("x"), middle("y")


def of_pair(a, b):
    """The one crossing of two lines; None if there is none, or no single one.

    {"low", "high"}: the measured lengths on either side that leave no doubt; "at": (x, y) in
    between, interpolated, or None where that is not possible (a length of 0).
    """
    pairs = both(a, b)
    signs = [sign(p, q) for p, q in pairs]
    clear = [i for i, s in enumerate(signs) if s]
    turns = [(i, j) for i, j in zip(clear, clear[1:]) if signs[i] != signs[j]]
    if len(turns) != 1:
        return None
    i, j = turns[0]
    met = [between(left, right) for left, right in zip(pairs[i:j], pairs[i + 1:j + 1])]
    return {"low": pairs[i][0]["x"], "high": pairs[j][0]["x"],
            "at": next((m for m in met if m), None)}


def find(series):
    """Crossings with their "text", the pair that says most first."""
    found = []
    for a, b in itertools.combinations(chosen(series), 2):
        met = of_pair(a, b)
        if met:
            text = (f"{show.short(a['impl'], 16)} = {show.short(b['impl'], 16)} between "
                    f"{show.time_ns(met['low'])} and {show.time_ns(met['high'])}")
            found.append({**met, "text": text, "impls": {a["impl"], b["impl"]}})
    return found[:MOST]


def apart(found, shown=None):
    """Those that can be marked: of two lines in colour, and not too near to one already there. The
    text below the figure has all."""
    kept = []
    for one in found:
        x = one["at"] and one["at"][0]
        if x and (shown is None or one["impls"] <= shown) and all(
                max(x / k["at"][0], k["at"][0] / x) > NEAR for k in kept):
            kept.append(one)
    return kept


def bracket(figure, p, one):
    """A bar from the last length before the crossing to the first one after it. Its two ends."""
    y, ends = p.py(one["at"][1]), [max(p.px(one[end]), p.left) for end in ("low", "high")]
    figure.line(ends[0], y, ends[1], y, style.INK, 1.2)
    for x in ends:
        figure.line(x, y - 5, x, y + 5, style.INK, 1.2)
    return [(x, y) for x in ends]


def mark(figure, p, found, tag, series):
    """Labels for the points of @found, those of apart(), off the lines of @series. Returns what
    gnuplot has to draw for them."""
    if not found:
        return []
    points = [(p.px(one["at"][0]), p.py(one["at"][1]), one["text"]) for one in found]
    lines = [box for s in series
             for box in place.along([(p.px(q["x"]), p.py(q["y"])) for q in s["points"]])]
    for one in found:
        lines += place.along(bracket(figure, p, one))
    boxes = place.beside(points, 11, (p.left, p.top, p.right, p.bottom), lines)
    for (x, y, text), (box, far) in zip(points, boxes):
        middle = (box[1] + box[3]) / 2
        figure.text(box[0], middle, text, 11, style.INK, boxed=True)
        if far > 10:
            figure.line(x, y, min(max(x, box[0]), box[2]), middle)
    figure.add(*gnuplot.block(f"c{tag}", ["{:.9g} {:.9g}".format(*one["at"]) for one in found]))
    return [f"$c{tag} using 1:2 with points pt 6 ps 1.5 lw 2 lc rgb '{style.INK}' notitle"]


def sentence(found, what):
    if not found:
        return f"No two of the lines asked about cross in {what} beyond their intervals."
    return f"In {what}: " + show.sentence_list(
        one["text"] + (f" (interpolated {show.time_ns(one['at'][0], 2)})" if one["at"] else "")
        for one in found) + "."
