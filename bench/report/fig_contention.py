# SPDX-License-Identifier: MIT
"""The contention grid: each implementation against the best of the same cell."""

from . import data, heatmap, names, panel, rounds, show, style, versus

ID, TITLE = "contention", "Contention: throughput relative to the best"
METRIC = "real_time"
CELL = (48, 24)
ALIKE, UNKNOWN = "*", "?"
FAR = 1 / versus.CLOSE  # a share below it is no small difference that runs happen to cover
TITLE_WIDE = 290    # of the line above a map


def place_of(cell):
    """What is the same for all implementations that are compared."""
    dims = cell["dims"]
    return dims["threads"], dims["section"], dims.get("think", "")


def relatives(cells):
    """[(cell, its throughput as a share of the best in its place, mark)]

    Twins have a share, but are not who the others are measured by.
    """
    best = {}
    for cell in cells:
        at = place_of(cell)
        if not names.is_twin(data.impl(cell)) and (
                at not in best or data.median(cell, METRIC) < data.median(best[at], METRIC)):
            best[at] = cell
    found = []
    for cell in cells:
        top = best.get(place_of(cell))
        if top:
            share = data.median(top, METRIC) / data.median(cell, METRIC)
            apart = rounds.apart(rounds.kept(cell, METRIC), rounds.kept(top, METRIC))
            found.append((cell, share, "" if apart else ALIKE if share > FAR else UNKNOWN))
    return found


def collect(result):
    cells, left_out = data.ask(result, "contention", "impl", "threads", "section")
    cells = [c for c in data.require(cells, [METRIC], "contention") if data.median(c, METRIC) > 0]
    found = relatives(cells)
    maps, rows = {}, []
    for cell, share, mark in found:
        threads, section, think = place_of(cell)
        maps.setdefault((think, data.impl(cell)), {})[section, threads] = share, mark
        rows.append(data.raw_row(cell, METRIC, show.digits(share, 4) + mark))
    order = style.order(impl for _, impl in maps)
    thinks = sorted({think for think, _ in maps}, key=names.sort_key)
    return {"maps": [(t, i, maps[t, i]) for t in thinks for i in order if (t, i) in maps],
            "threads": sorted({place_of(c)[0] for c in cells}, key=names.sort_key),
            "sections": sorted({place_of(c)[1] for c in cells}, key=names.sort_key),
            "rows": rows, "left_out": left_out, "alt": describe(found, order),
            "how": how(found)}


def how(found):
    parts = ["Each cell is the best implementation's time for one lock and unlock, divided by this "
             "one's: 1 is the best, 0.5 half its throughput. *: the best, or not told apart from "
             "it: their kept runs overlap."]
    if any(mark == UNKNOWN for *_, mark in found):
        parts.append(f"{UNKNOWN}: they overlap though the medians are far apart, too scattered to "
                     "tell.")
    if any(names.is_twin(data.impl(cell)) for cell, *_ in found):
        parts.append(f"Names that end in {names.TWIN} are a second measurement of the same, and "
                     "never the best.")
    parts.append("Columns: time inside the lock.")
    if any(place_of(cell)[2] for cell, *_ in found):
        parts.append("Think: time outside, between two locks.")
    return " ".join(parts)


def describe(found, order):
    texts = []
    for impl in order:
        own = [(share, mark) for cell, share, mark in found if data.impl(cell) == impl]
        if names.is_twin(impl) or not own:
            continue
        alike, unknown = (sum(m == mark for _, m in own) for mark in (ALIKE, UNKNOWN))
        texts.append(f"{impl} best, or not told apart from it, in {alike} of {len(own)} cells"
                     + (f", {unknown} too scattered to tell" if unknown else "")
                     + f", worst {show.digits(min(own)[0], 2)}")
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
                          max(panel.WIDTH, wide + 20), is_map=True)
    grid = {"columns": model["sections"], "lines": model["threads"],
            "column_title": "time inside the lock",
            "line_title": "threads; share of the best   \N{UPWARDS ARROW} higher is better"}
    for (column, line), (think, impl, shares) in zip(spots, model["maps"]):
        title = f"{show.short(impl, 20)}" + (f", think {show.short(think, 8)}" if think else "")
        found = {(model["sections"].index(s), model["threads"].index(t)):
                 (v, f"{v:.2f}{mark}") for (s, t), (v, mark) in shares.items()}
        corner = (66 + column * wide, panel.HEAD + 44 + line * tall)
        heatmap.draw(figure, corner, CELL, {**grid, "title": title}, found, lambda v: v, 11)
    return figure, figure.finish(TITLE, footer)
