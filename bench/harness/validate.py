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


# Key, what it must be, and whether it may be missing.
PARTS = (
    ("suite", text, False),
    ("environment", lambda v: isinstance(v, dict), False),
    ("method", lambda v: isinstance(v, dict), False),
    ("runs", lambda v: isinstance(v, list), False),
    ("summary", lambda v: isinstance(v, list), False),
    ("verdict", lambda v: isinstance(v, dict), False),
    ("complete", lambda v: isinstance(v, bool), False),
    ("seed", optional(lambda v: isinstance(v, list)), True),
    ("idle_states", optional(lambda v: isinstance(v, list)), True),
    ("hosts", optional(lambda v: isinstance(v, list)), True),
    ("guests", optional(lambda v: isinstance(v, list)), True),
)


def check_entry(path, entry):
    """Of the summary."""
    if not isinstance(entry, dict) or not text(entry.get("name")):
        raise no_result(path, "an entry of its summary has no name")
    name = shown(entry["name"])
    if "error" in entry:
        if not text(entry["error"]):
            raise no_result(path, f"the error of {name} is no text")
        return
    good = (text(entry.get("metric")) and numbers(entry.get("values"))
            and numbers(entry.get("kept")) and entry["kept"] and is_number(entry.get("median")))
    if not good or not all(optional(is_number)(entry.get(k)) for k in ("low", "high")):
        raise no_result(path, f"the summary of {name} is damaged")


def check_method(path, method):
    runs = method.get("runs")
    whole = isinstance(runs, int) and not isinstance(runs, bool) and runs >= 1
    if method.get("trim") not in ("order", "rank") or not whole:
        raise no_result(path, "its method is damaged")


def check_rows(path, rows):
    if not isinstance(rows, list):
        raise no_result(path, "its benchmarks are no list")
    for row in rows:
        if not isinstance(row, dict) or not text(row.get("name")):
            raise no_result(path, "a row has no name")


def check_format(path, found):
    own = found.get("ipcwait")
    if not isinstance(own, dict):
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
    for entry in own["summary"]:
        check_entry(path, entry)
    return found


def is_google_benchmark(found):
    """Plain output of a program on Google Benchmark."""
    return ("ipcwait" not in found and isinstance(found.get("context"), dict)
            and isinstance(found.get("benchmarks"), list) and found["benchmarks"]
            and all(isinstance(r, dict) and text(r.get("name")) for r in found["benchmarks"]))
