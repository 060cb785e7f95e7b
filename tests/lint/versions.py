#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One version wherever it is written: versions.py SOURCE"""
import re
import sys
from pathlib import Path

PLACES = {
    "meson.build": r"^  version: '([\d.]+)'",
    "bindings/rust/Cargo.toml": r'^version = "([\d.]+)"',
    "debian/changelog": r"\Alibipcwait \(([\d.]+)-\d+\)",
    "packaging/libipcwait.wrap": r"^revision = v([\d.]+)$",
    "CHANGELOG.md": r"^## ([\d.]+) - \d{4}-\d\d-\d\d \(soname \d+, layout \d+\)$",
}


def main(root):
    found = {}
    for name, pattern in PLACES.items():
        m = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.M)
        found[name] = m and m[1]
    print(found)
    notes = root / "docs/releases" / f"{found['CHANGELOG.md']}.md"
    return 1 if len(set(found.values())) != 1 or not notes.is_file() else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
