# SPDX-License-Identifier: MIT
"""The arms: nothing, the null shim, the module, and what --arm names."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple, Optional

from harness.errors import refused, shown

from .drivers.server import NOT_LOADED

MODULE = "preload/libipcwait-preload.so"
SHIM = "bench/preload/null_shim.so"


class Arm(NamedTuple):
    name: str
    path: Optional[Path] = None     # what is preloaded
    missing: Optional[str] = None


def in_build(name, path):
    return Arm(name, path, None if path.is_file() else f"not built: {path.name}")


def given(text, taken):
    """NAME=PATH"""
    name, equals, path = text.partition("=")
    if not equals or not name.isidentifier() or not path:
        raise refused(f"--arm: {shown(text)} is not NAME=PATH")
    if name in taken:
        raise refused(f"--arm: there is an arm {name}")
    path = Path(path).absolute()
    said = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": str(path)}, check=False,
                          capture_output=True, text=True, errors="replace").stderr
    if NOT_LOADED in said:
        raise refused(f"--arm: {shown(path)} {NOT_LOADED}")
    return Arm(name, path)


def arms(build, more, only):
    """In the order of the tables; the plain one is always among them."""
    found = [Arm("none"), in_build("null", build / SHIM), in_build("ours", build / MODULE)]
    for text in more:
        found.append(given(text, [*(arm.name for arm in found), "native"]))
    wanted = only.split(",") if only else [arm.name for arm in found]
    for name in wanted:
        if name not in [arm.name for arm in found]:
            raise refused(f"--arms: no arm {shown(name)}")
    return [arm for arm in found if arm.name in ("none", *wanted)]


def turned(present, turn):
    """The arms of a round: each begins in its turn."""
    at = turn % len(present)
    return present[at:] + present[:at]
