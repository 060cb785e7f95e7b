# SPDX-License-Identifier: MIT
"""Distributions of the latency of a wake, by how long the sleeper had slept."""

from . import data, gnuplot, names, panel, rounds, show, style
from .errors import Missing

ID, TITLE = "wake", "Latency of a wake, by how long the sleeper had slept"
SHARES = (0.5, 0.9, 0.99, 0.999)
METRICS = tuple(f"latency_{p}_ns" for p in ("p50", "p90", "p99", "p999", "max"))
COLUMNS = 3
TALL = 210
TAIL = 1e-5


def buckets_of(part, cell):
    """The buckets of the kept runs added up, from low to high: [(low, high, count)]. A summary has
    a few wide ones."""
    if part.get("summarized"):
        return part["quantiles"].get(cell["name"], [])
    total, numbers = {}, rounds.kept_numbers(cell, "latency_p50_ns", "real_time")
    for run in data.last_attempts(part):
        histograms = run.get("histograms")
        latency = histograms.get("latency") if isinstance(histograms, dict) else None
        used = run.get("name") == cell["name"] and run.get("round") in numbers
        if used and isinstance(latency, dict):
            for low, high, count in latency.get("buckets") or ():
                total[low, high] = total.get((low, high), 0) + count
    return [(low, high, total[low, high]) for low, high in sorted(total)]


def steps(buckets):
    """[(latency, share of the wakes that took no longer)]"""
    total, seen, found = sum(b[2] for b in buckets), 0, [(max(buckets[0][0], 1), 0.0)]
    for _, high, count in buckets:
        seen += count
        found.append((max(high, 1), seen / total))
    return found


def at_share(curve, share):
    return next(x for x, s in curve if s >= share - 1e-12)


def quantile_text(curve, share, total):
    """A "-" where so few wakes cannot have one: p99 of 30 is their largest under another name."""
    known = share in (SHARES[0], 1.0) or total * (1 - share) > 1 - 1e-9
    return show.time_ns(at_share(curve, share)) if known else "-"


def collect(result):
    cells, left_out = data.ask(result, "wake", "impl", "idle")
    by_impl, rows, lines = {}, [], []
    for cell in cells:
        buckets = buckets_of(data.own(result), cell)
        rows += [data.raw_row(cell, m, "" if buckets else "not drawn: no histogram")
                 for m in METRICS if data.median(cell, m) is not None]
        if buckets and sum(b[2] for b in buckets):
            curve, total = steps(buckets), sum(b[2] for b in buckets)
            by_impl.setdefault(data.impl(cell), {})[cell["dims"]["idle"]] = curve
            lines.append([data.impl(cell), cell["dims"]["idle"], str(total),
                          *(quantile_text(curve, s, total) for s in (*SHARES, 1.0))])
    if not by_impl:
        raise Missing("The suite wake has no histograms.")
    ages = sorted({age for curves in by_impl.values() for age in curves}, key=names.sort_key)
    return {"columns": [(i, by_impl[i]) for i in style.order(by_impl)], "ages": ages, "rows": rows,
            "left_out": left_out, "legend": legend(ages), "alt": describe(by_impl, ages),
            "how": "Top: the share of wakes that took no longer. Bottom: the share that took "
                   "longer, which shows the tail. The kept runs of a benchmark together. Stairs "
                   "are the CPU's idle states, or the host's way to halt one.",
            "pivot": {"head": ["impl", "slept", "wakes", "p50", "p90", "p99", "p99.9", "most"],
                      "lines": lines}}


def legend(ages):
    return [{"name": f"slept for {show.short(age, 10)}", "colour": colour, "dash": 1, "width": 3}
            for age, colour in zip(ages, style.sequence(len(ages)))]


def describe(by_impl, ages):
    texts = []
    for impl in style.order(by_impl):
        medians = [f"{show.time_ns(at_share(by_impl[impl][a], 0.5))} after {a}"
                   for a in ages if a in by_impl[impl]]
        texts.append(f"{impl}: median " + show.sentence_list(medians))
    return "; ".join(texts) + "."


def draw_curves(figure, p, curves, ages, tag, tail):
    colours, parts = style.sequence(len(ages)), []
    for i, age in enumerate(ages):
        if age in curves:
            points = [(x, max(1 - s, TAIL / 10) if tail else s) for x, s in curves[age]]
            figure.add(*gnuplot.block(f"w{tag}_{i}", [f"{x:.9g} {y:.9g}" for x, y in points]))
            parts.append(f"$w{tag}_{i} using 1:2 with steps lw 2.2 lc rgb '{colours[i]}' notitle")
    figure.plot(*parts)


def draw_column(figure, model, box, xs, number):
    """One implementation: shares above, tails below, the same latencies for all."""
    impl, curves = model["columns"][number]
    left, top, right = box
    for tail in (False, True):
        y = top + tail * (TALL + 76)
        p = panel.Panel((left, y, right, y + TALL), xs, (TAIL, 1) if tail else (0, 1), True, tail)
        tics = panel.log_tics(TAIL, 1) if tail else panel.linear_tics(0, 1, 4)
        figure.axes(p, (panel.log_tics(*xs, 4), show.time_ns), (tics, show.share))
        figure.titles(p, "\N{LEFTWARDS ARROW} lower is better   latency" if tail else "",
                      "share longer than that   \N{DOWNWARDS ARROW} better" if tail else
                      "share up to that   \N{UPWARDS ARROW} better",
                      "" if tail else show.short(impl, 24))
        draw_curves(figure, p, curves, model["ages"], f"{number}_{int(tail)}", tail)


def draw(model, footer):
    columns = min(COLUMNS, len(model["columns"]))
    lines = -(-len(model["columns"]) // columns)
    figure = panel.Figure(panel.HEAD + panel.FOOT + lines * (2 * TALL + 190))
    xs = panel.log_range([x for _, curves in model["columns"] for c in curves.values()
                          for x, _ in c], 1.1)
    pitch = (panel.WIDTH - 16) / columns
    for i in range(len(model["columns"])):
        left = 66 + (i % columns) * pitch
        top = panel.HEAD + 44 + (i // columns) * (2 * TALL + 190)
        draw_column(figure, model, (left, top, left + pitch - 72), xs, i)
    return figure, figure.finish(TITLE, footer)
