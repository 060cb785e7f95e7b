# SPDX-License-Identifier: MIT
"""The machine's portrait: what a hand-off costs from each CPU to each other one."""

from . import data, heatmap, names, panel, show

ID, TITLE = "pairs", "Hand-off from CPU to CPU"
KINDS = {"spin": "The receiver spins", "sleep": "The receiver sleeps and is woken"}
SIDE_BY_SIDE = 8  # CPUs up to which both maps fit beside each other


def metric_of(cells):
    """The median latency if all have it; the time for one hand-off otherwise."""
    if all(data.median(c, "latency_p50_ns") is not None for c in cells):
        return "latency_p50_ns"
    return "real_time"


def collect(result):
    cells, left_out = data.ask(result, "pairs", "kind", "from", "to")
    metric = metric_of(cells)
    cells = data.require(cells, [metric], "pairs")
    cpus = sorted({c["dims"][k] for c in cells for k in ("from", "to")}, key=names.sort_key)
    maps = {}
    for c in cells:
        at = c["dims"]["from"], c["dims"]["to"]
        maps.setdefault(c["dims"]["kind"], {})[at] = data.median(c, metric)
    kinds = sorted(maps, key=lambda k: (k not in KINDS, list(KINDS).index(k) if k in KINDS else k))
    return {"cpus": cpus, "maps": [(k, maps[k]) for k in kinds], "left_out": left_out,
            "rows": [data.raw_row(c, metric, "a cell") for c in cells],
            "alt": describe(maps, kinds),
            "how": f"Median of {metric}."
                   + (" The lighter, the longer; each map has its own scale."
                      if any(len(m) > 1 for m in maps.values()) else "")}


def span(values):
    """The shortest and the longest with their CPUs, or one figure where there is no more to say."""
    low, high = min(values, key=values.get), max(reversed(values), key=values.get)
    shortest, longest = show.time_ns(values[low]), show.time_ns(values[high])
    if len(values) == 1:
        return f"{shortest} (CPU {low[0]} to {low[1]})"
    if shortest == longest:
        both = len(values) == 2 and low != high and set(low) == set(high)
        return f"{shortest} {'in both directions' if both else 'everywhere'}"
    return (f"from {shortest} (CPU {low[0]} to {low[1]}) to {longest} (CPU {high[0]} to "
            f"{high[1]})")


def describe(maps, kinds):
    return ". ".join(f"{KINDS.get(kind, kind)}: {span(maps[kind])}" for kind in kinds) + "."


def scale_of(values):
    """Unit and divisor with which the numbers in the cells stay short."""
    for divisor, unit in ((1, "ns"), (1e3, "us"), (1e6, "ms")):
        if max(values) / divisor < 1000:
            return divisor, unit
    return 1e9, "s"


def cell_text(value, divisor, wide):
    """Three characters where cells are narrow."""
    value /= divisor
    return show.digits(value, 3 if wide else 2 if value < 100 else 3)


def draw_map(figure, left, top, cpus, kind, values):
    n = len(cpus)
    wide = n <= 24
    divisor, unit = scale_of(values.values())
    size = (54, 30) if n <= 8 else (38, 24) if wide else (23, 17)
    grid = {"columns": cpus, "lines": cpus, "title": KINDS.get(kind, show.short(kind)),
            "column_title": "to CPU", "line_title": f"from CPU; median in {unit}   "
            "\N{DOWNWARDS ARROW} lower is better"}
    found = {(cpus.index(to), cpus.index(frm)): (v, cell_text(v, divisor, wide))
             for (frm, to), v in values.items()}
    return heatmap.draw(figure, (left, top), size, grid, found,
                        heatmap.log_scale(values.values()), 12 if n <= 8 else 10 if wide else 8)


def draw(model, footer):
    n, maps = len(model["cpus"]), model["maps"]
    beside = n <= SIDE_BY_SIDE and len(maps) > 1
    cell = (54, 30) if n <= 8 else (38, 24) if n <= 24 else (23, 17)
    tall = n * cell[1] + 104
    figure = panel.Figure(panel.HEAD + panel.FOOT + tall * (1 if beside else len(maps)),
                          max(panel.WIDTH, n * cell[0] + 120), is_map=True)
    for i, (kind, values) in enumerate(maps):
        left, top = (66 + 440 * i, 0) if beside else (66, tall * i)
        draw_map(figure, left, panel.HEAD + 44 + top, model["cpus"], kind, values)
    machine = footer[0].split(", Linux")[0] if footer else ""
    title = f"{TITLE}: {show.short(machine, 70)}" if machine else TITLE
    return figure, figure.finish(title, footer)
