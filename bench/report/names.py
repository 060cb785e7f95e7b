# SPDX-License-Identifier: MIT
"""Names of benchmarks: a question, then dimensions "key:value" between slashes."""

import re

UNITS_NS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
TWIN = "-again"  # the same implementation a second time: what it differs by is noise
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


def sort_key(text):
    """Sorts durations and numbers by size, and other text after them."""
    size = duration_ns(text)
    return (size is None, size or 0.0, text)
