# SPDX-License-Identifier: MIT
"""Makes a result such as scripts/bench writes, from a simple model of a machine and a fixed seed.

The figures are plausible, not measured: they are here to test reports with, and to look at.

    python3 tests/bench_report/make_result.py [--cpus N] [--noisy] > result.json
"""

import argparse
import json
import math
import random
import statistics
import sys

from make_parts import guests, hosts, idle_states, scoreboard

RUNS = 5
B_NS = 25e3

WAITS = {"0": 0, "500ns": 500, "2us": 2e3, "5us": 5e3, "20us": 2e4, "50us": 5e4, "100us": 1e5,
         "500us": 5e5, "1ms": 1e6, "10ms": 1e7}

# Name: ns it spins before it sleeps, and what it costs more than the cheapest, as a factor.
SEMS = {"ipcwait": (B_NS, 1.05), "glibc": (0, 1.0), "glibc-again": (0, 1.0), "spin": (1e12, 1.0),
        "block": (0, 0.95), "nsync": (2e3, 1.1), "abseil": (1.5e3, 1.2), "cxx20": (4e3, 1.15),
        "moodycamel": (1e4, 1.1), "tbb": (8e2, 1.6), "ipcwait-latency": (2e5, 1.0),
        "ipcwait-spin": (1e12, 1.1), "ipcwait-block": (0, 1.02)}
LOCKS = {"glibc": 1.0, "glibc-adaptive": 0.8, "nsync": 0.9, "abseil": 0.75, "tbb": 1.3,
         "tas": 0.7, "ck-mcs": 1.1}
AGES = {"10us": 1, "100us": 1.3, "1ms": 2.2, "10ms": 4.5}

ENVIRONMENT = {
    "program": "ipcwait info", "format": 1,
    "library": {"libipcwait_version": "0.1.0", "glibc_version": "2.36"},
    "machine": {"cpu_model": "AMD EPYC", "architecture": "x86_64", "cpus_online": 2,
                "cpus_usable": 2, "quota_cpus": None, "quota_cpus_reason": "no limit",
                "hypervisor": "KVM", "product": None, "product_reason": "nothing names it"},
    "idle": {"idle_driver": "haltpoll", "guest_halt_poll_ns": 0,
             "idle_states": [{"name": "POLL", "exit_us": 0}, {"name": "haltpoll", "exit_us": 1}]},
    "kernel": {"kernel_release": "6.18.44", "clocksource": "tsc",
               "vulnerable": ["spec_store_bypass"]},
    "git": "v0.1-42-gabc1234", "host_label": "2 CPUs, x86_64, guest"}


class Maker:
    """Collects rows, runs and the summary of a made-up run of the suites."""

    def __init__(self, cpus, noisy):
        self.cpus, self.noisy = cpus, noisy
        self.random = random.Random(1)
        self.benchmarks, self.runs, self.summary = [], [], []
        self.pending, self.start_s = [], 0.0

    def luck(self, size=0.06):
        return math.exp(self.random.gauss(0, size))

    def error(self, name, why):
        self.summary.append({"name": name, "error": why})
        self.benchmarks.append({"name": name, "run_name": name, "repetition_index": 0,
                                "repetitions": RUNS, "error_occurred": True, "error_message": why})

    def add(self, name, metrics, spread=0.06, histogram=None):
        """@metrics: {name: true value}; each run has its own luck, the same for all metrics."""
        rounds = []
        for _ in range(RUNS):
            luck = self.luck(spread)
            rounds.append({k: v if k.endswith("_share") else v * luck * self.luck(0.01)
                           for k, v in metrics.items()})
        for metric in metrics:
            values = [r[metric] for r in rounds]
            kept = values[1:-1]
            unit = "ns" if metric.endswith(("_ns", "_time")) else ""
            self.summary.append({"name": name, "metric": metric, "unit": unit, "values": values,
                                 "kept": kept, "median": statistics.median(kept),
                                 "low": min(kept) * 0.97, "high": max(kept) * 1.03})
        self.pending.append((name, rounds, histogram))

    def run_row(self, name, number, metrics, histogram):
        noisy = self.random.random() < (0.9 if self.noisy else 0.03)
        self.start_s += 0.4
        self.benchmarks.append({"name": name, "run_name": name, "run_type": "iteration",
                                "repetition_index": number, "repetitions": RUNS, "iterations": 1000,
                                "time_unit": "ns", **metrics})
        self.runs.append({"name": name, "round": number, "attempt": 0, "used": True,
                          "start_s": round(self.start_s, 3), "wall_s": 0.35, "own_cpu_s": 0.5,
                          "other_cpus": 0.3 if noisy else 0.01, "steal_cpus": 0.0,
                          "involuntary_per_s": 1.0, "noisy": noisy,
                          "noise_reason": "others used 0.30 CPUs" if noisy else None,
                          "interrupts": {"RES": 10, "CAL": 200, "LOC": 90},
                          "histograms": {"latency": histogram()} if histogram else {}})

    def finish_runs(self):
        for number in range(RUNS):
            for name, rounds, histogram in self.pending:
                self.run_row(name, number, rounds[number], histogram)


def handoff(make):
    for impl, (window, factor) in SEMS.items():
        for wait, ns in WAITS.items():
            slept = ns > window
            wake = 12e3 * (1 + 0.5 * math.log10(1 + ns / 1e4)) * factor
            latency = wake if slept else 65 * factor * (1 + ns / 3e6)
            cpu = min(ns, window) + (9e3 * factor if slept else 150)
            metrics = {"real_time": ns + latency + 250, "cpu_time": ns + cpu + 250,
                       "latency_p50_ns": latency, "latency_mean_ns": latency * 1.1,
                       "latency_p99_ns": latency * 4, "waiter_cpu_ns": cpu}
            if impl.startswith("ipcwait"):
                metrics.update(spun_share=0.97 * (not slept), slept_share=0.99 * slept)
            make.add(f"handoff/impl:{impl}/wait:{wait}", metrics)
    make.error("handoff/impl:ck/wait:2us", "not built: libck-dev")


def uncontended(make):
    for impl, (_, factor) in SEMS.items():
        make.add(f"uncontended/op:sem/impl:{impl}",
                 {"real_time": 14 * factor, "cpu_time": 14}, 0.02)
    for impl, factor in LOCKS.items():
        make.add(f"uncontended/op:lock/impl:{impl}",
                 {"real_time": 11 * factor, "cpu_time": 11}, 0.02)
    make.error("uncontended/op:lock/impl:ipcwait", "not yet in libipcwait: mutex")


def contention(make):
    for impl, factor in LOCKS.items():
        for threads in (1, 2, 4, 16):
            for section, ns in (("0", 0), ("100ns", 100), ("1us", 1e3), ("10us", 1e4)):
                for think in ("0", "equal"):
                    crowd = factor ** (1 if threads <= make.cpus else -3)
                    time = ns + 40 * crowd * threads ** 0.7 + (think == "equal") * 7
                    make.add(f"contention/impl:{impl}/threads:{threads}/section:{section}/"
                             f"think:{think}", {"real_time": time, "cpu_time": time * 2})
    make.error("contention/impl:ipcwait/threads:2/section:0/think:0",
               "not yet in libipcwait: mutex")


def oversubscription(make):
    for kind, impls in (("sem", SEMS), ("lock", LOCKS)):
        for impl in list(impls)[:9]:
            for ratio in ("0.5", "1", "2", "4", "8"):
                more = max(1.0, float(ratio)) ** (1.8 if impl in ("spin", "tas") else 0.15)
                make.add(f"oversubscription/kind:{kind}/impl:{impl}/threads_per_cpu:{ratio}",
                         {"real_time": 2e3 * more, "cpu_time": 4e3 * more,
                          "latency_p99_ns": 9e3 * more ** 2})


def wake_histogram(make, slept):
    def histogram():
        counts = {}
        for _ in range(1500):
            mode = make.random.choice((4e3, 11e3, 11e3, 30e3)) * slept
            value = int(mode * make.luck(0.25)) + (make.random.random() < 0.002) * 400000
            low = value // 256 * 256
            counts[low] = counts.get(low, 0) + 1
        return {"unit": "ns", "buckets": [[k, k + 255, counts[k]] for k in sorted(counts)]}

    return histogram


def wake(make):
    for impl, factor in (("futex", 1.0), ("glibc", 1.05), ("ipcwait-block", 1.03)):
        for age, slept in AGES.items():
            middle = 11e3 * slept * factor
            make.add(f"wake/impl:{impl}/idle:{age}",
                     {"real_time": middle + 3e3, "cpu_time": 5e3, "latency_p50_ns": middle,
                      "latency_p90_ns": middle * 2.7, "latency_p99_ns": middle * 3.6,
                      "latency_p999_ns": middle * 12, "latency_max_ns": middle * 30},
                     0.06, wake_histogram(make, slept * factor))


def pareto(make):
    points = {"spin": (101e3, 70), "block": (11e3, 14e3), "glibc": (11.6e3, 14.6e3),
              "glibc-again": (11.5e3, 14.7e3), "fixed-1us": (11.2e3, 13e3),
              "fixed-5us": (12e3, 7.4e3), "fixed-20us": (18e3, 7.2e3), "fixed-50us": (32e3, 7.1e3),
              "fixed-200us": (93e3, 90), "ipcwait": (12.5e3, 6.9e3),
              "ipcwait-latency": (31e3, 6.4e3), "ipcwait-power": (10.6e3, 13e3)}
    for impl, (cpu, latency) in points.items():
        time = 101e3 + latency
        make.add(f"pareto/impl:{impl}",
                 {"real_time": time, "cpu_time": time + cpu, "latency_p50_ns": latency / 9,
                  "latency_mean_ns": latency, "latency_p99_ns": 5 * latency,
                  "waiter_cpu_ns": cpu}, 0.04)


def pairs(make):
    for kind, base in (("spin", 45.0), ("sleep", 2900.0)):
        for a in range(make.cpus):
            for b in range(make.cpus):
                if a != b:
                    far = 1 + (a // 2 != b // 2) + (a // 8 != b // 8) * 2.5
                    make.add(f"pairs/kind:{kind}/from:{a}/to:{b}",
                             {"real_time": base * far, "cpu_time": base * 2})


def parts_of_later(make):
    for op in ("pingpong", "broadcast/waiters:16"):
        for impl, factor in (("glibc", 1.0), ("nsync", 0.8), ("abseil", 1.1)):
            head, *rest = op.split("/")
            name = "/".join([f"condvar/op:{head}/impl:{impl}", *rest])
            make.add(name, {"real_time": 13e3 * factor, "cpu_time": 20e3, "latency_p99_ns": 4e4})
    for impl in ("ck", "tbb", "moodycamel", "boost"):
        make.add(f"queue/impl:{impl}/producers:1/consumers:1",
                 {"real_time": 40 * make.luck(0.4), "cpu_time": 90})
    make.error("queue/impl:ipcwait/producers:1/consumers:1", "not yet in libipcwait: queue")
    make.error("channel/impl:ipcwait/workers:50", "not yet in libipcwait: channel")


SUITES = (handoff, uncontended, contention, oversubscription, wake, pareto, pairs, parts_of_later)


def verdict(runs, noisy):
    disturbed = sum(r["noisy"] for r in runs)
    why = f"{disturbed} of {len(runs)} runs were disturbed, more than 20 %" if noisy else None
    return {"noisy": noisy, "noisy_runs": disturbed, "total_runs": len(runs), "why": why}


def result(cpus=2, noisy=False, suites=SUITES, extras=True):
    """The whole file. @extras: scoreboard, guests and idle states too."""
    make = Maker(cpus, noisy)
    for suite in suites:
        suite(make)
    make.finish_runs()
    own = {"format": 1, "suite": "quick", "command": ["scripts/bench", "--quick"],
           "started": "2026-11-21T12:00:00Z", "finished": "2026-11-21T12:03:10Z", "complete": True,
           "environment": ENVIRONMENT,
           "method": {"runs": RUNS, "trim": "order", "min_time_s": 0.1,
                      "order": "rotated in each round"},
           "runs": make.runs, "summary": make.summary, "seed": scoreboard() if extras else [],
           "idle_states": idle_states(cpus) if extras else None, "hosts": [],
           "guests": guests() if extras else [], "verdict": verdict(make.runs, noisy)}
    return {"context": {"num_cpus": cpus, "library_build_type": "release"},
            "benchmarks": make.benchmarks, "ipcwait": own}


def joined():
    """Two machines in one file."""
    base = result(suites=(handoff,), extras=False)
    base["ipcwait"]["hosts"] = hosts(base["ipcwait"])
    return base


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--noisy", action="store_true")
    parser.add_argument("--joined", action="store_true")
    o = parser.parse_args()
    json.dump(joined() if o.joined else result(o.cpus, o.noisy), sys.stdout)


if __name__ == "__main__":
    main()
