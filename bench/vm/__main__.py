# SPDX-License-Identifier: MIT
"""Makes `python3 bench/vm` work from anywhere."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from vm.command import main  # noqa: E402 (the path comes first)

sys.exit(main(sys.argv[1:]))
