# SPDX-License-Identifier: MIT
"""Horizontal bars in groups: median, interval as a whisker, every run as a dot, small print.

A bar is {"label", "impl", "y", "low", "high", "runs", "small", "value"}; a "y" of None draws no
bar, only its texts. The axis starts at 0, so that lengths can be compared.
"""

from . import gnuplot, panel, show, style, versus

LEFT, RIGHT = 190, 120
TITLE = 110     # letters of a group's title that fit
LETTER = 7.2  # px of a letter of a name, about
BAR, SMALL = 24, 15  # px for a bar, and more for its small print


def line_height(group):
    return BAR + (SMALL if any(b["small"] for b in group["bars"]) else 0)


def group_height(group):
    return line_height(group) * len(group["bars"]) + (98 if timed(group) else 44)


def timed(group):
    return any(b["y"] is not None for b in group["bars"])


def blocks(figure, p, group, tag):
    """What gnuplot draws: boxes, whiskers, cut where the panel ends, and dots."""
    boxes, whiskers, dots = [], [], []
    up = 0.12 if any(b["small"] for b in group["bars"]) else 0
    for i, b in enumerate(group["bars"]):
        if b["y"] is None:
            continue
        colour, y = style.bar(b["impl"]), -i + up
        half = 0.22 if up else 0.32
        boxes.append(f"{b['y'] / 2:.9g} {y} 0 {b['y']:.9g} {y - half} {y + half} {colour}")
        whiskers.append(f"{b['y']:.9g} {y} {max(b['low'], 0):.9g} {min(b['high'], p.xhi):.9g}")
        dots += [f"{run:.9g} {y + 0.1 * (k % 3 - 1)}" for k, run in enumerate(b["runs"])
                 if run is not None]
    for name, lines in (("b", boxes), ("w", whiskers), ("d", dots)):
        figure.add(*gnuplot.block(f"{name}{tag}", lines or ["NaN NaN NaN NaN NaN NaN NaN"]))
    return [f"$b{tag} using 1:2:3:4:5:6:7 with boxxyerror fs solid 0.6 noborder "
            "fc rgb variable notitle",
            f"$w{tag} using 3:2:($4-$3):(0) with vectors nohead lw 1.6 lc rgb '{style.INK}' "
            "notitle",
            f"$d{tag} using 1:2 with points pt 6 ps 0.45 lw 1.2 lc rgb '{style.INK}' notitle"]


def texts(figure, p, group):
    """Names at the left, values at the right, small print beneath each bar."""
    has_small = any(b["small"] for b in group["bars"])
    for i, b in enumerate(group["bars"]):
        y = p.py(-i + (0.12 if has_small else 0))
        figure.text(p.left - 8, y, show.short(b["label"], int(p.left / LETTER)), 12,
                    where="right", bold=b["impl"] == versus.OURS)
        if b["y"] is not None:
            figure.text(p.right + 8, y, b["value"], 12)
        elif b["value"]:
            figure.text(p.left + 4, y, b["value"], 12, style.FAINT)
        if b["small"]:
            figure.text(p.left + 4, p.py(-i - 0.31), show.short(b["small"], 110), 10, style.FAINT)


def draw(figure, top, group, tag, text, x_title, most=None, left=LEFT):
    """One group, @top px from above: {"title", "bars"}; @text makes tics' texts."""
    n = len(group["bars"])
    ends = [v for b in group["bars"] if b["y"] is not None for v in (b["y"], *b["runs"])]
    box = (left, top + 36, figure.width - RIGHT, top + 36 + line_height(group) * n)
    p = panel.Panel(box, panel.linear_range([most] if most else ends), (-n + 0.5, 0.5))
    shown = timed(group)
    figure.axes(p, (panel.linear_tics(p.xlo, p.xhi) if shown else [], text), ([], str),
                "x" if shown else "")
    if not shown:
        figure.add("unset border")
    figure.text(24, top + 20, show.short(group["title"], TITLE), 13, bold=True)
    if shown:
        figure.text((p.left + p.right) / 2, p.bottom + 34, x_title, 11, where="center")
    texts(figure, p, group)
    figure.plot(*blocks(figure, p, group, tag))


def figure_of(groups, title, footer, text, x_title, most=None, left=LEFT):
    """@most: the end of all axes, where they are to be the same. @left: px for names."""
    figure = panel.Figure(panel.HEAD + panel.FOOT + sum(map(group_height, groups)))
    top = panel.HEAD
    for i, group in enumerate(groups):
        draw(figure, top, group, i, text, x_title, most, left)
        top += group_height(group)
    return figure, figure.finish(title, footer)


def how(groups, first="", whisker="the interval"):
    """What the marks of these bars are; nothing of marks that are not there."""
    there = [b for g in groups for b in g["bars"] if b["y"] is not None]
    text = first
    if any(len(b["runs"]) > 1 for b in there):
        text += "Circles: every run. "
    if any(b["low"] < b["high"] for b in there):
        text += f"Whisker: {whisker}. "
    return text + ("The axis starts at 0." if there else "")
