# SPDX-License-Identifier: MIT
"""CPU time against latency: who pays for what, the frontier, and lines of equal ROI."""

import math

from . import cost, data, gnuplot, names, panel, place, show, style
from .errors import Missing

ID, TITLE = "pareto", "CPU time against latency"
WAITS_NS = (5e3, 50e3, 1e6)  # of the suite handoff: short, about B, long
SIDE, GAP = 380, 78
OWN = "own"  # the budget of an implementation that decides for itself
REFERENCES = ("glibc", "block")


def point_of(cell):
    x, y = data.median(cell, cost.CPU), data.median(cell, cost.LATENCY)
    if x is None or y is None or x <= 0 or y <= 0:
        return None
    more = [v for k, v in cell["dims"].items() if k not in ("impl", "wait") and v != OWN]
    label = " ".join([data.impl(cell), *more])
    runs = data.values(cell, cost.CPU), data.values(cell, cost.LATENCY)
    pairs = zip(*runs) if len(runs[0]) == len(runs[1]) else ()
    return {"impl": data.impl(cell), "label": label, "x": x, "y": y,
            "xs": data.interval(cell, cost.CPU), "ys": data.interval(cell, cost.LATENCY),
            "runs": [(a, b) for a, b in pairs if a and b], "cell": cell}


def panels_of(pareto, handoff):
    """[(title, points)]: the mixed load, and the hand-offs nearest to some lengths of waits."""
    groups = [("Mixed load (suite pareto)", pareto)] if pareto else []
    waits = {}
    for cell in handoff:
        waits.setdefault(names.duration_ns(cell["dims"].get("wait", "")), []).append(cell)
    sizes = [w for w in waits if w]
    near = {min(sizes, key=lambda w: abs(math.log(w / want))) for want in WAITS_NS} if sizes else ()
    groups += [(f"Hand-off after {show.time_ns(w)}", waits[w]) for w in sorted(near)]
    found = [(title, [p for p in map(point_of, cells) if p]) for title, cells in groups]
    return [(title, points) for title, points in found if points]


def frontier(points):
    """Those that no other one beats in both, from little CPU time to much."""
    best, found = math.inf, []
    for p in sorted(points, key=lambda p: (p["x"], p["y"])):
        if p["y"] < best:
            best = p["y"]
            found.append(p)
    return found


def collect(result):
    cells, left_out = {}, []
    for question in ("pareto", "handoff"):
        try:
            cells[question], out = data.ask(result, question, "impl")
            left_out += out
        except Missing:
            cells[question] = []
    if not cells["pareto"] and not cells["handoff"]:
        raise Missing("The suites pareto and handoff were not run.")
    found = panels_of(cells["pareto"], cells["handoff"])
    if not found:
        raise Missing(f"No benchmark of pareto or handoff has {cost.CPU} and {cost.LATENCY}.")
    rows, texts = [], []
    for title, points in found:
        ahead = frontier(points)
        texts.append(f"{title}: on the frontier " + show.sentence_list(p["label"] for p in ahead))
        for p in points:
            mark = "on the frontier" if p in ahead else "a point"
            rows += [data.raw_row(p["cell"], cost.CPU, mark),
                     data.raw_row(p["cell"], cost.LATENCY, mark)]
    return {"panels": found, "rows": rows, "left_out": left_out, "alt": ". ".join(texts) + ".",
            "how": "Lower left is better. Grey steps: the frontier, which nobody beats in both. "
                   "Dashed: equal ROI T\u00b2/C, which per item is 1 / (period x CPU time), with "
                   "the added latency as the period; the number is the multiple of the ROI of "
                   "glibc, or of block where there is no glibc."}


def ranges(points):
    xs = [v for p in points for v in (p["x"], *(r[0] for r in p["runs"]))]
    ys = [v for p in points for v in (p["y"], *(r[1] for r in p["runs"]))]
    return panel.log_range(xs, 1.5), panel.log_range(ys, 1.5)


def draw_roi(figure, p, points):
    """Lines from edge to edge on which latency x CPU time is constant; labels at the upper end."""
    known = {q["impl"]: q["x"] * q["y"] for q in points}
    base = next((known[r] for r in REFERENCES if r in known), None)
    if base is None:
        return
    low, high = math.log10(base / (p.xhi * p.yhi)), math.log10(base / (p.xlo * p.ylo))
    step = max(1, math.ceil((high - low) / 6))
    for exponent in range(math.ceil(low), math.floor(high) + 1):
        if exponent % step:
            continue
        product = base / 10.0 ** exponent
        x1, x2 = max(p.xlo, product / p.yhi), min(p.xhi, product / p.ylo)
        figure.line(p.px(x1), p.py(product / x1), p.px(x2), p.py(product / x2), "#bbbbbb", 0.8, 2)
        if p.px(x1) < p.right - 60:
            figure.text(p.px(x1) + 3, max(p.py(product / x1) + 8, p.top + 6),
                        f"ROI x{show.digits(10.0 ** exponent)}", 9, "#777777", boxed=True)


def cut(ends, low, high):
    return [min(max(end, low), high) for end in ends]


def draw_points(figure, p, points, tag):
    parts = []
    for i, q in enumerate(points):
        look, name = style.of(q["impl"]), f"p{tag}_{i}"
        ends = cut(q["xs"], p.xlo, p.xhi) + cut(q["ys"], p.ylo, p.yhi)
        figure.add(*gnuplot.block(name, [" ".join(f"{v:.9g}" for v in (q["x"], q["y"], *ends))]))
        figure.add(*gnuplot.block("r" + name, [f"{x:.9g} {y:.9g}" for x, y in q["runs"]]
                                  or ["NaN NaN"]))
        colour = look["colour"]
        parts += [f"$r{name} using 1:2 with points pt 7 ps 0.25 lc rgb '#90{colour[1:]}' notitle",
                  f"${name} using 3:2:($4-$3):(0) with vectors nohead lw 1 "
                  f"lc rgb '#60{colour[1:]}' notitle",
                  f"${name} using 1:5:(0):($6-$5) with vectors nohead lw 1 "
                  f"lc rgb '#60{colour[1:]}' notitle",
                  f"${name} using 1:2 with points pt {look['mark']} ps 1 lc rgb '{colour}' notitle"]
    return parts


def draw_panel(figure, box, title, points, tag):
    p = panel.Panel(box, *ranges(points), logx=True, logy=True)
    figure.axes(p, (panel.log_tics(p.xlo, p.xhi, 5), show.time_ns),
                (panel.log_tics(p.ylo, p.yhi, 6), show.time_ns), "")
    figure.titles(p, "\N{LEFTWARDS ARROW} lower is better   the waiter's CPU time per hand-off",
                  "added latency p50   \N{DOWNWARDS ARROW} lower is better", title)
    draw_roi(figure, p, points)
    boxes = place.beside([(p.px(q["x"]), p.py(q["y"]), show.short(q["label"], 22))
                          for q in points], 11, box)
    for q, (spot, far) in zip(points, boxes):
        figure.text(spot[0] + 2, (spot[1] + spot[3]) / 2, show.short(q["label"], 22), 11,
                    boxed=True)
        if far > 10:
            figure.line(p.px(q["x"]), p.py(q["y"]), min(max(p.px(q["x"]), spot[0]), spot[2]),
                        (spot[1] + spot[3]) / 2, style.of(q["impl"])["colour"], 0.5)
    steps = frontier(points)
    figure.add(*gnuplot.block(f"f{tag}", [f"{q['x']:.9g} {q['y']:.9g}" for q in steps]))
    figure.plot(f"$f{tag} using 1:2 with steps lw 4 lc rgb '#cccccc' notitle",
                *draw_points(figure, p, points, tag))


def draw(model, footer):
    columns = min(2, len(model["panels"]))
    lines = math.ceil(len(model["panels"]) / columns)
    width = (panel.WIDTH - 24 - GAP * columns) / columns
    figure = panel.Figure(panel.HEAD + panel.FOOT + lines * (SIDE + 100))
    for i, (title, points) in enumerate(model["panels"]):
        left = 66 + (i % columns) * (width + GAP)
        top = panel.HEAD + 44 + (i // columns) * (SIDE + 100)
        draw_panel(figure, (left, top, left + width, top + SIDE), title, points, i)
    return figure, figure.finish(TITLE, footer)
