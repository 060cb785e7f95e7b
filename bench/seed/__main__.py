# SPDX-License-Identifier: MIT
"""The seed scoreboard by itself: python3 bench/seed [ROW...] [--json FILE] [--quick]."""

import argparse
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import seed                             # noqa: E402
from harness import errors, store       # noqa: E402
from harness.errors import shown        # noqa: E402
from seed import rows, text             # noqa: E402


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """One line, whatever was typed."""
        self.exit(errors.BAD_INPUT, f"{self.prog}: {shown(message)}\n")


def arguments():
    parser = Parser(prog="seed", description="The seed scoreboard: what the seeds measured, "
                    "beside what is measured here.", allow_abbrev=False)
    parser.add_argument("rows", nargs="*", metavar="ROW",
                        help=f"only these: I-1 ... or a letter of {', '.join('IGQM')}")
    parser.add_argument("--build", default=None, metavar="DIR",
                        help="the build folder (default: build-bench, else build)")
    parser.add_argument("--json", metavar="FILE", help="also write the rows with all raw values")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, about two minutes")
    return parser, parser.parse_args()


def selected(parser, words):
    """None for all."""
    found = []
    for word in words:
        name = word.upper()
        match = [i for i in seed.IDS if i == name or i.split("-")[0] == name]
        if not match:
            parser.error(f"no row '{word[:40]}': {seed.IDS[0]} to {seed.IDS[-1]}, or I, G, Q, M")
        found += match
    return found or None


def build_folder(parser, root, asked):
    for folder in [Path(asked)] if asked else [root / "build-bench", root / "build"]:
        if (folder / "meson-info").is_dir():
            return folder.resolve()
    parser.error(f"no build folder: {asked or 'run meson setup build first'}")


def progress(line):
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        sys.stderr.write(f"\r\033[K{line[:79]}")
        sys.stderr.flush()


def check_writable(parser, path):
    """Before anything is measured; the file is replaced at the end."""
    try:
        if not os.path.isdir(Path(path).parent):
            parser.error(f"--json: no folder for {path}")
        store.check_writable(path, "--json")
    except errors.Ending as e:
        parser.error(str(e))


def write(parser, path, found):
    try:
        store.write_text(path, json.dumps({"seed": found}, indent=1) + "\n", "--json")
    except errors.Ending as e:
        parser.error(str(e))


def measure(context, wanted):
    """(rows, exit status)"""
    found = []
    try:
        for row in seed.iterate(context, wanted):
            progress("")
            print(text.describe(row), flush=True)
            found.append(row)
    except KeyboardInterrupt:
        return found, errors.INTERRUPTED
    failed = any(row["state"] == rows.FAILED for row in found)
    return found, errors.FAILED if failed else errors.OK


def main():
    parser, options = arguments()
    wanted = selected(parser, options.rows)
    root = HERE.parent.parent
    context = SimpleNamespace(build=build_folder(parser, root, options.build), root=root,
                              quick=options.quick, progress=progress, cache=None)
    if options.json:
        check_writable(parser, options.json)
    found, status = measure(context, wanted)
    if options.json:
        write(parser, options.json, seed.ordered(found))
    return status


if __name__ == "__main__":
    sys.exit(main())
