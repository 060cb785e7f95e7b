#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether scripts/packages.txt is enough: setup.py SOURCE [demo|check|deep]

Runs scripts/demo, scripts/check or scripts/check --deep of what git tracks in a clean root, in which
nothing was installed by hand but what fetches packages. A process in a chroot may make no namespace of
users: there the check skips namespace_test, and says so by its status. Exit status 77: no such root
can be made here; the reason is the last line.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

from clean_root import Root, why_not

COMMANDS = {"demo": ["scripts/demo"], "check": ["scripts/check"],
            "deep": ["scripts/check", "--deep"]}
SECONDS_MOST = 7200


def main(source, name="demo"):
    why = why_not()
    if why:
        print(why)
        return 77
    with tempfile.TemporaryDirectory(prefix="ipcwait.", ignore_cleanup_errors=True) as folder:
        root = Root(Path(folder, "root"))
        try:
            root.copy_of(Path(source).resolve(), root.path / "tmp/source")
            root.run("sh", "-c", "cd /tmp/source && exec \"$@\" >/tmp/said 2>&1", "sh",
                     *COMMANDS[name], seconds=SECONDS_MOST)
        finally:
            said = root.path / "tmp/said"
            print(said.read_text("utf-8", "replace") if said.exists() else "")
            root.end()
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not set(sys.argv[2:]) <= set(COMMANDS):
        sys.exit(__doc__)
    try:
        sys.exit(main(*sys.argv[1:]))
    except (AssertionError, subprocess.TimeoutExpired) as e:
        sys.exit(str(e))
