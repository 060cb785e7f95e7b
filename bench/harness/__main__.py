# SPDX-License-Identifier: MIT
"""python3 bench/harness ARGUMENT...: what scripts/bench starts."""

import os
import sys

# The folder above holds this package and the parts that it starts.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from harness import cli  # noqa: E402

sys.exit(cli.main(sys.argv[1:]))
