# SPDX-License-Identifier: MIT
"""Joined results: the same hand-offs on several machines."""

import math

from . import bars, cost, data, names, show
from .errors import Missing

ID, TITLE = "hosts", "Hosts side by side: added latency of a hand-off"
IMPLS = ("ipcwait", "glibc")
WAITS_NS = (5e3, 50e3, 1e6)
METRIC = "latency_p50_ns"
NAMES = 270  # px: implementation, host and what is wrong with its figures
X_TITLE = "\N{LEFTWARDS ARROW} lower is better   added latency p50 (axis from 0)"


def label_of(host):
    """With what a reader must know before comparing with it."""
    verdict, method = (v if isinstance(v, dict) else {}
                       for v in (host.get("verdict"), host.get("method")))
    marks = [word for word, is_so in (("noisy", verdict.get("noisy")),
                                      ("incomplete", host.get("complete") is False),
                                      ("slowed", method.get("slowed"))) if is_so]
    return show.short(host.get("label", "?"), 16) + (f" ({', '.join(marks)})" if marks else "")


def handoffs(host):
    """{(wait, impl): cell}"""
    found = {}
    for cell in data.cells(host).values():
        if cell["question"] == "handoff" and data.impl(cell) in IMPLS \
                and data.median(cell, METRIC) is not None:
            found[cell["dims"].get("wait", ""), data.impl(cell)] = cell
    return found


def bar_of(label, impl, cell):
    low, high = data.interval(cell, METRIC)
    cpu = data.median(cell, cost.CPU)
    return {"label": f"{impl}, {label}", "impl": impl,
            "y": data.median(cell, METRIC), "low": low, "high": high,
            "runs": data.values(cell, METRIC), "value": show.time_ns(data.median(cell, METRIC)),
            "small": f"waiter's CPU {show.time_ns(cpu)}" if cpu is not None else ""}


def collect(result):
    hosts = data.rows(data.own(result), "hosts")
    if not hosts:
        raise Missing("Results of other hosts were not joined (--import).")
    found = [(label_of(h), handoffs(h)) for h in hosts]
    sizes = {wait: names.duration_ns(wait) for _, cells in found for wait, _ in cells}
    sizes = {wait: ns for wait, ns in sizes.items() if ns}
    if not sizes:
        raise Missing(f"No host has hand-offs with {METRIC}.")
    near = {min(sizes, key=lambda w: abs(math.log(sizes[w] / want))) for want in WAITS_NS}
    groups, rows = [], []
    for wait in sorted(near, key=sizes.get):
        shown = [(label, impl, cells[wait, impl]) for impl in IMPLS for label, cells in found
                 if (wait, impl) in cells]
        groups.append({"title": f"after {wait}", "bars": [bar_of(*s) for s in shown]})
        rows += [{**data.raw_row(cell, METRIC, "a bar"), "name": f"{label}: {cell['name']}"}
                 for label, _, cell in shown]
    texts = [f"{g['title']}: " + show.sentence_list(f"{b['label']} {b['value']}" for b in g["bars"])
             for g in groups]
    return {"groups": groups, "rows": rows, "left_out": [], "alt": "; ".join(texts) + ".",
            "how": bars.how(groups) + " Each group has its own axis."}


def draw(model, footer):
    return bars.figure_of(model["groups"], TITLE, footer, show.time_ns, X_TITLE,
                          left=NAMES)
