# SPDX-License-Identifier: MIT
"""Is a JSON object a result of scripts/bench that the other parts can work with?

Files come from other hosts and other versions; what is wrong is said in one line.
"""

from . import store
from .errors import refused, shown
from .summary import is_number

OTHER_PROGRAMS = ("wait_bench", "sem_test", "policy_sim")


def no_result(path, why):
    return refused(f"{shown(path)} is no result of scripts/bench: {why}")


def text(value):
    return isinstance(value, str)


def optional(check):
    return lambda value: value is None or check(value)


def numbers(value):
    return isinstance(value, list) and all(map(is_number, value))


def runs_values(value):
    """A run that does not have the figure has null in its place."""
    return isinstance(value, list) and all(v is None or is_number(v) for v in value)


def flag(value):
    return isinstance(value, bool)


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9


def a_dict(value):
    return isinstance(value, dict)


def list_of(check):
    return lambda value: isinstance(value, list) and all(map(check, value))


def having(keys, needed=()):
    """A dictionary in which those of @keys that are there are good, and @needed are there."""
    return lambda value: (isinstance(value, dict) and all(k in value for k in needed)
                          and all(good(value[k]) for k, good in keys.items() if k in value))


COUNTER = optional(is_number)

# Of "runs"; all of it is needed to go on with a result.
RUN = {"name": text, "round": whole, "used": flag, "noisy": flag, "wall_s": is_number,
       "other_cpus": COUNTER, "steal_cpus": COUNTER}

# Of "benchmarks", also of plain Google Benchmark output.
ROW = {"name": text, "run_name": text, "repetition_index": whole, "error_occurred": flag,
       "error_message": text}

IDLE = {"cpu": whole, "state": whole, "usage": COUNTER, "time_us": COUNTER, "above": COUNTER,
        "below": COUNTER, "share": COUNTER}

NOISE = having({"wall_s": is_number, "other_cpus": COUNTER, "steal_cpus": COUNTER},
               ("wall_s", "other_cpus", "steal_cpus"))

# Of the scoreboard, and of the guests, as far as they are looked at here.
BOARD = {"id": text, "state": text, "why": optional(text), "raw": optional(a_dict),
         "lines": optional(list_of(lambda line: isinstance(line, list))), "noise": NOISE}
GUEST = {"label": text, "error": optional(text), "noise": NOISE}
HOST = {"label": text, "environment": optional(a_dict), "verdict": optional(a_dict),
        "complete": optional(flag), "noisy": flag, "summary": lambda v: isinstance(v, list)}

is_board = list_of(having(BOARD, ("id",)))
HOST["seed"] = optional(is_board)

# Key, what it must be, and whether it may be missing.
PARTS = (
    ("suite", text, False),
    ("environment", a_dict, False),
    ("method", a_dict, False),
    ("runs", list_of(having(RUN, ("name", "round"))), False),
    ("summary", lambda v: isinstance(v, list), False),
    ("verdict", a_dict, False),
    ("complete", flag, False),
    ("measured_s", optional(is_number), True),
    ("seed", optional(is_board), True),
    ("idle_states", optional(list_of(having(IDLE, IDLE.keys() - {"share"}))), True),
    ("hosts", optional(list_of(having(HOST, ("label", "summary")))), True),
    ("guests", optional(list_of(having(GUEST, ("label",)))), True),
)


def fits(entry):
    """Are the runs that are kept some of all, and is the median among them?"""
    kept, values = entry["kept"], entry["values"]
    return all(v in values for v in kept) and min(kept) <= entry["median"] <= max(kept)


def check_entry(path, entry):
    """Of the summary."""
    if not isinstance(entry, dict) or not text(entry.get("name")):
        raise no_result(path, "an entry of its summary has no name")
    name = shown(entry["name"])
    if "error" in entry:
        if not text(entry["error"]):
            raise no_result(path, f"the error of {name} is no text")
        return
    good = (text(entry.get("metric")) and runs_values(entry.get("values"))
            and numbers(entry.get("kept")) and entry["kept"] and is_number(entry.get("median")))
    if not good or not fits(entry) or not all(COUNTER(entry.get(k)) for k in ("low", "high")):
        raise no_result(path, f"the summary of {name} is damaged")


def check_method(path, method):
    runs = method.get("runs")
    if method.get("trim") not in ("order", "rank") or not whole(runs) or not runs:
        raise no_result(path, "its method is damaged")


def check_rows(path, rows):
    """Of Google Benchmark."""
    if not isinstance(rows, list):
        raise no_result(path, "its benchmarks are no list")
    for row in rows:
        if not isinstance(row, dict) or not text(row.get("name")):
            raise no_result(path, "a row has no name")
        if not having(ROW)(row):
            raise no_result(path, f"the row of {shown(row['name'])} is damaged")


def check_format(path, found):
    own = found.get("ipcwait")
    if not isinstance(own, dict):
        if "summary_of" in found:
            raise no_result(path, "it is a summary, and has no runs")
        program = found.get("program")
        if program in OTHER_PROGRAMS:
            raise no_result(path, f"it is one of {program}")
        raise no_result(path, "it has no part \"ipcwait\"")
    number = own.get("format")
    if isinstance(number, bool) or not isinstance(number, int):
        raise no_result(path, "it does not say its format")
    if number != store.FORMAT:
        age = "newer" if number > store.FORMAT else "older"
        raise no_result(path, f"format {number} is {age} than {store.FORMAT}, the one known here")
    return own


def result(path):
    """Load and check a result file."""
    found = store.load_json(path)
    own = check_format(path, found)
    for key, good, may_miss in PARTS:
        if key not in own and may_miss:
            continue
        if not good(own.get(key)):
            raise no_result(path, f"its \"{key}\" is missing or damaged")
    check_method(path, own["method"])
    check_rows(path, found.get("benchmarks"))
    for entry in own["summary"] + [e for h in own.get("hosts") or [] for e in h["summary"]]:
        check_entry(path, entry)
    return found


def is_google_benchmark(found):
    """Plain output of a program on Google Benchmark."""
    return ("ipcwait" not in found and isinstance(found.get("context"), dict)
            and isinstance(found.get("benchmarks"), list) and found["benchmarks"]
            and all(isinstance(r, dict) and text(r.get("name")) for r in found["benchmarks"]))
