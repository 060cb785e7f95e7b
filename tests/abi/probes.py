# SPDX-License-Identifier: MIT
"""The probes of a library are those that docs/tracing tells of: probes.py READELF DOCS LIBRARY..."""

import re
import subprocess
import sys

WANTED = {"spin_end": 4, "sleep": 4, "woken": 2, "wake": 3}


def probes(readelf, library):
    """{name: numbers of arguments that it has}."""
    text = subprocess.run([readelf, "-n", library], capture_output=True, encoding="utf-8",
                          check=True).stdout
    found = {}
    for m in re.finditer(r"Provider: ipcwait\n\s+Name: (\w+)\n.*\n\s+Arguments: (.*)", text):
        found.setdefault(m[1], set()).add(len(m[2].split()))
    return found


def main(readelf, folder, *libraries):
    wanted = {name: {n} for name, n in WANTED.items()}
    failed = 0
    for library in libraries:
        found = probes(readelf, library)
        print(library, found)
        failed |= found != wanted
    with open(folder + "/README.md", encoding="ascii") as f:
        told = set(re.findall(r"^\| `(\w+)` \|", f.read(), re.M))
    with open(folder + "/waits.bt", encoding="ascii") as f:
        used = re.findall(r"^usdt::ipcwait:(\w+)", f.read(), re.M)
    print("told of:", told, "used:", used)
    return failed or told != set(WANTED) or set(used) != set(WANTED)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
