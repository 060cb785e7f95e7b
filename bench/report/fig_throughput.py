# SPDX-License-Identifier: MIT
"""Throughput, and the price of a hand-off, against the length of the wait."""

from . import bars, cost, crossover, curves, data, fig_bars, names, panel, returns, show

ID, TITLE = "throughput", "Hand-offs by the length of the wait"
METRIC = "real_time"
PANEL = 270
UP, DOWN = "\N{UPWARDS ARROW} higher is better", "\N{DOWNWARDS ARROW} lower is better"


def rate(cell):
    """Hand-offs per second, from the time for one."""
    middle = data.median(cell, METRIC)
    if not middle:
        return None
    low, high = data.interval(cell, METRIC)
    return {"y": 1e9 / middle, "low": 1e9 / high, "high": 1e9 / max(low, 1e-9),
            "runs": [1e9 / v for v in data.values(cell, METRIC) if v]}


def collect(result):
    cells, left_out = data.ask(result, "handoff", "impl", "wait")
    cells = data.require(cells, [METRIC], "handoff")
    rates = curves.series_of(cells, "wait", rate)
    costs = curves.series_of(cells, "wait", cost.point)
    rows = []
    for cell in cells:
        rows.append(data.raw_row(cell, METRIC, show.count(rate(cell)["y"], 4) + "/s"))
        rows += cost.rows(cell)
    if len({p["x"] for s in rates for p in s["points"]}) < 2:
        return one_length(cells, rows, left_out)
    met = crossover.find(rates), crossover.find(costs)
    found = "the cost (latency and CPU time)"
    alt = (f"{len(rates)} implementations. {crossover.sentence(met[0], 'throughput')} "
           + (crossover.sentence(met[1], found) if costs else
              "There are no counters to draw the cost from."))
    colours = curves.in_colour(rates, up=True)
    return {"rates": rates, "costs": costs, "met": met, "alt": alt, "rows": rows,
            "left_out": left_out, **colours, "how": how(costs, met, colours["shown"]),
            "pivot": curves.pivot(rates, "wait", show.time_ns, lambda y: show.count(y) + "/s")}


def one_length(cells, rows, left_out):
    """Lines of one point each are none: bars of the time."""
    groups = [{"title": returns.title(names.duration_ns(cells[0]["dims"]["wait"])),
               "bars": sorted(map(fig_bars.bar_of, cells), key=lambda b: b["y"])}]
    return {"groups": groups, "rows": rows, "left_out": left_out, "alt": fig_bars.describe(groups),
            "how": bars.how(groups, "One length only was measured. Fastest first. ")}


def how(costs, met, shown):
    text = "Hand-offs per second: 1e9 / real_time. "
    if costs:
        text += "Cost, the lower picture: " + cost.TEXT + " "
    if any(crossover.apart(m, shown) for m in met):
        text += ("Bars with a circle: somewhere on the bar one line overtakes the other. At its "
                 "ends, which were measured, their intervals do not overlap; the circle is "
                 "interpolated. ")
    return text + curves.HOW.rstrip()


def draw_panel(figure, top, series, titles, tag, y_text, met, shown):
    moved, zero = curves.zero_aside(series)
    xs = [p["x"] for s in moved for p in s["points"]]
    p = panel.Panel((66, top, panel.WIDTH - curves.LABEL_ROOM, top + PANEL),
                    panel.log_range(xs, 1.25), panel.log_range(curves.all_values(moved)),
                    logx=True, logy=True)
    figure.axes(p, curves.size_tics(moved, zero), (panel.log_tics(p.ylo, p.yhi), y_text))
    figure.titles(p, "length of the wait", titles[1], titles[0])
    marks = crossover.mark(figure, p, crossover.apart(met, shown), tag,
                           [s for s in moved if s["impl"] in shown])
    curves.draw(figure, p, moved, tag, shown, marks)


def draw(model, footer):
    if "groups" in model:
        return fig_bars.drawer(TITLE)(model, footer)
    both = bool(model["costs"])
    figure = panel.Figure(curves.height((PANEL + 100) * (1 + both)))
    top = panel.HEAD + 44
    draw_panel(figure, top, model["rates"], ("Throughput", f"hand-offs per second   {UP}"), 1,
               show.count, model["met"][0], model["shown"])
    if both:
        draw_panel(figure, top + PANEL + 100, model["costs"],
                   ("Cost", f"mean added latency + the waiter's CPU time   {DOWN}"), 2,
                   show.time_ns, model["met"][1], model["shown"])
    return figure, figure.finish(TITLE, footer)
