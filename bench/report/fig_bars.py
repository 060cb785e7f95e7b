# SPDX-License-Identifier: MIT
"""Questions whose answer is one time per implementation: bars, a group for each case."""

from . import bars, data, names, show

METRIC = "real_time"
X_TITLE = "\N{LEFTWARDS ARROW} lower is better   time per operation (axis from 0)"


def bar_of(cell):
    low, high = data.interval(cell, METRIC)
    small = []
    cpu, tail = data.median(cell, "cpu_time"), data.tail(cell)
    if cpu is not None and cell["question"] != "uncontended":
        small.append(f"CPU {show.time_ns(cpu)}")
    if tail:
        small.append(f"p99 {show.time_ns(data.median(cell, tail))}")
    y = data.median(cell, METRIC)
    return {"label": data.impl(cell), "impl": data.impl(cell), "y": y, "low": low, "high": high,
            "runs": data.values(cell, METRIC), "small": ", ".join(small),
            "value": show.time_ns(y)}


def collector(question):
    """The function that collects one question."""

    def collect(result):
        cells, left_out = data.ask(result, question)
        cells = data.require(cells, [METRIC], question)
        groups = {}
        for cell in cells:
            groups.setdefault(names.without(cell["dims"], "impl") or question, []).append(cell)
        shown = [{"title": title, "bars": sorted(map(bar_of, of_it), key=lambda b: b["y"])}
                 for title, of_it in groups.items()]
        return {"groups": shown, "left_out": left_out, "alt": describe(shown),
                "rows": [data.raw_row(c, METRIC, "a bar") for c in cells],
                "how": "Fastest first. Circles: every run. Whisker: the interval. The axis starts "
                       "at 0."}

    return collect


def describe(groups):
    return "; ".join(f"{g['title']}: " + show.sentence_list(
        f"{b['label']} {b['value']}" for b in g["bars"]) for g in groups) + "."


def drawer(title):
    def draw(model, footer):
        return bars.figure_of(model["groups"], title, footer, show.time_ns, X_TITLE)

    return draw
