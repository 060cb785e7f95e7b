# SPDX-License-Identifier: MIT
"""More threads than CPUs: who falls over."""

from . import curves, data, names, panel, show
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


def bases(cells):
    """{impl: (ratio, time)} at one thread per CPU, or at the next ratio that there is."""
    found = {}
    for cell in cells:
        ratio, time = float(cell["dims"][PER_CPU]), data.median(cell, METRIC)
        if time:
            near = found.get(data.impl(cell))
            if near is None or abs(ratio - 1) < abs(near[0] - 1):
                found[data.impl(cell)] = (ratio, time)
    return found


def relative(cell, base):
    time = data.median(cell, METRIC)
    if not time or data.impl(cell) not in base:
        return None
    one = base[data.impl(cell)][1]
    low, high = data.interval(cell, METRIC)
    return {"y": one / time, "low": one / high, "high": one / max(low, 1e-9),
            "runs": [one / v for v in data.values(cell, METRIC) if v]}


def tail(cell):
    metric = data.find_metric(cell, "_p99_ns")
    if not metric:
        return None
    low, high = data.interval(cell, metric)
    return {"y": data.median(cell, metric), "low": low, "high": high,
            "runs": [v for v in data.values(cell, metric) if v is not None]}


def lines_of(cells, point):
    return curves.series_of(cells, PER_CPU, point, names.number)


def rows_of(cells, base):
    rows = []
    for cell in cells:
        made = relative(cell, base)
        if made:
            rows.append(data.raw_row(cell, METRIC, f"throughput x{show.digits(made['y'], 4)}"))
        metric = data.find_metric(cell, "_p99_ns")
        if metric:
            rows.append(data.raw_row(cell, metric, show.time_ns(data.median(cell, metric), 4)))
    return rows


def collect(result):
    cells, left_out = data.ask(result, "oversubscription", "impl")
    cells = with_ratio(cells, cpus_of(result))
    if not cells:
        raise Missing("The suite oversubscription says neither threads per CPU nor CPUs.")
    parts, rows = [], []
    for kind in sorted({c["dims"].get("kind", "") for c in cells}, reverse=True):
        of_it = [c for c in cells if c["dims"].get("kind", "") == kind]
        base = bases(of_it)
        parts.append((KINDS.get(kind, kind), lines_of(of_it, lambda c, b=base: relative(c, b)),
                      lines_of(of_it, tail)))
        rows += rows_of(of_it, base)
    parts = [p for p in parts if p[1]]
    if not parts:
        raise Missing("The suite oversubscription has no times.")
    return {"parts": parts, "rows": rows, "left_out": left_out,
            "alt": ". ".join(describe(*p) for p in parts) + ".",
            "how": "Throughput is relative to the same implementation's with one thread per CPU "
                   "(or the next ratio that was measured); 1 means that more threads cost "
                   "nothing. Its interval is that of the point itself."}


def describe(kind, relatives, _):
    texts = [f"{s['impl']} x{show.digits(s['points'][-1]['y'], 2)}" for s in relatives]
    most = max(s["points"][-1]["x"] for s in relatives)
    head = f"{kind}: throughput" if kind else "Throughput"
    return f"{head} at {show.digits(most)} threads per CPU: " + show.sentence_list(texts, 16)


def draw_panel(figure, top, series, title, name, tag, y_text):
    xs = sorted({p["x"] for s in series for p in s["points"]})
    p = panel.Panel((66, top, panel.WIDTH - curves.LABEL_ROOM, top + PANEL),
                    panel.log_range(xs, 1.15), panel.log_range(curves.all_values(series)),
                    True, True)
    figure.axes(p, ([(x, True) for x in xs], show.digits),
                (panel.log_tics(p.ylo, p.yhi), y_text))
    figure.titles(p, "threads per CPU", title, name)
    curves.draw(figure, p, series, tag)


def draw(model, footer):
    panels = []
    for kind, relatives, tails in model["parts"]:
        panels.append((relatives, "throughput, 1 thread per CPU = 1   \N{UPWARDS ARROW} higher is "
                       "better", kind, show.digits))
        if tails:
            panels.append((tails, "latency p99   \N{DOWNWARDS ARROW} lower is better",
                           kind, show.time_ns))
    pitch = PANEL + 100
    figure = panel.Figure(curves.height(pitch * len(panels)))
    for i, (series, title, name, text) in enumerate(panels):
        draw_panel(figure, panel.HEAD + 44 + pitch * i, series, title, name, i, text)
    return figure, figure.finish(TITLE, footer)
