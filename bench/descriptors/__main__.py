# SPDX-License-Identifier: MIT
"""python3 bench/descriptors: ways to wait for descriptors, side by side."""
import os
import sys

# The folder itself would come first: its files must be found as descriptors.NAME only.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from descriptors.cli import main  # pylint: disable=wrong-import-position

sys.exit(main(sys.argv[1:]))
