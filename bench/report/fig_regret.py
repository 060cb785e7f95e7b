# SPDX-License-Identifier: MIT
"""How much more each implementation costs than the better of spinning and sleeping."""

from . import cost, curves, data, panel, show
from .errors import Missing

ID, TITLE = "regret", "Regret: cost against the better of spinning and sleeping"
SPIN, BLOCK = "spin", "block"
PANEL = 320


def optimum(cells):
    """{wait: the smaller cost of spinning and sleeping}"""
    found = {}
    for cell in cells:
        made = cost.point(cell)
        if data.impl(cell) in (SPIN, BLOCK) and made:
            found.setdefault(cell["dims"]["wait"], {})[data.impl(cell)] = made["y"]
    return {wait: min(two.values()) for wait, two in found.items() if len(two) == 2}


def relative(cell, best):
    """The cost as a multiple of @best; the optimum's own spread is not in the interval."""
    made, base = cost.point(cell), best.get(cell["dims"]["wait"])
    if not made or not base:
        return None
    return {"y": made["y"] / base, "low": made["low"] / base, "high": made["high"] / base,
            "runs": [r / base for r in made["runs"]]}


def worst(series):
    """The largest regret of each line in colour, as a sentence."""
    texts = []
    for s in series:
        top = max(s["points"], key=lambda p: p["y"])
        texts.append(f"{s['impl']} {show.digits(top['y'], 2)} at {show.time_ns(top['x'])}")
    return "Largest regret: " + show.sentence_list(texts, 16) + "."


def collect(result):
    cells, left_out = data.ask(result, "handoff", "impl", "wait")
    best = optimum(cells)
    if not best:
        raise Missing("There is no regret to draw: the suite handoff has no cost of both "
                      f"{SPIN} and {BLOCK}.")
    series = curves.series_of(cells, "wait", lambda c: relative(c, best))
    rows = []
    for cell in cells:
        made = relative(cell, best)
        if made:
            first, second = cost.rows(cell)
            rows += [{**first, "drawn": f"{show.digits(made['y'], 4)} of the optimum"}, second]
    colours = curves.in_colour(series)
    shown = [s for s in series if s["impl"] in colours["shown"]]
    return {"series": series, "rows": rows, "left_out": left_out, "alt": worst(shown), **colours,
            "how": "1 is the cheaper of always spinning and always sleeping at that length, which "
                   "nobody can know beforehand; 2 is what a good rule promises. The cost is "
                   + cost.TEXT + " Dashed: 2. " + curves.HOW.rstrip(),
            "pivot": curves.pivot(series, "wait", show.time_ns, lambda y: show.digits(y))}


def draw(model, footer):
    figure = panel.Figure(curves.height(PANEL + 100))
    moved, zero = curves.zero_aside(model["series"])
    xs = [p["x"] for s in moved for p in s["points"]]
    top = panel.HEAD + 44
    p = panel.Panel((66, top, panel.WIDTH - curves.LABEL_ROOM, top + PANEL),
                    panel.log_range(xs, 1.25),
                    panel.log_range([*curves.all_values(moved), 1, 2]), True, True)
    figure.axes(p, curves.size_tics(moved, zero), (panel.log_tics(p.ylo, p.yhi), show.digits))
    figure.titles(p, "length of the wait", "cost / min(spin, block)   "
                  "\N{DOWNWARDS ARROW} lower is better, 1 is the optimum")
    figure.line(p.left, p.py(1), p.right, p.py(1), "#222222", 1.2)
    figure.line(p.left, p.py(2), p.right, p.py(2), "#666666", 0.8, 3)
    curves.draw(figure, p, moved, 1, model["shown"])
    return figure, figure.finish(TITLE, footer)
