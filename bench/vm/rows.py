# SPDX-License-Identifier: MIT
"""From the runs of guest_init to rows: raw values of every run, and figures per item.

Under TCG times are those of an emulator. They are kept, under another name, and no figure is made
of them.
"""

import statistics

COUNTS = ("voluntary_switches", "involuntary_switches", "futex_waits", "futex_wakes",
          "waits_spun", "waits_slept", "rescheduling_interrupts", "function_call_interrupts")
TIMES = ("seconds", "cpu_seconds", "consumer_cpu_seconds", "hog_cpu_seconds",
         "machine_cpu_seconds", "bound_seconds", "cache_line_round_trip_ns")

# Figure: unit, what is added up, by what it is multiplied; then divided by the items.
FIGURES_OF_COUNTS = {
    "interrupts_per_item": ("", ("rescheduling_interrupts", "function_call_interrupts"), 1),
    "futex_calls_per_item": ("", ("futex_waits", "futex_wakes"), 1),
    "switches_per_item": ("", ("voluntary_switches", "involuntary_switches"), 1),
    "slept_per_item": ("", ("waits_slept",), 1),
}
FIGURES_OF_TIMES = {
    "ns_per_item": ("ns", ("seconds",), 1e9),
    "cpu_us_per_item": ("us", ("cpu_seconds",), 1e6),
    "waiter_cpu_us_per_item": ("us", ("consumer_cpu_seconds",), 1e6),
}
REASONS = {
    "futex_calls_per_item": "only libipcwait's semaphores count their calls",
    "slept_per_item": "only libipcwait's semaphores count it",
    "interrupts_per_item": "/proc/interrupts has no RES or CAL line",
}
NO_IDLE_STATES = "not available: no cpuidle driver is active, and the kernel counts no idle states"


def _raw(head, document, keys):
    run = document["rows"][0]["runs"][0] if document else {}
    return {"round": head["round"], **{key: run.get(key) for key in keys}}


def kept(values):
    """From four runs on without the first and the last, as everywhere in bench/."""
    return values[1:-1] if len(values) > 3 else values


def _figure(name, unit, values):
    if not values or any(v is None for v in values):
        why = REASONS.get(name, "not reported") if values else "no run succeeded"
        return {"unit": unit, "values": None, "reason": f"not available: {why}"}
    used = kept(values)
    return {"unit": unit, "values": values, "kept": used, "median": statistics.median(used),
            "low": min(used), "high": max(used)}


def _figures(table, runs, items):
    def value(run, parts, factor):
        found = [run[part] for part in parts]
        return None if None in found else sum(found) * factor / items
    return {name: _figure(name, unit, [value(run, parts, factor) for run in runs])
            for name, (unit, parts, factor) in table.items()}


def _interrupts(heads):
    """Of whole processes, their start and their calibration with them."""
    found = {}
    for label in ("RES", "CAL", "LOC"):
        values = [head["interrupts"][label] for head in heads]
        found[label] = None if None in values else sum(values)
    return found


def _idle_states(heads, timed):
    """Sums over the runs, or None where the kernel counts nothing."""
    if not heads or any(head["idle_states"] is None for head in heads):
        return None
    sums = {}
    for state in (state for head in heads for state in head["idle_states"]):
        entry = sums.setdefault((state["cpu"], state["state"]), {**state, "usage": 0, "time_us": 0,
                                                                 "above": 0, "below": 0})
        for key in ("usage", "time_us", "above", "below"):
            entry[key] += state[key]
    wall_us = sum(head["wall_s"] for head in heads) * 1e6
    for entry in sums.values():
        if timed:
            entry["share"] = entry["time_us"] / wall_us if wall_us else None
        else:
            del entry["time_us"]
    return list(sums.values())


def _times(good, items, counts_only):
    runs = [{**_raw(head, document, TIMES), "wall_s": head["wall_s"]} for head, document in good]
    if counts_only:
        return {"times_under_tcg": {"runs": runs}}
    return {"times": {"runs": runs, **_figures(FIGURES_OF_TIMES, runs, items)}}


def row(name, runs, items, counts_only):
    """One row from its [(head, document)] in the order of the rounds."""
    good = [(head, document) for head, document in runs if document and not head.get("error")]
    bad = [(head, document) for head, document in runs if not document or head.get("error")]
    counts = [_raw(head, document, COUNTS) for head, document in good]
    heads = [head for head, _ in good]
    made = {"row": name, "what": good[0][1]["rows"][0]["what"] if good else None, "items": items,
            "runs": counts, **_figures(FIGURES_OF_COUNTS, counts, items),
            "interrupts": _interrupts(heads), "idle_states": _idle_states(heads, not counts_only),
            "context_switches": sum(head["context_switches"] or 0 for head in heads),
            **_times(good, items, counts_only)}
    cut = [head["idle_states_cut"] for head in heads if head.get("idle_states_cut")]
    if made["idle_states"] is None:
        made["idle_states_reason"] = NO_IDLE_STATES
    elif cut:
        made["idle_states_cut"] = cut[0]
    if bad:
        why = bad[0][0].get("error") or "no result"
        made["error"] = f"{len(bad)} of {len(runs)} runs: {why}"
    return made


def rows(stream, names, items, counts_only):
    """All rows of a guest, those without any line left out: the guest's error tells why."""
    found = {name: [] for name in names}
    for head, document in stream.of_kind("run"):
        found.setdefault(head["row"], []).append((head, document))
    return [row(name, runs, items, counts_only) for name, runs in found.items() if runs]
