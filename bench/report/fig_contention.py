# SPDX-License-Identifier: MIT
"""The contention grid: each implementation against the best of the same cell."""

from . import data, heatmap, names, panel, show, style

ID, TITLE = "contention", "Contention: throughput relative to the best"
METRIC = "real_time"
CELL = (48, 24)
TITLE_WIDE = 290    # of the line above a map


def place_of(cell):
    """What is the same for all implementations that are compared."""
    dims = cell["dims"]
    return dims["threads"], dims["section"], dims.get("think", "")


def relatives(cells):
    """[(cell, its throughput as a share of the best in its place)]"""
    best = {}
    for cell in cells:
        time, at = data.median(cell, METRIC), place_of(cell)
        best[at] = min(time, best.get(at, time))
    return [(c, best[place_of(c)] / data.median(c, METRIC)) for c in cells]


def collect(result):
    cells, left_out = data.ask(result, "contention", "impl", "threads", "section")
    cells = [c for c in data.require(cells, [METRIC], "contention") if data.median(c, METRIC) > 0]
    found = relatives(cells)
    maps, rows = {}, []
    for cell, share in found:
        threads, section, think = place_of(cell)
        maps.setdefault((think, data.impl(cell)), {})[section, threads] = share
        rows.append(data.raw_row(cell, METRIC, show.digits(share, 4)))
    order = style.order(impl for _, impl in maps)
    thinks = sorted({think for think, _ in maps}, key=names.sort_key)
    return {"maps": [(t, i, maps[t, i]) for t in thinks for i in order if (t, i) in maps],
            "threads": sorted({place_of(c)[0] for c in cells}, key=names.sort_key),
            "sections": sorted({place_of(c)[1] for c in cells}, key=names.sort_key),
            "rows": rows, "left_out": left_out, "alt": describe(found, order),
            "how": "Each cell is the best implementation's time for one lock and unlock, divided "
                   "by this one's: 1 is the best, 0.5 half its throughput. Columns: time inside "
                   "the lock. Think: time outside, between two locks."}


def describe(found, order):
    texts = []
    for impl in order:
        own = [share for cell, share in found if data.impl(cell) == impl]
        best = sum(share == 1 for share in own)
        texts.append(f"{impl} best in {best} of {len(own)} cells, worst {show.digits(min(own), 2)}")
    return "; ".join(texts) + "."


def spots_of(maps, columns):
    """(column, line) for each map; another time outside the lock begins a new line."""
    spots, column, line = [], 0, 0
    for i, (think, _, _) in enumerate(maps):
        if i and (column == columns or think != maps[i - 1][0]):
            column, line = 0, line + 1
        spots.append((column, line))
        column += 1
    return spots


def draw(model, footer):
    wide = max(CELL[0] * len(model["sections"]) + 84, TITLE_WIDE)
    tall = CELL[1] * len(model["threads"]) + 92
    spots = spots_of(model["maps"], max(1, (panel.WIDTH - 20) // wide))
    figure = panel.Figure(panel.HEAD + panel.FOOT + (spots[-1][1] + 1) * tall,
                          max(panel.WIDTH, wide + 20))
    grid = {"columns": model["sections"], "lines": model["threads"],
            "column_title": "time inside the lock",
            "line_title": "threads; share of the best   \N{UPWARDS ARROW} higher is better"}
    for (column, line), (think, impl, shares) in zip(spots, model["maps"]):
        title = f"{show.short(impl, 20)}" + (f", think {show.short(think, 8)}" if think else "")
        found = {(model["sections"].index(s), model["threads"].index(t)): (v, f"{v:.2f}")
                 for (s, t), v in shares.items()}
        corner = (66 + column * wide, panel.HEAD + 44 + line * tall)
        heatmap.draw(figure, corner, CELL, {**grid, "title": title}, found, lambda v: v, 11)
    return figure, figure.finish(TITLE, footer)
