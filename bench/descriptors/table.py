# SPDX-License-Identifier: MIT
"""Rows as text."""

from harness.quantity import digits, time_ns

NAMES = {"speed": "round trips/s", "time": "round trip", "cpu": "machine CPU",
         "own_cpu": "CPU", "answers_cpu": "CPU, waits", "latency": "latency",
         "worst": "worst trip", "again": "trip again"}


def own(row):
    if row["own"] is None:
        return "-"
    return f"{row['own']:.0f}/s" if row["figure"] == "speed" else time_ns(row["own"] * 1e9)


def span(row):
    return "-" if row["low"] is None else f"{digits(row['low'])} .. {digits(row['high'])}"


def line(row):
    median = "-" if row["median"] is None else digits(row["median"])
    bar = "-" if row["limit"] is None else f"{row['sign']} {digits(row['limit'])}"
    return (f"  {row['arm']:<8}{NAMES[row['figure']]:<14}{own(row):>12} {median:>8} of "
            f"{row['against']:<7} {span(row):<20} {bar:<9} {row['verdict']}").rstrip()


def of_entry(entry):
    """A cell, and each kind of failure once for each arm."""
    told = {run["arm"]: run["why"] for done in entry["rounds"] for run in done.values()
            if run["why"]}
    return [entry["name"], *map(line, entry["rows"]),
            *(f"  {arm}: {why}" for arm, why in told.items())]


def conditions(result):
    """Under what all this was measured, one sentence."""
    m = result["method"]
    said = [f"{m['rounds']} rounds of {m['seconds']:g} s", f"idle states {m['idle_states']}",
            *(f"{arm}: {why}" for arm, why in m["missing"].items())]
    if result["verdict"]["why"]:
        said.append(result["verdict"]["why"])
    return "; ".join(said)
