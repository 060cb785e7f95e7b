# SPDX-License-Identifier: MIT
"""Maps: coloured cells with their value in them."""

import math

from . import gnuplot, panel, show, style


def log_scale(values):
    """Value to a share of the scale: the same ratio, the same step.

    The scale spans a factor of 2 at least, lest noise look like a pattern.
    """
    values = [v for v in values if v > 0]
    low, high = min(values), max(values)
    span = max(math.log(high / low), math.log(2))
    start = (span - math.log(high / low)) / 2
    return lambda v: (start + math.log(max(v, low) / low)) / span


def cells(found, scale):
    """(boxes, labels) as lines of data; rows count from the top."""
    boxes, labels = [], []
    for (x, y), (value, text) in found.items():
        colour = style.map_colour(scale(value))
        boxes.append(f"{x} {-y} {x - 0.48} {x + 0.48} {-y - 0.47} {-y + 0.47} {colour}")
        labels.append(f"{x} {-y} {text.replace(' ', '')} {style.ink_on(colour)}")
    return boxes, labels


def draw(figure, corner, size, grid, found, scale, font=11):
    """A map with its upper left @corner, cells of @size, {(column, line): (value, text)}.

    @grid has the names of columns and lines, and titles. Texts of cells are numbers.
    """
    left, top = corner
    n, m = len(grid["columns"]), len(grid["lines"])
    p = panel.Panel((left, top, left + n * size[0], top + m * size[1]),
                    (-0.5, n - 0.5), (-m + 0.5, 0.5))
    figure.axes(p, ([], str), ([], str), "")
    figure.add("unset border")
    for i, name in enumerate(grid["columns"]):
        figure.text(p.px(i), p.bottom + 10, show.short(name, max(3, size[0] // 6)), font,
                    where="center")
    for i, name in enumerate(grid["lines"]):
        figure.text(left - 8, p.py(-i), show.short(name, 9), font, where="right")
    figure.text(left - 46, top - 12, grid["line_title"], 11)
    figure.text(left - 46, top - 30, show.short(grid["title"], 44), 13, bold=True)
    figure.text((p.left + p.right) / 2, p.bottom + 28, grid["column_title"], 11, where="center")
    name = f"h{len(figure.lines)}"
    boxes, labels = cells(found, scale)
    figure.add(*gnuplot.block(name, boxes), *gnuplot.block("t" + name, labels))
    figure.plot(f"${name} using 1:2:3:4:5:6:7 with boxxyerror fs solid 1 noborder "
                "fc rgb variable notitle",
                f"$t{name} using 1:2:(stringcolumn(3)):4 with labels "
                f"font '{gnuplot.FONT},{font}' tc rgb variable noenhanced notitle")
    return p
