#!/usr/bin/env -S python3 -S
# SPDX-License-Identifier: MIT
"""Stands for ipcwait_bench in the tests: the same flags, figures from a formula.

FAKE is a JSON object in the environment:
  names    the list                              noise    relative deviation of the figures
  seed     of the chance                         log      a file that gets a line for each run
  crash, hang, garbage, sleep, silent            a pattern for names that do so
  errors   {pattern: message}                    stat     a /proc/stat that others' time is added to
  ticks    how many                              pid      a file for the number of a grandchild
"""
import json
import os
import random
import re
import signal
import sys
import time

CONFIG = json.loads(os.environ.get("FAKE", "{}"))
NAMES = CONFIG.get("names", ["handoff/impl:ipcwait/wait:5us"])


def flags():
    pairs = (a[2:].partition("=") for a in sys.argv[1:])
    return {key: value for key, _, value in pairs}


def is_to(key, name):
    return key in CONFIG and re.search(CONFIG[key], name) is not None


def slowed(name):
    switch = os.environ.get("IPCWAIT_BENCH_SLOW", "")
    what, _, percent = switch.partition(",")
    return 1 + float(percent) / 100 if switch and what in name else 1.0


def figure(name, run):
    """The same for the same name, with chance that depends on the number of the run."""
    base = 100 + 900 * random.Random(name.replace("-again", "")).random()
    chance = random.Random(f"{CONFIG.get('seed', 0)}/{name}/{run}")
    return base * slowed(name) * (1 + CONFIG.get("noise", 0.02) * chance.gauss(0, 1))


def run_number(name):
    """How often this benchmark was run before; adds this run to the log."""
    path = CONFIG.get("log")
    if not path:
        return 0
    with open(path, "a+", encoding="ascii") as f:
        f.seek(0)
        number = f.read().split("\n").count(name)
        f.write(name + "\n")
    return number


def disturb():
    """Another program's CPU time, in the fixture."""
    with open(CONFIG["stat"], "r+", encoding="ascii") as f:
        fields = f.read().split("\n")
        first = fields[0].split()
        first[1] = str(int(first[1]) + CONFIG.get("ticks", 100))
        fields[0] = "cpu  " + " ".join(first[1:])
        f.seek(0)
        f.write("\n".join(fields))


def misbehave(name):
    if is_to("crash", name):
        os.kill(os.getpid(), signal.SIGSEGV)
    if is_to("hang", name):
        child = os.fork()
        if child == 0:
            time.sleep(1000)
        # There with its text, or not there.
        with open(CONFIG["pid"] + ".new", "w", encoding="ascii") as f:
            f.write(str(child))
        os.rename(CONFIG["pid"] + ".new", CONFIG["pid"])
        time.sleep(1000)
    if is_to("garbage", name):
        print("{ no JSON")
        sys.exit(0)
    if is_to("sleep", name):
        time.sleep(0.2)


def row(name):
    found = {"name": name, "run_name": name, "family_index": 0, "per_family_instance_index": 0,
             "run_type": "iteration", "repetitions": 1, "repetition_index": 0, "threads": 1}
    for pattern, message in CONFIG.get("errors", {}).items():
        if re.search(pattern, name):
            return {**found, "error_occurred": True, "error_message": message, "iterations": 0,
                    "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}
    value = figure(name, run_number(name))
    return {**found, "iterations": 1000, "real_time": value, "cpu_time": value * 0.8,
            "time_unit": "ns", "latency_p50_ns": value / 2, "slept_share": 0.0}


def context():
    return {"date": "2026-01-01T00:00:00+00:00", "host_name": "secret",
            "executable": "/somewhere/fake", "num_cpus": 2, "mhz_per_cpu": 2000,
            "cpu_scaling_enabled": False, "caches": [], "load_avg": [0.1, 0.1, 0.1],
            "library_build_type": "release"}


def main():
    given = flags()
    if "benchmark_list_tests" in given:
        print("\n".join(NAMES))
        return 0
    chosen = [n for n in NAMES if re.search(given.get("benchmark_filter", "."), n)]
    if not chosen:
        print("Failed to match any benchmarks", file=sys.stderr)
        return 0
    rows = []
    for name in chosen:
        misbehave(name)
        rows.append(row(name))
        if "histograms" in given:
            with open(given["histograms"], "a", encoding="ascii") as f:
                print(json.dumps({"name": name, "histogram": "latency", "unit": "ns",
                                  "buckets": [[0, 10, 3], [10, 20, 5]]}), file=f)
    if "stat" in CONFIG:
        disturb()
    if not is_to("silent", chosen[0]):
        print(json.dumps({"context": context(), "benchmarks": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
