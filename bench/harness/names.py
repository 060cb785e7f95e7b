# SPDX-License-Identifier: MIT
"""Names of benchmarks: <question>/<key>:<value>/..., and what they say."""

import re

# Google Benchmark appends these; they are no dimensions.
SUFFIXES = ("/process_time", "/manual_time", "/real_time")

# The same implementation once more: what differs between the two is noise.
TWIN = "-again"


def plain(name):
    """Without what Google Benchmark appends."""
    while name.endswith(SUFFIXES):
        name = name.rpartition("/")[0]
    return name


def question(name):
    return name.split("/", 1)[0]


def impl(name):
    """The implementation, None where the name has none."""
    for part in name.split("/")[1:]:
        if part.startswith("impl:"):
            return part[len("impl:"):]
    return None


def cell(name):
    """What variants have in common: the name without the implementation."""
    return "/".join(p for p in name.split("/") if not p.startswith("impl:"))


def group(name):
    """A question and an implementation."""
    own = impl(name)
    return question(name) if own is None else f"{question(name)}/impl:{own}"


def exactly(name):
    """A pattern for --benchmark_filter that matches this name only."""
    return "^" + re.sub(r"([][().*+?^$|\\{}])", r"\\\1", name) + "$"


def belongs(name, suite):
    return suite == "all" or name == suite or name.startswith(suite + "/")


def suites(listed):
    """First components, in the order of the program's list."""
    return list(dict.fromkeys(map(question, listed)))
