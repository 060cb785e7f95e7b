# SPDX-License-Identifier: MIT
"""What the tests of the seed scoreboard share: the package, the build folder, a context."""

import os
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

BUILD = None


def context(build=None):
    return SimpleNamespace(build=Path(build or BUILD), quick=True, progress=lambda text: None,
                           cache=None, root=ROOT)


def program(*names):
    """A program of the build folder; the test is skipped where it is not built."""
    path = Path(BUILD).joinpath(*names)
    if not os.access(path, os.X_OK):
        raise unittest.SkipTest(f"{path.name} is not built")
    return path


def main():
    global BUILD
    sys.modules["common"] = sys.modules[__name__]
    BUILD = sys.argv.pop(1)
    brief.main()
