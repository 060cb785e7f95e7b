# SPDX-License-Identifier: MIT
"""What is run, in which order, and for how long."""

import re

from . import names
from .errors import refused, shown

# Benchmarks of --quick: one pattern a line, looked for in the whole name. A name is in if one
# matches and none of LEFT_OUT does. --list --quick prints them.
QUICK = (
    r"^uncontended/",
    r"^handoff/.*/wait:(0|5us|50us|1ms)$",
    r"^contention/.*/threads:(2|4)/section:(0|1us)/think:0$",
    r"^oversubscription/.*/threads_per_cpu:(1|4)$",
    r"^wake/.*/idle:(10us|1ms)$",
    r"^pareto/",
    r"^pairs/",
    r"^condvar/op:(pingpong|broadcast/.*waiters:4$)",
    r"^(mutex|rwlock|queue|channel|barrier|event)/",
)

# Peers that are left to --full.
LEFT_OUT = (
    r"^(?!queue|channel).*/impl:(ck|tas|tbb|moodycamel|cxx20|glibc-cond|glibc-rwlock)[^/]*(/|$)",
    r"^(uncontended|handoff|contention|oversubscription|starvation)/.*impl:ipcwait-",
    r"^(handoff|oversubscription/kind:sem)/impl:abseil/",
)

# CPUs between which the suite "pairs" is run. There are n (n - 1) pairs of each kind: 24 rows, and
# 480. The program lists no more than 16 CPUs of large machines either.
PAIR = re.compile(r"^pairs/.*/from:([0-9]{1,6})/to:([0-9]{1,6})$")
PAIRED_CPUS_MOST = {"quick": 4, "full": 16}

# Seconds for everything in the list, with five runs: what the time for a run follows from, as long
# as that is within MIN_TIME_S. What is not built takes no time, so it is rather less.
BUDGET_S = {"quick": 170, "full": 2400}
RUNS = 5

# Shorter runs are all start-up, longer ones add nothing.
MIN_TIME_S = {"quick": (0.02, 0.5), "full": (0.05, 1.0)}

# A process with a minimum time of t takes about this long: Google Benchmark tries with fewer
# iterations first, and measures up to 1.4 t.
START_S, TIMES_MIN_TIME = 0.04, 1.9


def in_quick(name):
    return (any(re.search(p, name) for p in QUICK)
            and not any(re.search(p, name) for p in LEFT_OUT))


def pattern(text):
    try:
        return re.compile(text or "")
    except (re.error, RecursionError, OverflowError) as e:
        raise refused(f"--filter: {shown(text)!r} is no regular expression: {shown(e)}") from e


def check_suites(wanted, listed):
    for suite in wanted:
        if not any(names.belongs(name, suite) for name in listed):
            known = " ".join(names.suites(listed))
            raise refused(f"unknown suite {shown(suite)!r}; there are: {known} all")


def paired_cpus(listed):
    return sorted({int(cpu) for m in map(PAIR.match, listed) if m for cpu in m.groups()})


def without_far_pairs(listed, most):
    """Pairs of at most @most CPUs, evenly chosen as in bench/grid/pairs.c, and all else."""
    cpus = paired_cpus(listed)
    n = min(len(cpus), most)
    kept = {cpus[i * len(cpus) // n] for i in range(n)}
    return [name for name in listed
            if not (m := PAIR.match(name)) or {int(cpu) for cpu in m.groups()} <= kept]


def pairs_note(chosen_names, listed):
    """A line for the plan, as nobody asked for so many benchmarks."""
    rows = [name for name in chosen_names if PAIR.match(name)]
    cpus = paired_cpus(rows)
    more = len(cpus) < len(paired_cpus(listed)) or any("/from:others/" in n for n in listed)
    if len(cpus) < 3:
        return []
    return [f"{len(rows)} of them are pairs of {len(cpus)} CPUs"
            + (", evenly chosen" if more else "")]


def of_size(listed, full):
    most = PAIRED_CPUS_MOST["full" if full else "quick"]
    return [name for name in without_far_pairs(listed, most) if full or in_quick(name)]


def chosen(listed, wanted, full, regex):
    """Names to run. A suite of which --quick has nothing is run as a whole."""
    check_suites(wanted, listed)
    sized = of_size(listed, full)
    found = []
    for suite in wanted or ["all"]:
        found += ([n for n in sized if names.belongs(n, suite)]
                  or [n for n in listed if names.belongs(n, suite)])
    found = set(n for n in found if pattern(regex).search(n))
    if not found:
        raise refused(f"no benchmark is left by --filter {shown(regex)!r}")
    return [n for n in listed if n in found]


def run_s(min_time_s):
    """Seconds of one run, before anything is known about it."""
    return START_S + TIMES_MIN_TIME * min_time_s


def min_time(listed, full):
    """From the whole list, so that a part of it is measured as it is within the whole."""
    size = "full" if full else "quick"
    runs = RUNS * max(1, len(of_size(listed, full)))
    seconds = (BUDGET_S[size] / runs - START_S) / TIMES_MIN_TIME
    least, most = MIN_TIME_S[size]
    return round(min(most, max(least, seconds)), 3)


def cells(chosen_names):
    """Variants of the same question next to each other."""
    found = {}
    for name in chosen_names:
        found.setdefault(names.cell(name), []).append(name)
    return list(found.values())


def order(chosen_names, round_number):
    """Of one round. Each variant is first in its cell once before any is again, and every second
    round goes backwards: else each would always run after the same one."""
    sequence = []
    for cell in cells(chosen_names):
        step = -1 if round_number % 2 else 1
        sequence += [cell[(round_number + i * step) % len(cell)] for i in range(len(cell))]
    return sequence
