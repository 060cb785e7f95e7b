#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prove that unit tests over the scripted kernel find mistakes: build a test again and again, each
time with one line of the library wrong, and expect the test that is named to fail. Mutants are
those of tests/interleave/mutant.py; their `program` is a test program, `scenario` a test in it.

Usage: mutants_edges_run.py --root DIR --model LIBRARY... --program NAME SOURCE... ...
                      -- COMPILER FLAG...
The build runs a few of them; IW_MUTANT=NAME in the environment chooses by name, and with
IW_STRESS_SECONDS, as in scripts/check --deep, it is all. Exit status: 0 all were found.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '../interleave')]

import mutants  # noqa: E402
import mutants_edges  # noqa: E402

MUTANTS = mutants_edges.MUTANTS
SECONDS_MOST = 200
EVERY = 40
FAILED = re.compile(r'^\[  FAILED  \] (\w+)$', re.MULTILINE)


def failed_tests(program):
    """The names of those that fail."""
    run = subprocess.run([program], check=False, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=SECONDS_MOST)
    return sorted(set(FAILED.findall(run.stdout)))


def control(builder, name):
    """Those that fail without a mutant."""
    with tempfile.TemporaryDirectory(dir=builder.folder) as folder:
        return failed_tests(builder.build(name, folder, {}))


def check(builder, mutant):
    with tempfile.TemporaryDirectory(dir=builder.folder) as folder:
        begin = time.monotonic()
        try:
            failed = failed_tests(
                builder.build(mutant.program, folder, mutants.changed(builder, mutant)))
        except LookupError as error:
            return False, str(error)
        except subprocess.CalledProcessError as error:
            return False, f'does not build: {error}\n' + (error.output or b'').decode()
        except subprocess.TimeoutExpired:
            return False, f'did not end in {SECONDS_MOST} s'
    if mutant.scenario in failed:
        return True, f'{mutant.program:24} {mutant.scenario:26} {time.monotonic() - begin:4.1f} s'
    return False, f'NOT FOUND in {mutant.program}, but by: {", ".join(failed) or "nothing"}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--root', required=True)
    parser.add_argument('--model', nargs='+', required=True)
    parser.add_argument('--program', nargs='+', action='append', required=True)
    parser.add_argument('command', nargs='+')
    args = parser.parse_args()
    # What the libraries hold besides, for a whole program, would be compiled in each link.
    args.model += ['-fno-lto', '-lcmocka']
    only = os.environ.get('IW_MUTANT', '')
    every = 1 if only or os.environ.get('IW_STRESS_SECONDS') else EVERY
    chosen = [m for m in MUTANTS if only in m.name][::every]
    if not chosen:
        print(f'no such mutant: {only}')
        return 2
    missed = 0
    with tempfile.TemporaryDirectory(prefix='ipcwait-mutants-') as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        builder = mutants.Builder(args, folder)
        programs = {m.program for m in chosen}
        builder.prepare_all(programs, pool)
        failed = sorted(sum(pool.map(lambda p: control(builder, p), programs), []))
        if failed:
            print(f'FAILS WITHOUT A MUTANT: {", ".join(failed)}')
            return 1
        for mutant, (found, words) in zip(chosen, pool.map(lambda m: check(builder, m), chosen)):
            missed += not found
            print(f'{mutant.name:48} {words}', flush=True)
    print(f'{len(chosen)} of {len(MUTANTS)} mutants, {missed} not found')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
