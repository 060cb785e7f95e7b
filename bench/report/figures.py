# SPDX-License-Identifier: MIT
"""All figures in their order, and how one is collected without harm to the others.

A figure's collect() makes a model of the result: "alt" (what it shows, in words), "how" (how to
read it), "rows" (the data table), "left_out" ([(name, why)]), and if it has one "pivot", a small
table of what is drawn, and "legend", entries that stand above the picture. "shown" are the
implementations that are drawn in colour, where that are not all of "impls": then there is a second
picture, on demand, of all of them. Its draw() makes (layout, gnuplot script) of the model.
"""

from . import (fig_bars, fig_contention, fig_hosts, fig_idle, fig_metal, fig_order, fig_outcome,
               fig_oversubscription, fig_pairs, fig_pareto, fig_regret, fig_roi, fig_throughput,
               fig_wake, gnuplot)
from .errors import Missing, PlotError

DAMAGED = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError)


def of_question(question, title):
    return question, title, fig_bars.collector(question), fig_bars.drawer(title)


def of_module(module):
    return module.ID, module.TITLE, module.collect, module.draw


FIGURES = (
    *map(of_module, (fig_throughput, fig_regret, fig_pareto, fig_roi, fig_outcome, fig_wake)),
    of_question("uncontended", "Cost where nobody waits"),
    *map(of_module, (fig_contention, fig_oversubscription)),
    of_question("condvar", "Condition variables"),
    of_question("queue", "Queues"),
    of_question("channel", "Channels"),
    *map(of_module, (fig_pairs, fig_metal, fig_hosts, fig_idle, fig_order)),
)


def collect(result, function):
    """(model, None), or (None, the sentence that stands in its place)."""
    try:
        return function(result), None
    except Missing as e:
        return None, str(e)
    except DAMAGED as e:
        return None, f"This part of the file is damaged: {type(e).__name__}: {e}."


def svg(model, draw, name, title, footer):
    """(SVG, None), or (None, the sentence that stands in its place)."""
    try:
        figure, script = draw(model, footer)
        drawn = gnuplot.run(script, figure.width, figure.height)
        return gnuplot.inline(drawn, f"fig-{name}", title, model["alt"], figure), None
    except PlotError as e:
        return None, str(e)
    except DAMAGED as e:
        return None, f"The figure could not be drawn: {type(e).__name__}: {e}."


def has_more(model):
    return len(model.get("impls", ())) > len(model.get("shown", ()))


def svg_of_all(model, draw, name, title, footer):
    """The picture with all implementations in colour."""
    return svg({**model, "shown": set(model["impls"])}, draw, f"{name}-all",
               f"{title}, all {len(model['impls'])}", footer)


def all_of(result):
    """[(id, title, draw, model, sentence)]"""
    return [(name, title, draw, *collect(result, function))
            for name, title, function, draw in FIGURES]
