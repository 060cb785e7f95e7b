# SPDX-License-Identifier: MIT
"""The arms: three ways of the program, one under the preload module, four with CPUs kept awake, and
one whose ends share a CPU."""

import subprocess
from pathlib import Path
from typing import NamedTuple, Optional

from harness.errors import refused, shown
from preload.arms import MODULE


class Arm(NamedTuple):
    name: str
    way: str = "plain"
    path: Optional[Path] = None         # what is preloaded
    held: bool = False                  # while idle CPUs are kept from sleeping
    beside: str = "none"                # what the program starts beside the pairs
    place: Optional[str] = None         # where its ends run; None: where the cell has them
    prefix: tuple = ()                  # what starts the program
    missing: Optional[str] = None


def why_not_awake(command):
    """Why `ipcwait awake` can do nothing here, or None."""
    if not command.is_file():
        return f"not built: {command.name}"
    said = subprocess.run([command, "awake", "--status"], check=False, capture_output=True,
                          text=True, errors="replace").stdout
    choice = [line[12:] for line in said.splitlines() if line.startswith("choice")]
    if not choice:
        return "`ipcwait awake --status` says nothing"
    return choice[0] if choice[0].startswith("nothing") else None


def awake(build):
    """ipcwait awake, by itself and with the back-end that it may think useless here."""
    command = build / "cli/ipcwait"
    not_built = None if command.is_file() else f"not built: {command.name}"
    return [Arm("awake", prefix=(str(command), "awake", "--"), missing=why_not_awake(command)),
            Arm("spinner", prefix=(str(command), "awake", "--backend", "spinner", "--"),
                missing=not_built)]


def arms(build, only, cheap, held_missing):
    """In the order of the tables; the plain one is always among them. @held_missing: why CPUs
    cannot be kept awake, or None."""
    module = build / MODULE
    found = [Arm("plain"), Arm("fixed", "fixed"), Arm("pinned", place="together"),
             Arm("library", "library"),
             Arm("ours", path=module,
                 missing=None if module.is_file() else f"not built: {module.name}"),
             Arm("held", held=True,
                 missing="the same as plain with --cheap" if cheap else held_missing),
             *awake(build), Arm("hog", beside="hog")]
    wanted = only.split(",") if only else [arm.name for arm in found if arm.name != "spinner"]
    for name in wanted:
        if name not in [arm.name for arm in found]:
            raise refused(f"--arms: no arm {shown(name)}")
    return [arm for arm in found if arm.name in ("plain", *wanted)]
