# SPDX-License-Identifier: MIT
"""The build folder, which is the first word of these tests, and how its programs are run."""

import json
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench/preload"
sys.path.insert(0, str(ROOT / "bench"))
SHIM = BUILD / "bench/preload/null_shim.so"


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=1000,
                          check=False, **more)


def run_until_done(*words, **options):
    """Seconds are the last word: more for a program that is held up and does nothing in 10 ms."""
    for seconds in "0.01", "0.1", "1", "10":
        r = run(*words, seconds, **options)
        if r.returncode or json.loads(r.stdout.splitlines()[-1])["ops"]:
            break
    return r
