# SPDX-License-Identifier: MIT
"""Every run against its place in the order: does the machine drift, or do runs differ by luck?"""

import statistics

from . import data, gnuplot, panel, show, style
from .errors import Missing

ID, TITLE = "order", "Every run in its order"
METRIC = "real_time"
PANEL = 260
RUNS_MOST = 4000  # that are drawn: more would be a grey bar, and megabytes


def collect(result):
    part = data.own(result)
    cells = {n: c for n, c in data.cells(part).items() if data.median(c, METRIC)}
    step = 1 + len(data.rows(part, "runs")) // RUNS_MOST
    drawn = dict(list(cells.items())[::step])
    found = points(part, drawn)
    if not found:
        raise Missing("There are no runs to show in their order.")
    rows = [data.raw_row(c, METRIC, "each run / the median") for c in drawn.values()]
    rounds = round_medians(found)
    drift = [f"round {r + 1}: {show.digits(m, 4)}" for _, _, r, m in rounds]
    return {"points": found, "rounds": rounds, "rows": rows, "left_out": [],
            "alt": f"{len(found)} runs; each as a multiple of its benchmark's median. Medians of "
                   "the rounds: " + show.sentence_list(drift, 20) + ".",
            "how": "1 is the median of the same benchmark. A slope means that the machine changed "
                   "while it was measured; two bands, that a run's luck decides. Line: the "
                   "median of a round."
                   + (" Crosses: disturbed runs." if any(p[2] for p in found) else "")
                   + (f" Drawn is one of {step} benchmarks." if step > 1 else "")}


def points(part, cells):
    """[(place, quotient, noisy, round)] in the order in which the runs began."""
    found = []
    runs = sorted(data.last_attempts(part), key=lambda r: data.number(r.get("start_s")) or 0.0)
    for run in runs:
        cell = cells.get(str(run.get("name")))
        middle = data.median(cell, METRIC) if cell else None
        values = data.values(cell, METRIC) if cell else []
        number = run.get("round")
        if middle and isinstance(number, int) and 0 <= number < len(values) and values[number]:
            found.append((len(found) + 1, values[number] / middle, bool(run.get("noisy")), number))
    return found


def round_medians(found):
    """[(first place, last place, round, median quotient)]"""
    by_round = {}
    for place, quotient, _, number in found:
        by_round.setdefault(number, []).append((place, quotient))
    return [(min(v)[0], max(v)[0], r, statistics.median(q for _, q in v))
            for r, v in sorted(by_round.items())]


def draw(model, footer):
    figure = panel.Figure(panel.HEAD + panel.FOOT + PANEL + 84)
    n = len(model["points"])
    p = panel.Panel((66, panel.HEAD + 36, panel.WIDTH - 30, panel.HEAD + 36 + PANEL),
                    (0, n + 1), panel.log_range([q for _, q, _, _ in model["points"]], 1.1, 1.3),
                    logy=True)
    figure.axes(p, (panel.linear_tics(0, n, 8), show.digits),
                (panel.log_tics(p.ylo, p.yhi), show.digits))
    figure.titles(p, "number of the run", "time / median of the same benchmark   "
                  "\N{DOWNWARDS ARROW} lower is better")
    good = [f"{x} {y:.9g}" for x, y, noisy, _ in model["points"] if not noisy]
    bad = [f"{x} {y:.9g}" for x, y, noisy, _ in model["points"] if noisy]
    figure.add(*gnuplot.block("good", good or ["NaN NaN"]),
               *gnuplot.block("bad", bad or ["NaN NaN"]))
    for first, last, number, middle in model["rounds"]:
        figure.line(p.px(first - 0.5), p.top, p.px(first - 0.5), p.bottom, "#999999", 0.6, 3)
        figure.line(p.px(first - 0.5), p.py(middle), p.px(last + 0.5), p.py(middle), "#d55e00", 2)
        if len(model["rounds"]) <= 12:
            figure.text(p.px(first) + 6, p.top + 8, f"round {number + 1}", 10, style.FAINT)
    figure.plot(f"$good using 1:2 with points pt 7 ps 0.3 lc rgb '#60{style.BLUE[1:]}' notitle",
                f"$bad using 1:2 with points pt 2 ps 0.7 lw 1.5 lc rgb '{style.RED}' notitle")
    return figure, figure.finish(TITLE, footer)
