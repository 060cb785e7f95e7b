# SPDX-License-Identifier: MIT
"""How waits ended: while spinning, or after sleep."""

from . import data, names, panel, show, stacked, style
from .errors import Missing

ID, TITLE = "outcome", "How waits ended, by their length"
SPUN, SLEPT = "spun_share", "slept_share"
LOOKS = ((SPUN, "ended while spinning", "#e8d357"), (SLEPT, "slept", "#2c3e6b"))
REST = ("at once, or not known", "#b0b0b0")
COLUMNS = 4


def shares(cell):
    """Of the three outcomes, in the order of the legend; they are made to fill the bar."""
    found = [min(max(data.median(cell, m) or 0.0, 0.0), 1.0) for m, _, _ in LOOKS]
    over = max(1.0, sum(found))
    found = [s / over for s in found]
    return [*found, 1.0 - sum(found)]


def collect(result):
    cells, left_out = data.ask(result, "handoff", "impl", "wait")
    cells = [c for c in cells if any(data.median(c, m) is not None for m, _, _ in LOOKS)]
    if not cells:
        raise Missing(f"The suite handoff has no {SPUN} and no {SLEPT}.")
    by_impl, rows = {}, []
    for cell in cells:
        by_impl.setdefault(data.impl(cell), {})[cell["dims"]["wait"]] = shares(cell)
        rows += [data.raw_row(cell, m, show.share(data.median(cell, m)))
                 for m, _, _ in LOOKS if data.median(cell, m) is not None]
    impls = [(i, sorted(by_impl[i].items(), key=lambda w: names.sort_key(w[0])))
             for i in style.order(by_impl)]
    return {"lines": impls, "legend": stacked.legend([*(look[1:] for look in LOOKS), REST]),
            "rows": rows, "left_out": left_out, "alt": describe(impls),
            "how": f"From the counters {SPUN} and {SLEPT}, which only libipcwait has. A wait that "
                   "found its token at once is in neither."}


def describe(impls):
    texts = []
    for impl, bars in impls:
        slept = [wait for wait, s in bars if s[1] > 0.5]
        texts.append(f"{impl}: most waits sleep from {slept[0]} on" if slept else
                     f"{impl}: at no length most waits sleep")
    return "; ".join(texts) + "."


def draw(model, footer):
    columns = min(COLUMNS, len(model["lines"]))
    most = max(len(bars) for _, bars in model["lines"])
    tall = stacked.BAR * most + 88
    figure = panel.Figure(panel.HEAD + panel.FOOT + tall * -(-len(model["lines"]) // columns))
    colours = [look[2] for look in LOOKS] + [REST[1]]
    pitch = (panel.WIDTH - 20) / columns
    for i, (impl, bars) in enumerate(model["lines"]):
        left = 70 + (i % columns) * pitch
        top = panel.HEAD + 26 + (i // columns) * tall
        shown = [(wait, list(zip(parts, colours))) for wait, parts in bars]
        stacked.draw(figure, (left, top, left + pitch - 92), shown, impl, "share of waits", i)
    return figure, figure.finish(TITLE, footer)
