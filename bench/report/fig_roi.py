# SPDX-License-Identifier: MIT
"""The return on CPU time, T^2/C, for each load: bars from the reference's 1."""

from . import choice, data, gnuplot, panel, returns, show, style, versus
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
            groups.append({"title": returns.title(wait), "base": data.impl(base),
                           "bars": sorted(shown, key=lambda b: -b["y"]),
                           "shown": choice.main({b["label"]: {0: b["y"]} for b in shown}, True)})
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
    return {"groups": groups, "rows": rows, "left_out": left_out, "alt": describe(groups),
            "impls": list(dict.fromkeys(b["label"] for g in groups for b in g["bars"])),
            "shown": set().union(*(g["shown"] for g in groups)), "how": how(groups),
            "table": small_table(groups),
            "pivot": {"head": ["load", "implementation", "T\u00b2/C", "lowest kept",
                               "highest kept", "with the waiter's CPU time"], "lines": lines},
            "legend": [{"name": "bars: all CPU time of the program", "block": True,
                        "colour": style.GREY}]
            + ([{"name": "the waiter's CPU time alone", "mark": "\N{WHITE DIAMOND}"}]
               if has_diamonds(groups) else [])}


def small_table(groups):
    """A line per load: ours, and the two best of the others with their names."""
    lines = []
    for g in groups:
        values = {b["label"]: b["y"] for b in g["bars"]}
        others = [b for b in values if b in g["shown"] and b not in (versus.OURS, versus.THEIRS)]
        best = [f"{label} {text(values[label])}" for label in others] + ["-"] * choice.BEST
        lines.append([g["title"], text(values.get(versus.OURS)), *best[:choice.BEST],
                      f"{g['base']} x1"])
    return {"head": ["load", versus.OURS, "the best other", "the next", "relative to"],
            "lines": lines}


def has_diamonds(groups):
    return any(b["alone"] for g in groups for b in g["bars"])


def describe(groups):
    """Ours over all loads; the numbers are in the table."""
    own = [(b["y"], g["title"], g["base"]) for g in groups for b in g["bars"]
           if b["label"] == versus.OURS]
    if not own:
        return "The table has T\u00b2/C of each load."
    (low, at, base), (high, there, _) = min(own), max(own)
    if len(own) == 1:
        return f"{versus.OURS}: {text(low)} of {base}'s. {at}."
    return (f"{versus.OURS}: from {text(low)} of {base}'s ({at}) to {text(high)} ({there}). The "
            "table has each load.")


def how(groups):
    parts = ["Per item T\u00b2/C is 1 / (real_time x cpu_time): bars, with the CPU time of the "
             "whole program, as row M-2 of the scoreboard has it."]
    if has_diamonds(groups):
        parts.append("Diamonds: the same with waiter_cpu_ns, leaving out the waker, who works all "
                     "the time whoever waits.")
    parts.append("Relative to " + " or ".join(sorted({g["base"] for g in groups}))
                 + ", divided in each round; a bar is the median of the kept rounds, the line "
                 "their range, circles every round. Each load has its own axis.")
    return " ".join(parts)


def blocks(figure, p, bars, tag):
    boxes, spans, dots, alone = [], [], [], []
    for i, b in enumerate(bars):
        low, high = sorted((1.0, b["y"]))
        colour = style.bar(b["impl"])
        boxes.append(f"{b['y']:.9g} {-i} {low:.9g} {high:.9g} {-i - 0.34} {-i + 0.34} {colour}")
        spans.append(f"{b['low']:.9g} {-i} {b['high']:.9g}")
        dots += [f"{v:.9g} {-i}" for v in b["runs"] if v]
        alone += [f"{b['alone']:.9g} {-i}"] if b["alone"] else []
    for name, lines in (("b", boxes), ("s", spans), ("d", dots), ("a", alone)):
        figure.add(*gnuplot.block(f"{name}{tag}", lines or ["NaN NaN NaN NaN NaN NaN NaN"]))
    return [f"$b{tag} using 1:2:3:4:5:6:7 with boxxyerror fs solid 0.6 noborder "
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
        figure.text(left - 8, p.py(-i), show.short(b["label"], 18), 11, where="right",
                    bold=b["label"] == versus.OURS)
        figure.text(right + 8, p.py(-i), text(b["y"], 2), 11)
    figure.plot(*blocks(figure, p, bars, tag))


def draw(model, footer):
    """Each load goes below the shorter one of the columns."""
    ends, spots = [panel.HEAD + 34] * COLUMNS, []
    every = set(model["impls"]) <= model["shown"]
    groups = [{**g, "bars": [b for b in g["bars"] if every or b["label"] in g["shown"]]}
              for g in model["groups"]]
    groups = [g for g in groups if g["bars"]]
    for group in groups:
        column = ends.index(min(ends))
        spots.append((column, ends[column]))
        ends[column] += len(group["bars"]) * LINE + 92
    figure = panel.Figure(max(ends) - 34 + panel.FOOT)
    pitch = (panel.WIDTH - 12) / COLUMNS
    for i, (group, (column, top)) in enumerate(zip(groups, spots)):
        left = LEFT + column * pitch
        draw_group(figure, left, top, left + pitch - LEFT - RIGHT, group, i)
    return figure, figure.finish(TITLE, footer)
