# SPDX-License-Identifier: MIT
"""Stacked bars of shares: 0 to 1 from left to right, one line per bar."""

from . import gnuplot, panel, show

BAR = 20


def blocks(figure, bars, tag):
    """Boxes of all bars: x from, x to, line, colour."""
    lines = []
    for i, (_, parts) in enumerate(bars):
        at = 0.0
        for share, colour in parts:
            lines.append(f"{at + share / 2:.9g} {-i} {at:.9g} {at + share:.9g} {-i - 0.38} "
                         f"{-i + 0.38} {int(colour[1:], 16)}")
            at += share
    figure.add(*gnuplot.block(f"s{tag}", lines))
    return (f"$s{tag} using 1:2:3:4:5:6:7 with boxxyerror fs solid 1 border rgb '#ffffff' "
            "fc rgb variable notitle")


def draw(figure, box, bars, title, x_title, tag, bar=BAR):
    """@bars: [(name, [(share, colour), ...])] in @box (left, top, right)."""
    left, top, right = box
    p = panel.Panel((left, top, right, top + bar * len(bars)), (0, 1), (-len(bars) + 0.5, 0.5))
    figure.axes(p, (panel.linear_tics(0, 1, 4), show.share), ([], str), "x")
    for i, (name, _) in enumerate(bars):
        figure.text(left - 6, p.py(-i), show.short(name, 16), min(11, bar - 2), where="right")
    figure.text((left + right) / 2, p.bottom + 34, x_title, 11, where="center")
    figure.text(left - 40, top - 12, show.short(title, 30), 13, bold=True)
    figure.plot(blocks(figure, bars, tag))


def legend(entries):
    """Of [(name, colour)], for the page."""
    return [{"name": name, "colour": colour, "block": True} for name, colour in entries]
