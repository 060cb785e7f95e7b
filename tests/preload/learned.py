#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a sleep and its wake cost is not learned from calls that wake nobody: learned.py MODULE SCENES

Those take a fraction of a microsecond, and no wake of a thread does.
"""
import os
import re
import subprocess
import sys

# The least that each may come to, less than half of what a fast machine shows.
LEAST_US = {'inner unlocks': 3, 'last unlocks': 3, 'bursts': 2}
UNITS_US = {'us': 1, 'ms': 1e3, 's': 1e6}
COST = re.compile(r'a sleep and its wake cost ([\d.]+) (us|ms|s), (\d+) wakes')


def play(module, program, scene):
    """Whether the cost is that of a sleep."""
    env = {k: v for k, v in os.environ.items() if not k.startswith('IPCWAIT_')}
    env.update(LD_PRELOAD=module, IPCWAIT_CALIBRATION='none', IPCWAIT_STATS='1')
    r = subprocess.run([program, scene], env=env, capture_output=True, text=True, timeout=60)
    cost = COST.search(r.stderr)
    if r.returncode or not cost:
        print(f'{scene}: exit status {r.returncode}, and no cost in: {r.stdout}{r.stderr}')
        return False
    us = float(cost[1]) * UNITS_US[cost[2]]
    print(f'{scene}: {us} us, {cost[3]} wakes')
    return us >= LEAST_US[scene]


def main(module, program):
    return 0 if all([play(module, program, scene) for scene in LEAST_US]) else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
