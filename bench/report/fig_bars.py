# SPDX-License-Identifier: MIT
"""Questions whose answer is one time per implementation: bars, a group for each case."""

from . import bars, data, names, show, style

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


def title(cell):
    return names.words({k: v for k, v in cell["dims"].items() if k != "impl"})


def collector(question):
    """The function that collects one question."""

    def collect(result):
        cells, left_out = data.ask(result, question)
        cells = data.require(cells, [METRIC], question)
        groups = {}
        for cell in cells:
            groups.setdefault(title(cell) or question, []).append(cell)
        shown = [{"title": name, "bars": sorted(map(bar_of, of_it), key=lambda b: b["y"])}
                 for name, of_it in groups.items()]
        return {"groups": shown, "left_out": left_out, "alt": describe(shown),
                "rows": [data.raw_row(c, METRIC, "a bar") for c in cells],
                "how": bars.how(shown, "Fastest first. ")}

    return collect


def describe(groups):
    """The fastest, ours and glibc's of each case."""
    texts = []
    for g in groups:
        named = [b for i, b in enumerate(g["bars"]) if not i or b["impl"] in style.BARS]
        texts.append(f"{g['title']}: " + show.sentence_list(f"{b['label']} {b['value']}"
                                                            for b in named))
    return ". ".join(texts) + "."


def drawer(title):
    def draw(model, footer):
        return bars.figure_of(model["groups"], title, footer, show.time_ns, X_TITLE)

    return draw
