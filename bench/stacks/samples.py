# SPDX-License-Identifier: MIT
"""Stacks with how often each was seen, and where they come from.

A stack is a tuple of function names, the outermost first. Stacks of different threads are kept
apart: the key of `counts` is (thread, stack), and a thread is "name-process/thread" as in
"sem_test-4839/4841", with "?" for a number that is not known, or "" if nothing is.
"""
import fnmatch
import re
from typing import Dict, List, NamedTuple, Tuple

from .errors import Refused

THREAD = re.compile(r"(?P<name>.+)-(?P<process>\d+|\?)/(?P<thread>\d+|\?)", re.S)


# Versions of shared libraries' functions, and glibc's names for its own use of its functions.
VERSION = re.compile(r"@@?(?!plt$)[A-Za-z_][\w.]*$")
ALIAS = "__GI_"


class Profile(NamedTuple):
    source: str                                     # the file, for messages
    counts: Dict[Tuple[str, Tuple[str, ...]], int]
    notes: List[str]                                # what the reader should know, a line each


def usual_name(name):
    """The same for a function, whoever found its name."""
    return VERSION.sub("", name).removeprefix(ALIAS)


def add(counts, thread, stack, count):
    key = (thread, tuple(stack))
    counts[key] = counts.get(key, 0) + count


def total(profile):
    return sum(profile.counts.values())


def by_stack(profile):
    """{stack: count}, the threads together."""
    merged = {}
    for (_, stack), count in profile.counts.items():
        merged[stack] = merged.get(stack, 0) + count
    return merged


def by_thread(profile):
    """{thread: count}"""
    merged = {}
    for (thread, _), count in profile.counts.items():
        merged[thread] = merged.get(thread, 0) + count
    return merged


def wanted(label, thread, process):
    m = THREAD.fullmatch(label)
    if thread is not None and not any(fnmatch.fnmatchcase(part, thread)
                                      for part in (label, m["name"], m["thread"])):
        return False
    return process is None or fnmatch.fnmatchcase(m["process"], process)


def only(profile, thread=None, process=None):
    """What the threads with that name or number did, or those of that process.

    Both may have the wildcards of a shell.
    """
    if thread is None and process is None:
        return profile
    labels = [label for label in by_thread(profile) if label]
    if not labels:
        raise Refused(f"{profile.source}: does not say which thread a stack is of")
    chosen = {label for label in labels if wanted(label, thread, process)}
    if not chosen:
        raise Refused(f"{profile.source}: no thread matches "
                      f"{thread if thread is not None else process}; there are "
                      + ", ".join(sorted(labels)[:5]))
    counts = {key: count for key, count in profile.counts.items() if key[0] in chosen}
    return profile._replace(counts=counts)
