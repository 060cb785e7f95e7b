#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What learning.py draws, from the simulator: windows.py POLICY_SIM

Writes bench/results/policy_sim-windows.json, which is its own summary: the library's window before each of some waits, and what rules
cost by the mean of irregular waits. The simulator does not tell windows; so it is given the waits before, and
behind them one that is far too long: what is spun in that is the window.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

RESULT = Path(__file__).resolve().parent.parent.parent / "bench/results/policy_sim-windows.json"
B_US = 30
LONG_NS = 10_000_000
WAITS = 160
RULES = ("ipcwait", "block", "spin", "fixed-b")


def lengths(name):
    """Waits in ns: some B from 30 us, give or take a tenth."""
    rng = random.Random(1)

    def about(us):
        return round(us * 1000 * rng.uniform(0.9, 1.1))

    usual = {
        "short": lambda i: 6,
        "long": lambda i: 300,
        "changing": lambda i: 300 if 40 <= i < 100 else 6,
        "two kinds": lambda i: 300 if rng.random() < 0.2 else 6,
    }[name]
    return [about(usual(i)) for i in range(WAITS)]


def spun_ns(simulator, waits, folder):
    trace, result = folder / "waits.txt", folder / "result.json"
    trace.write_text("".join(f"{wait}\n" for wait in waits), encoding="utf-8")
    subprocess.run([simulator, "--trace", trace, "--policy", "ipcwait", "--b-us", str(B_US), "--json", result],
                   check=True, stdout=subprocess.DEVNULL)
    policy = json.loads(result.read_text(encoding="utf-8"))["series"][0]["policies"][0]
    return policy["spun_share_of_time"] * sum(waits)


def windows(simulator, waits, folder):
    found = []
    for i in range(len(waits)):
        before = spun_ns(simulator, waits[:i], folder) if i else 0
        found.append(max(0, round((spun_ns(simulator, [*waits[:i], LONG_NS], folder) - before) / 1000, 2)))
    return found


def costs(simulator, folder):
    """By rule: [mean of the waits in B, cost by the best cost], of the suite's exponential waits."""
    result = folder / "suite.json"
    subprocess.run([simulator, "--policy", ",".join(RULES), "--b-us", str(B_US), "--json", result],
                   check=True, stdout=subprocess.DEVNULL)
    series = json.loads(result.read_text(encoding="utf-8"))["series"][0]
    return {rule["policy"]: [[float(score["member"].split()[1]), round(score["ratio"], 3)]
                             for score in rule["scores"] if score["member"].startswith("exponential ")]
            for rule in [*series["policies"], series["hindsight"]]}


def main(words):
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        series = []
        for name in ("short", "long", "two kinds", "changing"):
            waits = lengths(name)
            series.append({"waits": name, "waits_us": [round(w / 1000, 2) for w in waits],
                           "windows_us": windows(words[0], waits, Path(folder))})
        by_rule = costs(words[0], Path(folder))
    RESULT.write_text(json.dumps({"program": "docs/pictures/windows.py", "format": 1, "b_us": B_US,
                                  "series": series, "costs": by_rule}, separators=(",", ":")) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
