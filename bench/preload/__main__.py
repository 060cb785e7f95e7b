# SPDX-License-Identifier: MIT
"""python3 bench/preload: programs with and without the preload module."""
import os
import sys

# The folder itself would come first: its files must be found as preload.NAME only.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from preload.cli import main  # pylint: disable=wrong-import-position

sys.exit(main(sys.argv[1:]))
