# SPDX-License-Identifier: MIT
"""The arms: nothing, the null shim, the module, what --arm names, and five for waits that are
inside of the kernel."""

import os
import subprocess
from pathlib import Path
from types import MappingProxyType
from typing import Mapping, NamedTuple, Optional

from harness.errors import refused, shown

from .awake import why_not_awake, why_not_held
from .drivers.server import NOT_LOADED

MODULE = "preload/libipcwait-preload.so"
SHIM = "bench/preload/null_shim.so"
COMMAND = "cli/ipcwait"

# They are measured where --arms names them, and only of programs whose waits they are for.
KERNEL = ("fd", "awake", "spinner", "held", "hog")

# ipcwait awake, by itself and with the back-end that it may think useless here.
AWAKE = ("awake", "spinner")


class Arm(NamedTuple):
    name: str
    path: Optional[Path] = None     # what is preloaded
    missing: Optional[str] = None
    variables: Mapping = MappingProxyType({})
    client: bool = False            # what measures a server is preloaded as well, whatever it is
    beside: tuple = ()              # what runs the program, and something beside it
    held: bool = False              # while idle CPUs are kept from sleeping
    hog: bool = False               # beside a busy process of the lowest class on each CPU


def not_built(path):
    return None if path.is_file() else f"not built: {path.name}"


def in_build(name, path):
    return Arm(name, path, not_built(path))


def for_kernel(build, name, cheap):
    if name == "fd":
        return in_build(name, build / MODULE)._replace(variables={"IPCWAIT_FD": "1"}, client=True)
    if name == "held":
        return Arm(name, missing=why_not_held(cheap), held=True)
    if name == "hog":
        return Arm(name, hog=True)
    command = build / COMMAND
    if name == "spinner":
        return Arm(name, missing=not_built(command),
                   beside=(command, "awake", "--backend", name, "--explain", "--"))
    return Arm(name, missing=not_built(command) or why_not_awake(command),
               beside=(command, "awake", "--explain", "--"))


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


def arms(build, more, only, cheap=False):
    """In the order of the tables; the plain one is always among them."""
    found = [Arm("none"), in_build("null", build / SHIM), in_build("ours", build / MODULE)]
    for text in more:
        found.append(given(text, [*(arm.name for arm in found), "native", *KERNEL]))
    wanted = only.split(",") if only else [arm.name for arm in found]
    for name in wanted:
        if name not in [*(arm.name for arm in found), *KERNEL]:
            raise refused(f"--arms: no arm {shown(name)}")
    return [*(arm for arm in found if arm.name in ("none", *wanted)),
            *(for_kernel(build, name, cheap) for name in KERNEL if name in wanted)]


def turned(present, turn):
    """The arms of a round: each begins in its turn."""
    at = turn % len(present)
    return present[at:] + present[:at]
