#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether scripts/packages.txt is enough: setup.py SOURCE [demo|check|deep]

Runs scripts/demo, scripts/check or scripts/check --deep of what git tracks in a clean root, in which
nothing was installed by hand but what fetches packages. A process in a chroot may make no namespace of
users: that the check skips namespace_test there, and it alone, is as it should be. Exit status 77: no
such root can be made here; the only line has the reason.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from clean_root import Root, why_not

COMMANDS = {"demo": ["scripts/demo"], "check": ["scripts/check"],
            "deep": ["scripts/check", "--deep"]}
SECONDS_MOST = 7200


def is_all_but_namespaces(said):
    return (re.search(r"^\d+ passed, 0 failed, 1 skipped$", said, re.M)
            and re.search(r"^ *skipped: \S*ipc / namespace_test: ", said, re.M))


def run(root, command):
    """Prints what it said, and why it did not end well. True: it passed."""
    path = root.path / "tmp/said"
    try:
        root.run("sh", "-c", "cd /tmp/source && exec \"$@\" >/tmp/said 2>&1", "sh", *command,
                 seconds=SECONDS_MOST)
        why = None
    except (AssertionError, subprocess.TimeoutExpired) as e:
        why = e
    said = path.read_text("utf-8", "replace") if path.exists() else ""
    print(said)
    if why is None or (isinstance(why, AssertionError) and is_all_but_namespaces(said)):
        return True
    print(why)
    return False


def main(source, name="demo"):
    why = why_not()
    if why:
        print(why)
        return 77
    with tempfile.TemporaryDirectory(prefix="ipcwait.", ignore_cleanup_errors=True) as folder:
        root = Root(Path(folder, "root"))
        try:
            root.copy_of(Path(source).resolve(), root.path / "tmp/source")
            return 0 if run(root, COMMANDS[name]) else 1
        finally:
            root.end()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not set(sys.argv[2:]) <= set(COMMANDS):
        sys.exit(__doc__)
    try:
        sys.exit(main(*sys.argv[1:]))
    except (AssertionError, subprocess.TimeoutExpired) as e:
        sys.exit(str(e))
