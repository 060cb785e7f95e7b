# SPDX-License-Identifier: MIT
"""The return on CPU time, T^2/C, for each load: bars from the reference's 1."""

from . import data, gnuplot, panel, returns, show, style
from .errors import Missing

ID, TITLE = "roi", "Return on CPU time: T\u00b2/C"
COLUMNS, LINE, LEFT, RIGHT = 2, 18, 126, 56
X_TITLE = "T\u00b2/C, {} = 1   \N{RIGHTWARDS ARROW} higher is better"


def bar_of(cell, base):
    """A bar, with the same for the waiter's CPU time alone; None if T^2/C is not known."""
    made = returns.relative(cell, base, returns.ALL)
    if not made or made["y"] <= 0:
        return None
    alone = returns.relative(cell, base, returns.WAITER)
    return {**made, "label": returns.label(cell), "impl": data.impl(cell), "cell": cell,
            "alone": alone["y"] if alone and alone["y"] > 0 else None}


def groups_of(result):
    """([{"title", "base", "bars"}], what was left out)"""
    loads, left_out = returns.loads(result)
    groups = []
    for wait, of_it in loads:
        base = returns.reference(of_it)
        shown = [b for b in (bar_of(c, base) for c in of_it) if b]
        if shown:
            title = returns.MIXED if wait is None else f"Hand-off after {show.time_ns(wait)}"
            groups.append({"title": title, "base": data.impl(base),
                           "bars": sorted(shown, key=lambda b: -b["y"])})
    return groups, left_out


def text(value, n=3):
    return "-" if value is None else "x" + show.digits(value, n)


def collect(result):
    groups, left_out = groups_of(result)
    if not groups:
        raise Missing("There is no T\u00b2/C to draw: no load has times of "
                      + " or ".join(returns.REFERENCES) + ".")
    rows, lines = [], []
    for group in groups:
        for b in group["bars"]:
            lines.append([group["title"], b["label"], text(b["y"]), text(b["low"]),
                          text(b["high"]), text(b["alone"])])
            rows += [data.raw_row(b["cell"], metric, f"T\u00b2/C {drawn}") for metric, drawn in
                     ((returns.TIME, text(b["y"])), (returns.ALL, text(b["y"])),
                      (returns.WAITER, text(b["alone"]))) if metric in b["cell"]["metrics"]]
    texts = [f"{g['title']}: " + show.sentence_list(
        (f"{b['label']} {text(b['y'], 2)}" for b in g["bars"]), 24) for g in groups]
    return {"groups": groups, "rows": rows, "left_out": left_out, "alt": "; ".join(texts) + ".",
            "how": "Per item T\u00b2/C is 1 / (real_time x cpu_time): bars, with the CPU time of "
                   "the whole program, as the seeds and row M-2 have it. Diamonds: the same with "
                   "waiter_cpu_ns, leaving out the waker, who works all the time whoever waits. "
                   "Both relative to " + " or ".join(sorted({g["base"] for g in groups}))
                   + ", divided in each round; a bar is the median of the kept rounds, the line "
                   "their range, circles every round. Each load has its own axis.",
            "pivot": {"head": ["load", "implementation", "T\u00b2/C", "lowest kept",
                               "highest kept", "with the waiter's CPU time"], "lines": lines}}


def blocks(figure, p, bars, tag):
    boxes, spans, dots, alone = [], [], [], []
    for i, b in enumerate(bars):
        low, high = sorted((1.0, b["y"]))
        colour = int(style.of(b["impl"])["colour"][1:], 16)
        boxes.append(f"{b['y']:.9g} {-i} {low:.9g} {high:.9g} {-i - 0.34} {-i + 0.34} {colour}")
        spans.append(f"{b['low']:.9g} {-i} {b['high']:.9g}")
        dots += [f"{v:.9g} {-i}" for v in b["runs"] if v]
        alone += [f"{b['alone']:.9g} {-i}"] if b["alone"] else []
    for name, lines in (("b", boxes), ("s", spans), ("d", dots), ("a", alone)):
        figure.add(*gnuplot.block(f"{name}{tag}", lines or ["NaN NaN NaN NaN NaN NaN NaN"]))
    return [f"$b{tag} using 1:2:3:4:5:6:7 with boxxyerror fs solid 0.35 noborder "
            "fc rgb variable notitle",
            f"$s{tag} using 1:2:($3-$1):(0) with vectors nohead lw 1.6 lc rgb '{style.INK}' "
            "notitle",
            f"$d{tag} using 1:2 with points pt 6 ps 0.35 lw 1 lc rgb '{style.INK}' notitle",
            f"$a{tag} using 1:2 with points pt 12 ps 0.8 lw 1.4 lc rgb '{style.INK}' notitle"]


def draw_group(figure, left, top, right, group, tag):
    bars = group["bars"]
    xs = panel.log_range([v for b in bars for v in (1.0, b["y"], b["alone"], *b["runs"])], 1.3)
    p = panel.Panel((left, top, right, top + LINE * len(bars)), xs, (-len(bars) + 0.5, 0.5), True)
    figure.axes(p, (panel.log_tics(*xs, 5), text), ([], str), "x")
    figure.text(left - LEFT + 16, top - 12, group["title"], 13, bold=True)
    figure.text((left + right) / 2, p.bottom + 34, X_TITLE.format(group["base"]), 11,
                where="center")
    figure.line(p.px(1), p.top, p.px(1), p.bottom, style.INK, 1)
    for i, b in enumerate(bars):
        figure.text(left - 8, p.py(-i), show.short(b["label"], 18), 11, where="right")
        figure.text(right + 8, p.py(-i), text(b["y"], 2), 11)
    figure.plot(*blocks(figure, p, bars, tag))


def draw_legend(figure, y):
    figure.line(26, y, 42, y, style.GREY, 10)
    figure.text(48, y, "all CPU time of the program", 12)
    figure.text(262, y, "\N{WHITE DIAMOND}", 14)
    figure.text(280, y, "the waiter's CPU time alone", 12)


def draw(model, footer):
    """Each load goes below the shorter one of the columns."""
    ends, spots = [panel.HEAD + 64] * COLUMNS, []
    for group in model["groups"]:
        column = ends.index(min(ends))
        spots.append((column, ends[column]))
        ends[column] += len(group["bars"]) * LINE + 92
    figure = panel.Figure(max(ends) - 34 + panel.FOOT)
    draw_legend(figure, panel.HEAD + 10)
    pitch = (panel.WIDTH - 12) / COLUMNS
    for i, (group, (column, top)) in enumerate(zip(model["groups"], spots)):
        left = LEFT + column * pitch
        draw_group(figure, left, top, left + pitch - LEFT - RIGHT, group, i)
    return figure, figure.finish(TITLE, footer)
