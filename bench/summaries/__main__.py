# SPDX-License-Identifier: MIT
"""Summaries of raw results: python3 bench/summaries [--out FOLDER] FILE.json...

Each is written beside its raw result, as FILE.summary.json, or into FOLDER under the result's name.
scripts/bench, bench/preload, bench/descriptors, pool_bench and queue_bench write theirs themselves.
This command is for programs in C, and for results that are to be committed.
"""

import argparse
import os
import sys
from pathlib import Path

# The folder above holds this package and those that it reads results with.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import summaries  # noqa: E402
from harness.errors import Ending  # noqa: E402


def main(arguments):
    parser = argparse.ArgumentParser(prog="bench/summaries", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    o = parser.parse_args(arguments)
    try:
        for name in o.files:
            path = summaries.write(name, o.out and o.out / Path(name).name)
            print(summaries.described(path))
    except Ending as e:
        print(f"bench/summaries: {e}", file=sys.stderr)
        return e.status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
