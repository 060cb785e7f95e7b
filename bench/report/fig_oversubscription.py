# SPDX-License-Identifier: MIT
"""More threads than CPUs: who falls over."""

from . import choice, curves, data, names, panel, rounds, show, style
from .errors import Missing

ID, TITLE = "oversubscription", "More threads than CPUs"
METRIC = "real_time"
PER_CPU = "threads_per_cpu"
KINDS = {"sem": "Semaphores", "lock": "Locks", "": ""}
PANEL = 230


def cpus_of(result):
    context = result.get("context")
    found = data.number(context.get("num_cpus")) if isinstance(context, dict) else None
    return found or None


def with_ratio(cells, cpus):
    """The cells with threads per CPU as a dimension, whichever way the name says it."""
    found = []
    for cell in cells:
        ratio = names.number(cell["dims"].get(PER_CPU, ""))
        threads = names.number(cell["dims"].get("threads", ""))
        if ratio is None and threads and cpus:
            ratio = threads / cpus
        if ratio:
            found.append({**cell, "dims": {**cell["dims"], PER_CPU: repr(ratio)}})
    return found


def ratio_of(cell):
    return float(cell["dims"][PER_CPU])


def bases(cells):
    """{impl: the cell with one thread per CPU, or with the next ratio that there is}"""
    found = {}
    for cell in cells:
        near = found.get(data.impl(cell))
        if near is None or abs(ratio_of(cell) - 1) < abs(ratio_of(near) - 1):
            found[data.impl(cell)] = cell
    return found


def rate(cell):
    """Operations per second, from the time for one."""
    time = data.median(cell, METRIC)
    if not time or time < 0:
        return None
    low, high = data.interval(cell, METRIC)
    return {"y": 1e9 / time, "low": 1e9 / high, "high": 1e9 / max(low, 1e-9),
            "runs": [1e9 / v for v in data.values(cell, METRIC) if v]}


def relative(cell, base):
    """Throughput as a multiple of the own one in the cell @base, of the same rounds, as text."""
    made = rounds.quotient(data.values(base, METRIC), data.values(cell, METRIC), cell["trim"])
    return "x" + show.digits(made["y"]) if made else "-"


def tail(cell):
    metric = data.tail(cell)
    if not metric:
        return None
    low, high = data.interval(cell, metric)
    return {"y": data.median(cell, metric), "low": low, "high": high,
            "runs": [v for v in data.values(cell, metric) if v is not None]}


def lines_of(cells, point):
    return curves.series_of(cells, PER_CPU, point, names.number)


def tables_of(kind, cells):
    """(rows of the data table, lines of the small one) of one kind; the quotient is in there."""
    rows, lines, base = [], [], bases(cells)
    order = style.order(data.impl(c) for c in cells)
    for cell in sorted(cells, key=lambda c: (order.index(data.impl(c)), ratio_of(c))):
        made, end = rate(cell), data.tail(cell)
        if not made:
            continue
        quotient = relative(cell, base[data.impl(cell)])
        rows.append(data.raw_row(cell, METRIC, f"{show.count(made['y'], 4)}/s, {quotient}"))
        if end:
            rows.append(data.raw_row(cell, end, show.time_ns(data.median(cell, end), 4)))
        lines.append([kind or "-", data.impl(cell), show.digits(ratio_of(cell)),
                      show.count(made["y"]) + "/s", quotient,
                      show.time_ns(data.median(cell, end)) if end else "-"])
    return rows, lines


def collect(result):
    cells, left_out = data.ask(result, "oversubscription", "impl")
    cells = with_ratio(cells, cpus_of(result))
    if not cells:
        raise Missing("The suite oversubscription says neither threads per CPU nor CPUs.")
    parts, rows, lines = [], [], []
    for kind in sorted({c["dims"].get("kind", "") for c in cells}, reverse=True):
        of_it = [c for c in cells if c["dims"].get("kind", "") == kind]
        parts.append((KINDS.get(kind, kind), lines_of(of_it, rate), lines_of(of_it, tail)))
        more = tables_of(KINDS.get(kind, kind), of_it)
        rows, lines = rows + more[0], lines + more[1]
    parts = [p for p in parts if p[1]]
    if not parts:
        raise Missing("The suite oversubscription has no times.")
    every = list(dict.fromkeys(s["impl"] for p in parts for s in p[1]))
    shown = set().union(*(curves.in_colour(p[1], up=True)["shown"] for p in parts))
    return {"parts": parts, "rows": rows, "left_out": left_out, "impls": every, "shown": shown,
            "legend": choice.legend(every, shown),
            "alt": ". ".join(describe(*p) for p in parts) + ".",
            "how": "Throughput is 1e9 / real_time. p99: of a semaphore's wake, or of the wait for "
                   "a lock. The table also has the throughput relative to the same "
                   "implementation's with one thread per CPU (or the next ratio that was "
                   "measured), divided in each round; that says what more threads cost it, not "
                   "who is faster. " + curves.HOW.rstrip(),
            "pivot": {"head": ["", "implementation", "threads per CPU", "throughput",
                               "relative to the own at 1", "p99"], "lines": lines}}


def describe(kind, rates, _):
    most = max(s["points"][-1]["x"] for s in rates)
    shown = choice.of_series(rates, up=True)
    texts = [f"{s['impl']} {show.count(s['points'][-1]['y'], 2)}/s" for s in rates
             if s["points"][-1]["x"] == most and (s["impl"] in shown or not shown)]
    if not texts:
        return f"{kind or 'Throughput'}: the table has it"
    head = f"{kind}: throughput" if kind else "Throughput"
    return f"{head} at {show.digits(most)} threads per CPU: " + show.sentence_list(texts, 16)


def draw_panel(figure, top, series, title, name, tag, y_text, shown):
    xs = sorted({p["x"] for s in series for p in s["points"]})
    p = panel.Panel((66, top, panel.WIDTH - curves.LABEL_ROOM, top + PANEL),
                    panel.log_range(xs, 1.15), panel.log_range(curves.all_values(series)),
                    True, True)
    figure.axes(p, ([(x, True) for x in xs], show.digits),
                (panel.log_tics(p.ylo, p.yhi), y_text))
    figure.titles(p, "threads per CPU", title, name)
    curves.draw(figure, p, series, tag, shown)


def draw(model, footer):
    panels = []
    for kind, rates, tails in model["parts"]:
        panels.append((rates, "operations per second   \N{UPWARDS ARROW} higher is better", kind,
                       show.count))
        if tails:
            panels.append((tails, "p99   \N{DOWNWARDS ARROW} lower is better",
                           kind, show.time_ns))
    pitch = PANEL + 100
    figure = panel.Figure(curves.height(pitch * len(panels)))
    for i, (series, title, name, text) in enumerate(panels):
        draw_panel(figure, panel.HEAD + 44 + pitch * i, series, title, name, i, text,
                   model["shown"])
    return figure, figure.finish(TITLE, footer)
