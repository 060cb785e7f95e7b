# SPDX-License-Identifier: MIT
"""CPU time against latency: who pays for what, the frontier, and lines of equal product."""

import math

from . import (choice, cost, data, gnuplot, names, panel, place, returns, rounds, show, style,
               versus)
from .errors import Missing

ID, TITLE = "pareto", "CPU time against latency"
WAITS_NS = (5e3, 50e3, 1e6)  # of the suite handoff: short, about B, long
SIDE, GAP = 380, 90
TAIL = "latency_p99_ns"
WORST = "   \N{DOWNWARDS ARROW} lower is better"


def point_of(cell, metric):
    x, y = data.median(cell, cost.CPU), data.median(cell, metric)
    if x is None or y is None or x <= 0 or y <= 0:
        return None
    runs = data.values(cell, cost.CPU), data.values(cell, metric)
    pairs = zip(*runs) if len(runs[0]) == len(runs[1]) else ()
    return {"impl": data.impl(cell), "label": returns.label(cell), "x": x, "y": y,
            "xs": data.interval(cell, cost.CPU), "ys": data.interval(cell, metric),
            "kept": (rounds.kept(cell, cost.CPU), rounds.kept(cell, metric)),
            "runs": [(a, b) for a, b in pairs if a and b], "cell": cell, "metric": metric}


def near(sizes):
    """Those of the lengths that are nearest to short, middling and long."""
    sizes = [w for w in sizes if w]
    return {min(sizes, key=lambda w: abs(math.log(w / want))) for want in WAITS_NS} \
        if sizes else set()


def panels_of(loads):
    """[{"title", "y_title", "points", "cells"}]: the mixed load, and hand-offs of some lengths.

    Of the mixed load there is the p99 too: its waits are of two lengths.
    """
    found, shown = [], near(wait for wait, _ in loads)
    for wait, cells in loads:
        if wait is not None and wait not in shown:
            continue
        for metric, name in ((cost.LATENCY, "mean"), (TAIL, "p99"))[:1 + (wait is None)]:
            points = [p for p in (point_of(c, metric) for c in cells) if p]
            if points:
                found.append({"title": f"{returns.title(wait)}: {name}", "points": points,
                              "cells": cells,
                              "shown": choice.main({p["label"]: {0: p["x"] * p["y"]}
                                                    for p in points}),
                              "y_title": f"added latency, {name}" + WORST})
    return found


def ranked(points):
    return [p for p in points if not names.is_twin(p["impl"])]


def frontier(points):
    """Those that no other one beats in both, from little CPU time to much, by their medians."""
    best, found = math.inf, []
    for p in sorted(ranked(points), key=lambda p: (p["x"], p["y"])):
        if p["y"] < best:
            best = p["y"]
            found.append(p)
    return found


def beaten(p, points):
    """Is another one no worse in both, and beyond doubt better in one?"""
    return any(q["x"] <= p["x"] and q["y"] <= p["y"]
               and any(map(rounds.apart, q["kept"], p["kept"])) for q in ranked(points))


def standing(p, points):
    if names.is_twin(p["impl"]):
        return "a twin"
    return "beaten" if beaten(p, points) else "on the frontier, or not told apart"


def tables_of(found):
    """(rows of the data table, lines of the small one)"""
    rows, lines = [], []
    for one in found:
        base = returns.reference(one["cells"])
        for p in one["points"]:
            mark = standing(p, one["points"])
            gains = [returns.relative(p["cell"], base, c) for c in (returns.ALL, returns.WAITER)]
            rows += [data.raw_row(p["cell"], metric, mark) for metric in (cost.CPU, p["metric"])]
            lines.append([one["title"], p["label"], show.time_ns(p["x"]), show.time_ns(p["y"]),
                          *("x" + show.digits(g["y"]) if g else "-" for g in gains), mark])
    return rows, lines


def collect(result):
    loads, left_out = returns.loads(result)
    found = panels_of(loads)
    if not found:
        raise Missing(f"No benchmark of pareto or handoff has {cost.CPU} and {cost.LATENCY}.")
    rows, lines = tables_of(found)
    return {"panels": found, "rows": rows, "left_out": left_out, "alt": describe(found),
            "table": {"head": ["load", "on the frontier, or not told apart from it"],
                      "lines": [[one["title"], ", ".join(p["label"] for p in ahead(one))]
                                for one in found]},
            "impls": list(dict.fromkeys(p["label"] for one in found for p in one["points"])),
            "shown": set().union(*(one["shown"] for one in found)), "how": how(found),
            "pivot": {"head": ["load", "implementation", "waiter's CPU time", "added latency",
                               "T\u00b2/C, all CPU time", "T\u00b2/C, waiter's CPU time",
                               "standing"], "lines": lines}}


def ahead(one):
    """Those that nobody beats, from little CPU time to much."""
    return [p for p in sorted(ranked(one["points"]), key=lambda p: p["x"])
            if not beaten(p, one["points"])]


def describe(found):
    there = [one for one in found if any(p["label"] == versus.OURS for p in one["points"])]
    best = sum(any(p["label"] == versus.OURS for p in ahead(one)) for one in there)
    return (f"{versus.OURS} is on the frontier, or not told apart from it, in {best} of "
            f"{len(there)} pictures." if there else f"{versus.OURS} was not measured.")


def how(found):
    text = ("Lower left is better. Grey steps: the frontier of the medians. Beaten is who has "
            "another one that is no worse in both and in one of them has all kept runs below")
    labels = [p["impl"] for one in found for p in one["points"]]
    if any(map(names.is_twin, labels)):
        text += (f"; names that end in {names.TWIN}, the same measured a second time, beat nobody")
    base = [r for r in returns.REFERENCES if r in labels]
    if base:
        text += (". Dashed: equal product of latency and CPU time, as a multiple of that of "
                 + " or ".join(base))
    return text + (". Small dots: every run. Lines through a point: the intervals. Points in grey "
                   "are in the table.")


def ranges(points):
    xs = [v for p in points for v in (p["x"], *(r[0] for r in p["runs"]))]
    ys = [v for p in points for v in (p["y"], *(r[1] for r in p["runs"]))]
    return panel.log_range(xs, 1.5), panel.log_range(ys, 1.5)


def draw_products(figure, p, points):
    """Lines from edge to edge on which latency x CPU time is constant. Their labels are beside
    the panel, or above its lower edge, where points have left room; those boxes are returned."""
    known = {q["impl"]: q["x"] * q["y"] for q in points}
    base = next((known[r] for r in returns.REFERENCES if r in known), None)
    if base is None:
        return []
    low, high = math.log10(p.xlo * p.ylo / base), math.log10(p.xhi * p.yhi / base)
    step, boxes = max(1, math.ceil((high - low) / 6)), []
    for exponent in range(math.ceil(low), math.floor(high) + 1):
        if exponent % step:
            continue
        product, text = base * 10.0 ** exponent, f"x{show.digits(10.0 ** exponent)}"
        x1, x2 = max(p.xlo, product / p.yhi), min(p.xhi, product / p.ylo)
        figure.line(p.px(x1), p.py(product / x1), p.px(x2), p.py(product / x2), "#bbbbbb", 0.8, 2)
        end, right = p.py(product / x2), p.px(x2) - 2
        if end < p.bottom - 4:
            figure.text(p.right + 4, end, text, 9, "#777777")
        elif right - place.width(text, 9) > p.left:
            figure.text(right, p.bottom - 8, text, 9, "#777777", "right", boxed=True)
            boxes.append((right - place.width(text, 9), p.bottom - 14, right, p.bottom - 2))
    figure.text(p.right + 30, p.top - 12, "equal product", 9, "#777777", "right")
    return boxes


def cut(ends, low, high):
    return [min(max(end, low), high) for end in ends]


def draw_points(figure, p, points, tag, shown):
    parts, grey = [], []
    for i, q in enumerate(points):
        look, name = style.of(q["impl"]), f"p{tag}_{i}"
        ends = cut(q["xs"], p.xlo, p.xhi) + cut(q["ys"], p.ylo, p.yhi)
        figure.add(*gnuplot.block(name, [" ".join(f"{v:.9g}" for v in (q["x"], q["y"], *ends))]))
        figure.add(*gnuplot.block("r" + name, [f"{x:.9g} {y:.9g}" for x, y in q["runs"]]
                                  or ["NaN NaN"]))
        colour = look["colour"]
        if q["label"] not in shown:
            grey.append(f"${name} using 1:2 with points pt 7 ps 0.6 "
                        f"lc rgb '{style.REST['colour']}' notitle")
            continue
        parts += [f"$r{name} using 1:2 with points pt 7 ps 0.25 lc rgb '#90{colour[1:]}' notitle",
                  f"${name} using 3:2:($4-$3):(0) with vectors nohead lw 1 "
                  f"lc rgb '#60{colour[1:]}' notitle",
                  f"${name} using 1:5:(0):($6-$5) with vectors nohead lw 1 "
                  f"lc rgb '#60{colour[1:]}' notitle",
                  f"${name} using 1:2 with points pt {look['mark']} ps 1 lc rgb '{colour}' notitle"]
    return grey + parts


def draw_labels(figure, p, points, obstacles):
    boxes = place.beside([(p.px(q["x"]), p.py(q["y"]), show.short(q["label"], 22))
                          for q in points], 11, (p.left, p.top, p.right, p.bottom), obstacles)
    for q, (spot, far) in zip(points, boxes):
        figure.text(spot[0] + 2, (spot[1] + spot[3]) / 2, show.short(q["label"], 22), 11,
                    bold=q["label"] == versus.OURS, boxed=True)
        if far > 10:
            figure.line(p.px(q["x"]), p.py(q["y"]), min(max(p.px(q["x"]), spot[0]), spot[2]),
                        (spot[1] + spot[3]) / 2, style.of(q["impl"])["colour"], 0.5)


def draw_panel(figure, box, one, tag, shown):
    """Names are those of the points in colour, and of the frontier."""
    points, steps = one["points"], frontier(one["points"])
    p = panel.Panel(box, *ranges(points), logx=True, logy=True)
    figure.axes(p, (panel.log_tics(p.xlo, p.xhi, 5), show.time_ns),
                (panel.log_tics(p.ylo, p.yhi, 6), show.time_ns), "")
    figure.titles(p, "\N{LEFTWARDS ARROW} lower is better   the waiter's CPU time per hand-off",
                  one["y_title"], one["title"])
    named = [q for q in points if q["label"] in shown or any(q is s for s in steps)]
    dots = [(x - 3, y - 3, x + 3, y + 3) for x, y in
            ((p.px(q["x"]), p.py(q["y"])) for q in points)]
    draw_labels(figure, p, named, draw_products(figure, p, points) + dots)
    figure.add(*gnuplot.block(f"f{tag}", [f"{q['x']:.9g} {q['y']:.9g}" for q in steps]))
    figure.plot(f"$f{tag} using 1:2 with steps lw 4 lc rgb '#cccccc' notitle",
                *draw_points(figure, p, points, tag, shown))


def draw(model, footer):
    columns, every = min(2, len(model["panels"])), set(model["impls"]) <= model["shown"]
    lines = math.ceil(len(model["panels"]) / columns)
    width = (panel.WIDTH - 24 - GAP * columns) / columns
    figure = panel.Figure(panel.HEAD + panel.FOOT + lines * (SIDE + 100))
    for i, one in enumerate(model["panels"]):
        left = 66 + (i % columns) * (width + GAP)
        top = panel.HEAD + 44 + (i // columns) * (SIDE + 100)
        draw_panel(figure, (left, top, left + width, top + SIDE), one, i,
                   model["shown"] if every else one["shown"])
    return figure, figure.finish(TITLE, footer)
