# SPDX-License-Identifier: MIT
"""Lines of implementations: medians, intervals, every run as a dot, names at the lines' ends.

Those that are not shown in colour are grey lines of their medians, without a name.

A series is {"impl", "points": [{"x", "y", "low", "high", "runs": [...]}, ...]}, a point per x.
"""

from . import choice, gnuplot, names, panel, place, show, style, versus

LABEL_ROOM = 170  # px to the right of a panel
LINE_GAP = 15
HOW = "Dots: every run. Upright lines: the intervals. "


def all_values(series):
    """What a panel's range is made for: intervals of few runs can be wider than any scale."""
    return [v for s in series for p in s["points"] for v in (p["y"], *p["runs"]) if v is not None]


def blocks(figure, p, series, tag):
    """For each series a block of medians with intervals, cut at the panel, and one of runs."""
    def cut(y):
        return min(max(y, p.ylo), p.yhi)

    for i, s in enumerate(series):
        figure.add(*gnuplot.block(f"m{tag}_{i}", [
            f"{q['x']:.9g} {q['y']:.9g} {cut(q['low']):.9g} {cut(q['high']):.9g}"
            for q in s["points"]]))
        figure.add(*gnuplot.block(f"r{tag}_{i}", [
            f"{q['x']:.9g} {r:.9g}" for q in s["points"] for r in q["runs"] if r is not None]
            or ["NaN NaN"]))


def plots(series, tag, shown):
    """The runs lie below the lines, the grey lines below both, and ipcwait's line above all."""
    dots, lines, grey = [], [], []
    for i, s in reversed(list(enumerate(series))):
        look = style.of(s["impl"])
        if s["impl"] not in shown:
            grey.append(f"$m{tag}_{i} using 1:2 with lines lw {style.REST['width']} "
                        f"lc rgb '{style.REST['colour']}' notitle")
            continue
        dots.append(f"$r{tag}_{i} using 1:2 with points pt 7 ps 0.25 "
                    f"lc rgb '#90{look['colour'][1:]}' notitle")
        lines.append(f"$m{tag}_{i} using 1:3:(0):($4-$3) with vectors nohead lw 1 dt 1 "
                     f"lc rgb '#60{look['colour'][1:]}' notitle")
        lines.append(f"$m{tag}_{i} using 1:2 with linespoints dt {look['dash']} "
                     f"pt {look['mark']} ps 0.55 lw {look['width']} "
                     f"lc rgb '{look['colour']}' notitle")
    return grey + dots + lines


def label_ends(figure, p, series):
    """A name for each line at the right of the panel, with a sample of the line.

    Where all lines end in one place, pointers to it would tell nothing: then it is a legend.
    """
    if not series:
        return
    ends = [p.py(s["points"][-1]["y"]) for s in series]
    legend = len(ends) > 1 and max(ends) - min(ends) < LINE_GAP * (len(ends) - 1) / 2
    spots = ([p.top + 8 + LINE_GAP * i for i in range(len(ends))] if legend else
             place.spread(ends, LINE_GAP, p.top + 4, p.bottom - 2))
    for s, end, spot in zip(series, ends, spots):
        look = style.of(s["impl"])
        if not legend:
            figure.line(p.px(s["points"][-1]["x"]) + 5, end, p.right + 22, spot, look["colour"],
                        0.5)
        figure.line(p.right + 24, spot, p.right + 46, spot, look["colour"], look["width"],
                    look["dash"])
        figure.text(p.right + 52, spot, show.short(s["impl"], 17), 12,
                    bold=s["impl"] == versus.OURS)


def draw(figure, p, series, tag, shown, more=()):
    """@shown: the implementations that are in colour."""
    label_ends(figure, p, [s for s in series if s["impl"] in shown])
    blocks(figure, p, series, tag)
    figure.plot(*plots(series, tag, shown), *more)


def in_colour(series, up=False):
    """What a model says of its lines: all of them, those in colour, and the legend."""
    impls = [s["impl"] for s in series]
    shown = choice.of_series(series, up) or set(impls)
    return {"impls": impls, "shown": shown, "legend": choice.legend(impls, shown)}


def series_of(cells, key, point, scale=names.duration_ns):
    """Cells as series: one per implementation, x from the dimension @key, y from @point."""
    found = {}
    for cell in cells:
        x, made = scale(cell["dims"].get(key, "")), point(cell)
        if x is not None and made is not None:
            found.setdefault(cell["dims"].get("impl", "?"), []).append({"x": x, **made})
    return [{"impl": impl, "points": sorted(found[impl], key=lambda p: p["x"])}
            for impl in style.order(found)]


def zero_aside(series):
    """x = 0 has no place on a logarithmic axis: it goes left of the rest. (series, its x)"""
    sizes = sorted({p["x"] for s in series for p in s["points"] if p["x"] > 0})
    aside = sizes[0] / 4 if sizes else 1.0
    moved = [{**s, "points": [{**p, "x": p["x"] or aside} for p in s["points"]]} for s in series]
    has_zero = any(p["x"] == 0 for s in series for p in s["points"])
    return moved, aside if has_zero else None


def size_tics(series, zero):
    """Tics at the lengths that were measured, and the text for one."""
    sizes = sorted({p["x"] for s in series for p in s["points"]})

    def text(x):
        return "0" if x == zero else show.time_ns(x)

    return [(x, True) for x in sizes], text


def pivot(series, x_title, x_text, y_text):
    """A small table of the drawn medians: a line per x, a column per implementation."""
    sizes = sorted({p["x"] for s in series for p in s["points"]})
    found = [{p["x"]: p["y"] for p in s["points"]} for s in series]
    return {"head": [x_title] + [s["impl"] for s in series],
            "lines": [[x_text(x)] + [y_text(f[x]) if x in f else "-" for f in found]
                      for x in sizes]}


def height(rows):
    return panel.HEAD + panel.FOOT + rows
