# SPDX-License-Identifier: MIT
"""python3 bench/stacks: the stack tools by themselves."""
import os
import sys

# The folder itself would come first: its files must be found as stacks.NAME only.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from stacks.cli import main  # pylint: disable=wrong-import-position

sys.exit(main(sys.argv[1:]))
