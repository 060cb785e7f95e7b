# SPDX-License-Identifier: MIT
"""Does `ipcwait awake` decide rightly: at rest, right after another program, and during one?

    scripts/configure build-bench --buildtype=release -Dtests=disabled && ninja -C build-bench
    python3 bench/awake [--starts N] [--careful N] [BUILD]

docs/awake.md tells how it counts. Exit status: 0; 1 a start says nothing; 3 a decision was wrong.
"""
import os
import sys

# The folder itself would come first: its files must be found as awake.NAME only.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from awake.starts import main  # pylint: disable=wrong-import-position

sys.exit(main(sys.argv[1:]))
