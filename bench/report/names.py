# SPDX-License-Identifier: MIT
"""Names of benchmarks: a question, then dimensions "key:value" between slashes."""

import re

from . import show

UNITS_NS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
WORD = 24       # characters of a dimension's name or value in a sentence
TWIN = "-again"  # the same implementation a second time: what it differs by is noise
# What stands behind a dimension's value, and dimensions whose value says enough.
AFTER = {"threads": "thread%s", "threads_per_cpu": "thread%s per CPU", "waiters": "waiter%s",
         "producers": "producer%s", "consumers": "consumer%s", "workers": "worker%s"}
ALONE = {"op": {"sem": "semaphore"}, "kind": {"sem": "semaphores", "lock": "locks"}}
OWN = "own"  # the budget of an implementation that decides for itself
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s|)")


def split(name):
    """Question and dimensions. What has no colon says how Google Benchmark measured: ignored."""
    question, *parts = name.split("/")
    return question, dict(part.split(":", 1) for part in parts if ":" in part)


def duration_ns(text):
    """None if @text is no duration."""
    m = DURATION.fullmatch(text)
    return float(m[1]) * UNITS_NS[m[2]] if m else None


def number(text):
    """None if @text is no plain number."""
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else None


def is_twin(impl):
    return impl.endswith(TWIN)


def without(dims, *keys):
    """The dimensions as text, but for @keys: what a group of variants has in common."""
    return " ".join(f"{k}:{v}" for k, v in dims.items() if k not in keys)


def word(key, value):
    if key in AFTER:
        return f"{show.short(value, WORD)} " + AFTER[key] % ("" if value == "1" else "s")
    if key in ALONE:
        return show.short(ALONE[key].get(value, value), WORD)
    return f"{show.short(key, WORD)} {show.short(value, WORD)}"


def words(dims):
    """The dimensions as a person says them: "4 threads, section 1us"."""
    return ", ".join(word(k, v) for k, v in dims.items() if (k, v) != ("budget", OWN))


def sort_key(text):
    """Sorts durations and numbers by size, and other text after them."""
    size = duration_ns(text)
    return (size is None, size or 0.0, text)
