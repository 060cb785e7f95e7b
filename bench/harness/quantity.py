# SPDX-License-Identifier: MIT
"""Numbers as a person reads them."""

import math


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


def relative(entry):
    """The interval as a share of the median, the larger side."""
    if entry["low"] is None or not entry["median"]:
        return "+-?"
    side = max(entry["high"] - entry["median"], entry["median"] - entry["low"])
    share = abs(side / entry["median"])
    return f"+-{share:.0%}" if share < 10 else "+->999%"


def percent(ratio):
    """A ratio as a change."""
    return f"{(ratio - 1) * 100:+.1f} %"
