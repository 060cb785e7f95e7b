# SPDX-License-Identifier: MIT
"""Does `ipcwait replay` foresee? A record made under one policy, against real runs under others.

    scripts/configure build-bench --buildtype=release -Dtests=disabled && ninja -C build-bench
    python3 bench/replay [BUILD] [ROUNDS]

docs/benchmarks/replay.md tells how it measures. Exit status: 0; 3 something is further off than 15 %.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 7
FAR = 0.15
WAITS = 20000
LENGTHS = {"short": (500, 4000), "mixed": (1000, 200000), "long": (50000, 400000)}
POLICIES = "adaptive", "spin", "block"
RECORDED = "adaptive"


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("IPCWAIT_")}
    return {**env, **more}


def stream(program, seed, lengths, **env):
    """ns for a wait: late, and CPU time of waiter and poster."""
    r = subprocess.run([program, str(WAITS), *map(str, lengths), str(seed)],
                       env=environment(**env), check=True, capture_output=True, text=True)
    late, cpu, posts = map(int, r.stdout.split())
    return late / WAITS, (cpu + posts) / WAITS


def foreseen(command, program, seed, lengths, folder):
    path = Path(folder, "record")
    path.unlink(missing_ok=True)
    stream(program, seed, lengths, IPCWAIT_POLICY=RECORDED, IPCWAIT_RECORD=str(path))
    r = subprocess.run([command, "replay", "--json", path], env=environment(), check=True,
                       capture_output=True, text=True)
    rules = json.loads(r.stdout)["rules"]
    return {p: (rules[p]["late_ns"] / rules[p]["waits"], rules[p]["cpu_ns"] / rules[p]["waits"])
            for p in POLICIES}


def one_round(command, program, seed, lengths, folder):
    """{policy: ((late, CPU) foreseen, the same measured)}. What the loop itself takes, in a run in
    which nobody waits, is no part of a wait."""
    _, loop = stream(program, seed, (1, 0))
    order = POLICIES if seed % 2 else POLICIES[::-1]
    real = {p: stream(program, seed, lengths, IPCWAIT_POLICY=p) for p in order}
    before = foreseen(command, program, seed, lengths, folder)
    return {p: (before[p], (real[p][0], real[p][1] - loop)) for p in POLICIES}


def show(name, rounds):
    """Prints the table of these lengths; returns whether all is within the bar."""
    good = True
    for policy in POLICIES:
        for k, what in enumerate(("late", "CPU")):
            before, real = ([r[policy][i][k] for r in rounds] for i in (0, 1))
            ratio = statistics.median(b / a for b, a in zip(before, real))
            near = abs(ratio - 1) <= FAR
            good = good and near
            print(f"{name:<6} {policy:<9} {what:<5} foreseen {statistics.median(before):9.0f} ns, "
                  f"measured {statistics.median(real):9.0f} ns: {ratio:6.2f}  "
                  f"{'within 15 %' if near else 'NOT within 15 %'}", flush=True)
    return good


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build-bench")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    program, command = build / "bench/replay/stream", build / "cli/ipcwait"
    if not program.is_file() or not command.is_file():
        sys.exit(f"bench/replay: {program} or {command} is missing; see the head of {__file__}")
    good = True
    with tempfile.TemporaryDirectory(prefix="ipcwait.") as folder:
        for name, lengths in LENGTHS.items():
            got = [one_round(command, program, seed + 1, lengths, folder)
                   for seed in range(rounds)]
            good = show(name, got) and good
    sys.exit(0 if good else 3)


if __name__ == "__main__":
    main()
