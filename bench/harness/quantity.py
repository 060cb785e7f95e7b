# SPDX-License-Identifier: MIT
"""Numbers as a person reads them."""

import math

# Beyond this share to one side a figure is known too badly to be one figure.
WIDE = 0.30


def digits(value):
    """Three that mean something."""
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value)) + 1e-9))
    return f"{value:.{min(places, 4)}f}"


def time_ns(value):
    for limit, scale, unit in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if abs(value) < limit * 0.9995:
            return f"{digits(value / scale)} {unit}"
    return f"{digits(value / 1e9)} s"


def span_ns(low, high):
    """Two times; the unit once where it is the same."""
    first, last = time_ns(low), time_ns(high)
    value, unit = first.split()
    return f"({value if last.endswith(' ' + unit) else first} .. {last})"


def relative(entry):
    """The interval as a share of the median, the larger side; None if it is not known."""
    if entry["low"] is None or not entry["median"]:
        return None
    side = max(entry["high"] - entry["median"], entry["median"] - entry["low"])
    return abs(side / entry["median"])


def is_wide(entry):
    share = relative(entry)
    return share is not None and share > WIDE


def with_interval(entry):
    """A time. Where the interval is wide the range of all runs says more than a share."""
    share, middle = relative(entry), time_ns(entry["median"])
    if share is None:
        return f"{middle} +-?"
    if share <= WIDE:
        return f"{middle} +-{share:.0%}"
    there = [v for v in entry["values"] if v is not None] or [entry["low"], entry["high"]]
    return f"{middle} {span_ns(min(there), max(there))}"


def percent(ratio):
    """A ratio as a change."""
    return f"{(ratio - 1) * 100:+.1f} %"
