#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run a program of this folder, as far as what it is made from asks for.

    searched.py BUILD-DIRECTORY PROGRAM [ARGUMENT]...
    searched.py --write BUILD-DIRECTORY

A program whose sources have changed since ledger.tsv was written searches all that its scenarios
say; one whose sources have not, PART_PERCENT of that. Comments and blanks do not count as a change.
IW_SEARCH=all in the environment: all in any case. --write writes the ledger anew, as
`scripts/check --nightly` does after all programs have searched everything and passed.
"""
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / 'mutants'))

from build import Build  # noqa: E402
from hashes import Hashes  # noqa: E402
from table import ROOT, Sources  # noqa: E402

LEDGER = HERE / 'ledger.tsv'
PREFIX = 'interleave_'
PART_PERCENT = '10'
WHOLE = {'interleave_past'}     # mistakes that some need all executions to find


def known():
    if not LEDGER.is_file():
        return {}
    return dict(line.split('\t') for line in LEDGER.read_text(encoding='utf-8').splitlines())


def write(folder):
    build = Build(folder, ROOT)
    hashes = Hashes(build, Sources())
    rows = sorted((n, hashes.of_program(n)) for n in build.executables if n.startswith(PREFIX))
    LEDGER.write_text(''.join(f'{name}\t{digest}\n' for name, digest in rows), encoding='utf-8')
    print(f'{len(rows)} programs')
    return 0


def main():
    if sys.argv[1] == '--write':
        return write(sys.argv[2])
    folder, program, *arguments = sys.argv[1:]
    name = os.path.basename(program)
    if os.environ.get('IW_SEARCH') != 'all' and name not in WHOLE and \
            Hashes(Build(folder, ROOT), Sources()).of_program(name) == known().get(name):
        arguments += ['--percent', PART_PERCENT]
        print(f'its sources have not changed: {PART_PERCENT} % of the executions', flush=True)
    os.execv(program, [program, *arguments])
    return 1


if __name__ == '__main__':
    sys.exit(main())
