# SPDX-License-Identifier: MIT
"""Numbers and foreign text as a person reads them."""

import html
import math

LABEL_MOST = 28  # characters of a name beside a line; the data tables have all of it


def clean(text):
    """One printable line: what would move the cursor or turn the text around is a '?'."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def short(text, most=LABEL_MOST):
    text = clean(text)
    return text if len(text) <= most else text[:most - 3] + "..."


def escape(text):
    return html.escape(clean(text), quote=True)


def digits(value, n=3):
    """@n significant digits, without an exponent, without zeros that mean nothing."""
    if value is None:
        return "-"
    if not value:
        return "0"
    behind = n - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, behind):.{max(behind, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def time_ns(value, n=3):
    """A duration in the unit that leaves one to three digits before the point."""
    if value is None:
        return "-"
    for limit, scale, unit in ((999.5, 1, "ns"), (999.5e3, 1e3, "us"), (999.5e6, 1e6, "ms")):
        if abs(value) < limit:
            return f"{digits(value / scale, n)} {unit}"
    return f"{digits(value / 1e9, n)} s"


def count(value, n=3):
    """A plain number, in thousands or millions where that is shorter."""
    if value is None:
        return "-"
    for limit, scale, unit in ((1e3, 1, ""), (1e6, 1e3, " k"), (1e9, 1e6, " M")):
        if abs(value) < limit:
            return digits(value / scale, n) + unit
    return digits(value / 1e9, n) + " G"


def share(value):
    return "-" if value is None else f"{digits(value * 100, 3)} %"


def sentence_list(items, most=12):
    """a, b and c; how many more there are is said."""
    items = list(items)
    if len(items) > most:
        items = items[:most] + [f"{len(items) - most} more"]
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
