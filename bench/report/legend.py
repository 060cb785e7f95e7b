# SPDX-License-Identifier: MIT
"""Legends as HTML. They stand above a picture and wrap, so that a narrow screen shows them whole,
wherever the picture is scrolled to.

An entry is {"name", "colour", "dash", "width"} for a line, {"name", "colour", "block"} for a
filled area, {"name", "mark"} for a sign.
"""

from . import choice, show, theme

MOST = 40   # letters of a name
DASHES = {1: "solid", 3: "dotted"}  # all others: dashed


def sample(entry):
    if "colour" not in entry:
        return f"<b>{show.escape(entry['mark'])}</b>"
    thick = 10 if entry.get("block") else max(2, round(entry["width"]))
    kind = "solid" if entry.get("block") else DASHES.get(entry["dash"], "dashed")
    return f'<i style="border-top:{thick}px {kind} {theme.variable(entry["colour"])}"></i>'


def html(entries):
    items = "".join(f"<li>{sample(e)}{show.escape(show.short(e['name'], MOST))}</li>"
                    for e in entries)
    return f"<ul class=legend>{items}</ul>" if items else ""


def of_all(model):
    """For the picture that has all implementations in colour; bars have their names beside them."""
    lines = model.get("legend") and all("width" in e for e in model["legend"])
    return choice.legend(model["impls"], set(model["impls"])) if lines else model.get("legend", ())
