# SPDX-License-Identifier: MIT
"""Bars of the semaphore test, from the scoreboard and from guests.

Row I-2 of the scoreboard keeps all runs of sem_test; guests have figures per item.
"""

import re

from . import data, show

SEED_ITEMS = 800e3  # of the rows in the seed's table
SECONDS = re.compile(r"\s*(\d+(?:\.\d+)?)\s*s\b")


def of_scoreboard(scoreboard):
    """(items, {row: runs}) of the semaphore test with threads; None where there is none."""
    for row in scoreboard:
        raw = row.get("raw")
        if row.get("id") == "I-2" and isinstance(raw, dict) and isinstance(raw.get("rows"), dict):
            if data.number(raw.get("items")):
                return raw["items"], raw["rows"]
    return None


def total(run, *keys):
    found = [data.number(run.get(k)) for k in keys]
    return None if None in found else sum(found)


def middle(values):
    values = sorted(v for v in values if v is not None)
    n = len(values)
    return (values[(n - 1) // 2] + values[n // 2]) / 2 if n else None


def small_print(interrupts, futexes, cpu_s):
    """Beneath a bar; what was not counted says so."""
    texts = [f"{name} {show.digits(v) if v is not None else 'not available'}"
             for name, v in (("interrupts/item", interrupts), ("futex calls/item", futexes))]
    if cpu_s is not None:
        texts.append(f"CPU {show.digits(cpu_s)} s")
    return ", ".join(texts)


def table_row(name, metric, unit, runs, drawn, kept=None):
    used = [r for r, k in zip(runs, kept or [True] * len(runs)) if k and r is not None]
    return {"name": name, "metric": metric, "unit": unit, "median": middle(used),
            "low": min(used, default=None), "high": max(used, default=None), "values": runs,
            "kept": kept or [True] * len(runs), "noisy": [False] * len(runs), "drawn": drawn}


def sem_test_bar(name, runs, items):
    """(bar, rows of the data table) of one row of sem_test."""
    runs = [r for r in runs if isinstance(r, dict)] if isinstance(runs, list) else []
    kept = [r.get("kept") is not False for r in runs]
    used = [r for r, k in zip(runs, kept) if k] or runs
    times = [s * 1e9 / items if (s := total(r, "seconds")) is not None else None for r in runs]
    good = [t for t, k in zip(times, kept) if k and t is not None]
    if not good:
        return None, []

    def per_item(*keys):
        found = [total(r, *keys) for r in used]
        return None if None in found or not found else middle(found) / items

    small = small_print(per_item("rescheduling_interrupts", "function_call_interrupts"),
                        per_item("futex_waits", "futex_wakes"),
                        middle([total(r, "cpu_seconds") for r in used]))
    bar = {"label": name, "impl": name, "y": middle(good), "low": min(good),
           "high": max(good), "runs": [t for t in times if t is not None], "small": small,
           "value": show.time_ns(middle(good))}
    rows = [table_row(f"sem_test {name}", key, unit, [r.get(key) for r in runs], drawn, kept)
            for key, unit, drawn in (
                ("seconds", "s", bar["value"] + " per item"), ("cpu_seconds", "s", "small print"),
                ("rescheduling_interrupts", "", "small print"),
                ("function_call_interrupts", "", "small print"),
                ("futex_waits", "", "small print"), ("futex_wakes", "", "small print"))
            if any(data.number(r.get(key)) is not None for r in runs)]
    return bar, rows


def of_sem_test(items, rows):
    """(bars, rows of the data table) of all rows."""
    made = [sem_test_bar(str(name), runs, items) for name, runs in rows.items()]
    return [b for b, _ in made if b], [row for _, found in made for row in found]


def of_seed(scoreboard):
    """Bars of the seed's own figures: "22 s" for 800 000 items."""
    bars = []
    for row in scoreboard:
        given = row.get("seed")
        if not str(row.get("id", "")).startswith("I-") or not isinstance(given, dict):
            continue
        for name, text in given.items():
            m = SECONDS.match(str(text))
            if m and name not in [b["label"] for b in bars]:
                y = float(m[1]) * 1e9 / SEED_ITEMS
                bars.append({"label": str(name), "impl": "seed", "y": y, "low": y, "high": y,
                             "runs": [], "value": show.time_ns(y),
                             "small": f"as the seed gives it: {show.short(text, 60)}"})
    return bars


def figure(row, name):
    """(median, low, high, values) of one of a guest's figures; None if not available."""
    found = row.get(name)
    if not isinstance(found, dict) or data.number(found.get("median")) is None:
        return None
    y = data.number(found["median"])
    ends = [data.number(found.get(k)) for k in ("low", "high")]
    return y, *(y if e is None else e for e in ends), found.get("values") or []


def guest_bar(guest, row):
    """(bar, rows of the data table); under TCG the bar has no length."""
    times = row.get("times") if isinstance(row.get("times"), dict) else {}
    counts = [figure(row, n) for n in ("interrupts_per_item", "futex_calls_per_item")]
    time, cpu = figure(times, "ns_per_item"), figure(times, "cpu_us_per_item")
    small = small_print(*(c and c[0] for c in counts), None)
    if cpu:
        small += f", CPU {show.time_ns(cpu[0] * 1e3)}/item"
    counted = bool(guest.get("counts_only")) or not time
    bar = {"label": str(row.get("row", "?")), "impl": str(row.get("row", "?")), "small": "",
           "y": None, "low": None, "high": None, "runs": [], "value": small}
    if not counted:
        bar.update(small=small, y=time[0], low=time[1], high=time[2], value=show.time_ns(time[0]),
                   runs=[v for v in map(data.number, time[3]) if v is not None])
    rows = []
    for source, metric, drawn in ((row, "interrupts_per_item", "small print"),
                                  (row, "futex_calls_per_item", "small print"),
                                  (times, "ns_per_item", "a bar"),
                                  (times, "cpu_us_per_item", "small print")):
        found = source.get(metric)
        if isinstance(found, dict) and isinstance(found.get("values"), list):
            rows.append(data.raw_row({"name": f"{guest.get('label', '?')} {bar['label']}",
                                      "metrics": {metric: found}, "noisy": set()}, metric, drawn))
    return bar, rows
