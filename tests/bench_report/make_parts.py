# SPDX-License-Identifier: MIT
"""The parts of a made-up result that are no benchmarks: scoreboard, guests, hosts, idle states."""

import copy
import random
import statistics

SEED_ROWS = {"1 Linux VM": "22 s, 150 % CPU, 280 k IPIs", "2 Jiny VM": "9 s, 200 % CPU",
             "3 Linux on metal": "9.2 s", "4 row 1 with a hog": "12 s"}


def sem_test_run(chance, i, seconds, cpu, interrupts, futexes):
    luck = 1 + chance.uniform(-0.06, 0.06)
    return {"kept": 0 < i < 4, "seconds": seconds * luck, "cpu_seconds": cpu * luck,
            "voluntary_switches": 99000, "rescheduling_interrupts": 10,
            "function_call_interrupts": round(interrupts * luck), "futex_waits": futexes,
            "futex_wakes": futexes}


def sem_test():
    """As the scoreboard keeps the runs of examples/sem_test, with some of its rows."""
    chance = random.Random(2)
    rows = {}
    for name, numbers in (("glibc", (18.3, 13.9, 787000, None)), ("ipcwait", (0.9, 1.76, 510, 586)),
                          ("hog", (1.5, 1.9, 3000, None))):
        rows[name] = [sem_test_run(chance, i, *numbers) for i in range(5)]
    return {"items": 800000, "loops": 2000, "metal": False, "environment": {}, "rows": rows}


def scoreboard():
    return [
        {"id": "I-2", "title": "the semaphore test's four rows", "seed": dict(SEED_ROWS),
         "ours": {"glibc": "22.9 us/item", "ipcwait": "1.12 us/item"}, "peers": {"spin": "1.1 us"},
         "unit": "us per item", "same_direction": True, "state": "measured", "why": None,
         "claim": "spinning beats sleeping in a guest", "raw": sem_test()},
        {"id": "I-4", "title": "interrupts per item", "seed": {"Linux VM": 0.35},
         "ours": {"glibc": 0.98, "ipcwait": 0.0006}, "peers": None, "unit": "per item",
         "same_direction": True, "state": "measured", "why": None, "raw": {"RES": [1, 2, 3]}},
        {"id": "G-3", "title": "channel program", "seed": {"Linux": "90 s"}, "ours": None,
         "peers": {"Go": "0.31 us/message"}, "unit": "", "same_direction": None,
         "state": "not yet in libipcwait", "why": "no channel", "raw": {"go": [0.3, 0.31]}},
        {"id": "M-6", "title": "cost of system calls", "seed": None, "ours": None, "peers": None,
         "unit": "", "same_direction": None, "state": "measured", "why": None,
         "columns": ["call", "calls", "errors", "total ms", "avg ms"],
         "lines": [["futex", 31960, 922, 2780.5, 0.087], ["write", 37, 0, 0.2, 0.005]]},
        {"id": "M-1", "title": "power", "seed": {"server": "230 W"}, "ours": None, "peers": None,
         "unit": "W", "same_direction": None, "state": "not available", "why": "no powercap here"},
    ]


def figure(values, unit=""):
    kept = values[1:-1]
    return {"unit": unit, "values": values, "kept": kept, "median": statistics.median(kept),
            "low": min(kept), "high": max(kept)}


def not_counted():
    return {"unit": "", "values": None, "reason": "not available: only libipcwait counts it"}


def guest_row(name, time, interrupts, timed):
    row = {"row": name, "what": name, "items": 60000, "runs": [],
           "interrupts_per_item": figure([interrupts * f for f in (1.1, 1, 0.98, 1.02, 1.3)]),
           "futex_calls_per_item": figure([0.01] * 5) if name == "ipcwait" else not_counted()}
    times = {"ns_per_item": figure([time * f for f in (0.7, 1, 0.95, 1.1, 1.4)], "ns"),
             "cpu_us_per_item": figure([time * f / 800 for f in (1, 1, 1.1, 0.9, 1)], "us")}
    row.update({"times": times} if timed else {"times_under_tcg": {"runs": []}})
    return row


def guests():
    common = {"vcpus": 2, "idle": "default"}
    emulated = [guest_row(n, 1, i, False) for n, i in (("glibc", 0.99), ("ipcwait", 0.01))]
    real = [guest_row(n, t, i, True) for n, t, i in
            (("glibc", 21e3, 0.97), ("ipcwait", 1.2e3, 0.002), ("block", 20e3, 0.99))]
    return [{"label": "host, 2 CPUs", "accel": "none", "counts_only": False, "rows": real,
             **common},
            {"label": "guest, idle=poll, 2 vCPUs", "accel": "tcg", "counts_only": True,
             "vcpus": 2, "idle": "idle=poll", "rows": emulated, "ignored": "ignored by the kernel: "
             "its log does not mention polling idle threads"},
            {"label": "guest, haltpoll, 2 vCPUs", "accel": "tcg", "counts_only": True,
             "vcpus": 2, "idle": "haltpoll", "error": "no line for 60 s; last: Booting from ROM"}]


def idle_states(cpus):
    return [{"cpu": cpu, "state": i, "name": name, "usage": 1000 * (i + 1), "time_us": 5000000,
             "above": 3, "below": 4, "share": share / (1 + 0.05 * cpu)}
            for cpu in range(cpus)
            for i, (name, share) in enumerate((("POLL", 0.08), ("C1", 0.22), ("C6", 0.4)))]


def hosts(own):
    """The run itself, and a machine on which everything takes two thirds of the time."""
    keys = ("environment", "method", "verdict", "summary", "guests", "idle_states")
    here = {"label": "this guest", "seed": scoreboard(), **{k: own[k] for k in keys}}
    metal = {**copy.deepcopy(here), "label": "metal, 16 CPUs"}
    for entry in metal["summary"]:
        for key in ("values", "kept"):
            entry[key] = [v * 2 / 3 for v in entry.get(key, [])]
        for key in ("median", "low", "high"):
            if key in entry:
                entry[key] *= 2 / 3
    return [here, metal]
