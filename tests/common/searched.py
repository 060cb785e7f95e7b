#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run a program that searches, as far as what it is made from asks for.

    searched.py BUILD-DIRECTORY PROGRAM [ARGUMENT]...
    searched.py --write BUILD-DIRECTORY

A program whose sources have changed since searched.tsv was written searches all; one whose sources
have not, a part: of tests/interleave PART_PERCENT of the executions, of the accidents of tests/ipc one
instruction in STEPS_FEWER of those that have their turn; the Promela model and the fuzz targets ask here
too. Comments and blanks do not count as a change.
IW_SEARCH=all in the environment: all in any case. --write writes the ledger anew, as
`scripts/check --nightly` does after all programs have searched everything and passed.
"""
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / 'mutants'))

from build import Build  # noqa: E402
from ctext import digest  # noqa: E402
from hashes import Hashes  # noqa: E402
from table import ROOT, Sources  # noqa: E402

LEDGER = HERE / 'searched.tsv'
PREFIX, STEP_TEST, LIBRARY = 'interleave_', 'step_test', 'libipcwait.so.'
PART_PERCENT = '2'
STEPS_FEWER = '10'
WHOLE = {'interleave_past'}     # mistakes that some need all executions to find


def known():
    if not LEDGER.is_file():
        return {}
    return dict(line.split('\t') for line in LEDGER.read_text(encoding='utf-8').splitlines())


def hash_of(build, name):
    """The hash of what a program is made from, with the library if that is linked to it."""
    hashes = Hashes(build, Sources())
    some = [name] + [n for n in build.executables if name == STEP_TEST and n.startswith(LIBRARY)]
    return digest(*map(hashes.of_program, some))


def is_known(name, text):
    """True if what has the hash @text has been searched whole, and a part is enough."""
    return os.environ.get('IW_SEARCH') != 'all' and known().get(name) == text


def hash_printed(*command):
    return subprocess.run([sys.executable, *command, '--hash'], check=True, stdout=subprocess.PIPE,
                          encoding='utf-8').stdout


def write(folder):
    build = Build(folder, ROOT)
    rows = [(n, hash_of(build, n)) for n in build.executables
            if n.startswith(PREFIX) or n == STEP_TEST]
    rows.append(('sem.pml', hash_printed(HERE.parent / 'model/run.py').strip()))
    fuzz = hash_printed(HERE.parent / 'fuzz/run.py', Path(folder, 'tests/fuzz/targets'))
    rows += [tuple(line.split('\t')) for line in fuzz.splitlines()]
    LEDGER.write_text(''.join(f'{name}\t{text}\n' for name, text in sorted(rows)), encoding='utf-8')
    print(f'{len(rows)} programs')
    return 0


def main():
    if sys.argv[1] == '--write':
        return write(sys.argv[2])
    folder, program, *arguments = sys.argv[1:]
    name = os.path.basename(program)
    if name not in WHOLE and is_known(name, hash_of(Build(folder, ROOT), name)):
        print('its sources have not changed: a part of the search', flush=True)
        if name == STEP_TEST:
            os.environ['IW_STEPS_FEWER'] = STEPS_FEWER
        else:
            arguments += ['--percent', PART_PERCENT]
    os.execv(program, [program, *arguments])
    return 1


if __name__ == '__main__':
    sys.exit(main())
