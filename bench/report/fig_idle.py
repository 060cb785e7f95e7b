# SPDX-License-Identifier: MIT
"""Where the CPUs spent their idle time while all this was measured."""

from . import data, names, panel, show, stacked, style
from .errors import Missing

ID, TITLE = "idle", "Idle states while measuring"
BUSY = "#dddddd"


def collect(result):
    states = [s for s in data.rows(data.own(result), "idle_states")
              if data.number(s.get("share")) is not None]
    if not states:
        raise Missing("The idle states were not recorded, or are not visible on this machine.")
    order = list(dict.fromkeys(str(s.get("name")) for s in states))
    cpus = {}
    for s in states:
        cpus.setdefault(str(s.get("cpu")), {})[str(s.get("name"))] = data.number(s["share"])
    lines = [[str(s.get(k, "-")) for k in
              ("cpu", "name", "usage", "time_us", "above", "below", "share")] for s in states]
    return {"cpus": sorted(cpus.items(), key=lambda c: names.sort_key(c[0])), "names": order,
            "rows": [], "left_out": [], "alt": describe(cpus, order),
            "legend": stacked.legend([*((show.short(n, 20), c) for n, c in
                                        colours_of(order).items()), ("busy", BUSY)]),
            "how": "Share of the whole time in each state. The rest was busy. Above and below: how "
                   "often the state was deeper or shallower than the idle time called for.",
            "pivot": {"head": ["CPU", "state", "entries", "time, us", "above", "below", "share"],
                      "lines": lines}}


def colours_of(states):
    return dict(zip(states, style.sequence(len(states))))


def describe(cpus, order):
    texts = []
    for name in order:
        shares = [states.get(name, 0.0) for states in cpus.values()]
        texts.append(f"{name} {show.share(sum(shares) / len(shares))}")
    return "Mean of all CPUs: " + show.sentence_list(texts) + "."


def draw(model, footer):
    colours, bars = colours_of(model["names"]), []
    for cpu, states in model["cpus"]:
        parts = [(min(max(states.get(n, 0.0), 0.0), 1.0), colours[n]) for n in model["names"]]
        scale = max(1.0, sum(p[0] for p in parts))
        parts = [(s / scale, c) for s, c in parts]
        bars.append((f"CPU {cpu}", [*parts, (1 - sum(p[0] for p in parts), BUSY)]))
    bar = stacked.BAR if len(bars) <= 32 else 12
    figure = panel.Figure(panel.HEAD + panel.FOOT + bar * len(bars) + 70)
    stacked.draw(figure, (90, panel.HEAD + 8, panel.WIDTH - 40), bars, "", "share of the time",
                 1, bar)
    return figure, figure.finish(TITLE, footer)
