# SPDX-License-Identifier: MIT
"""What a statistics page costs: hand-offs and uncontended operations with and without one, by turns.

    scripts/configure build-bench --buildtype=release -Dtests=disabled && ninja -C build-bench
    python3 bench/page [BUILD] [PAIRS]
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 25
BAR = 1.02
WHAT = "hand-off, once around", "mutex, uncontended"
ARMS = {"page": {"IPCWAIT_PAGE": "1"}, "explain": {"IPCWAIT_EXPLAIN": "1"}}


def run(program, more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("IPCWAIT_")}
    env.update(more, IPCWAIT_CALIBRATION="none")
    r = subprocess.run([program], env=env, check=True, capture_output=True, text=True)
    return [float(x) for x in r.stdout.split()]


def interval(values):
    """The median's, 95 % or a little more: by order, without a guess at the distribution."""
    v, n = sorted(values), len(values)
    k = max(0, int((n - 1.96 * n ** 0.5) / 2))
    return v[k], v[n - 1 - k]


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build-bench")
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else PAIRS
    program = build / "bench/page/page_bench"
    if not program.is_file():
        sys.exit(f"bench/page: {program} is missing; see the head of {__file__}")
    plain, ratios = [], {arm: [] for arm in ARMS}
    for i in range(pairs):
        order = ["", *ARMS] if i % 2 else [*ARMS, ""]
        got = {arm: run(program, ARMS.get(arm, {})) for arm in order}
        plain.append(got[""])
        for arm in ARMS:
            ratios[arm].append([a / b for a, b in zip(got[arm], got[""])])
    for k, what in enumerate(WHAT):
        print(f"{what}: {statistics.median(p[k] for p in plain):.2f} ns without")
        for arm in ARMS:
            column = [r[k] for r in ratios[arm]]
            low, high = interval(column)
            print(f"  {arm:<8} {statistics.median(column):.3f} times ({low:.3f} to {high:.3f})"
                  + (f", bar {BAR}" if arm == "page" else ""))


if __name__ == "__main__":
    main()
