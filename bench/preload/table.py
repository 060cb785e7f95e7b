# SPDX-License-Identifier: MIT
"""The result as text, and as Markdown."""

from harness.quantity import digits, time_ns

from .judging import DIFFERS, FAILED, HUNG, usable

HEAD = ("program", "arm", "plain", "figure", "median", "95 %", "bar", "verdict")
SUFFIX = {"speed": "x", "extra_ns": " ns"}
NAMES = {"speed": "speed", "time": "time", "cpu": "CPU", "extra_ns": "more", "machine": "not idle",
         "polling": "or polling"}


def value(figure, v):
    if v is None:
        return "-"
    text = f"{v:.2f}" if figure == "extra_ns" else digits(v)
    return text + SUFFIX.get(figure, "")


def plain_time(entry):
    """The median of an operation, with nothing preloaded."""
    times = sorted(r["none"]["time_s"] for r in entry["rounds"] if usable(r.get("none")))
    return time_ns(times[len(times) // 2] * 1e9) if times else "-"


def cells(entry, row):
    figure = row["figure"]
    what = NAMES[figure] + ("" if row["against"] == "none" else f" of {row['against']}")
    span = "-" if row["low"] is None else \
        f"{value(figure, row['low'])} .. {value(figure, row['high'])}"
    bar = f"{row['sign']} {value(figure, row['limit'])}" if row["limit"] is not None else "-"
    return (entry["name"], row["arm"], plain_time(entry), what, value(figure, row["median"]), span,
            bar, row["verdict"])


def rows(result):
    """A program that is not there has one row."""
    found = []
    for entry in result["programs"]:
        if entry["missing"]:
            found.append((entry["name"], *["-"] * 6, entry["missing"]))
        found += [cells(entry, row) for row in entry["rows"]]
    return found


def of_entry(entry):
    """Lines for the terminal, when a program is done."""
    if entry["missing"]:
        return [f"{entry['name']}: {entry['missing']}"]
    lines = [f"{entry['name']}: {entry['title']}; {plain_time(entry)} per {entry['units']}"]
    for row in entry["rows"]:
        _, arm, _, what, median, span, bar, verdict = cells(entry, row)
        lines.append(f"  {arm:<8}{what:<16}{median:>9}  {span:<21} {bar:<11} {verdict}".rstrip())
    return lines + complaints(entry)


def complaints(entry):
    """Each kind of failure once for each arm."""
    told = {}
    for done in entry["rounds"]:
        for arm, run in done.items():
            if run["why"] or run["verdict"] in (HUNG, DIFFERS, FAILED):
                told.setdefault(arm, run["why"] or "it printed something else")
    return [f"  {arm}: {why}" for arm, why in told.items()]


def conditions(result):
    """Under what all this was measured, one sentence."""
    m = result["method"]
    said = [f"{m['seconds']:g} s a run", f"idle states {m['idle_states']}",
            f"CPUs {m['cpus'] or 'all'}", *(f"{arm}: {why}" for arm, why in m["missing"].items())]
    if result["verdict"]["why"]:
        said.append(result["verdict"]["why"])
    return "; ".join(said)


def markdown(result):
    lines = [f"Measured {result['finished'][:10]}: {conditions(result)}.", "",
             "| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(row) + " |" for row in rows(result)]
    return "\n".join(lines) + "\n"
