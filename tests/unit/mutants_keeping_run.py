#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prove that unit tests find mistakes: link their programs again and again, each time with one
line of the library wrong, and expect the test that is named to fail. As tests/interleave/mutants.py,
whose Mutant it takes, but for what needs no scheduler: its `scenario` is the name of a test.

Usage: mutants_keeping_run.py --root DIR --group SOURCE... FLAG... LIBRARY... --group ... -- COMPILER FLAG...
The build runs every third; IW_MUTANT=NAME in the environment chooses by name, and with
IW_STRESS_SECONDS, as in scripts/check --deep, it is all. Exit status: 0 all were found.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '../interleave')]

import mutants_keeping  # noqa: E402

SECONDS_MOST = 60

# What one sequence of waits does not meet another does.
SEEDS = 1, 2, 3
EVERY = 3
FAILED = re.compile(r'^\[  FAILED  \] (\w+)$', re.MULTILINE)


def run(command):
    subprocess.run(command, check=True, stderr=subprocess.STDOUT, stdout=subprocess.PIPE)


class Builder:
    """Links test programs, with an object in front of the libraries that hold the right one."""

    def __init__(self, root, programs, command, folder):
        self.root, self.programs, self.command, self.folder = root, programs, command, folder

    def flags(self, program, prefix):
        return [a for a in self.programs[program][1] if a.startswith(prefix)]

    def libraries(self, program):
        return [a for a in self.programs[program][1] if not a.startswith('-')]

    def compile(self, program, source, target):
        run([*self.command, *self.flags(program, '-I'), '-c', source, '-o', target])

    def link(self, program, target, objects):
        run([self.command[0], os.path.join(self.folder, program + '.o'), *objects,
             *self.flags(program, '-Wl'), '-Wl,--start-group', *self.libraries(program),
             '-Wl,--end-group', '-lcmocka', '-pthread', '-o', target])

    def prepare(self, program):
        """Compiles the test, which must pass with the library as it is."""
        self.compile(program, self.programs[program][0],
                     os.path.join(self.folder, program + '.o'))
        target = os.path.join(self.folder, program)
        self.link(program, target, [])
        failed = failures(target)
        if failed:
            raise AssertionError(f'{program} fails without a mutant: {failed}')

    def build(self, mutant, folder):
        with open(os.path.join(self.root, mutant.file), encoding='utf-8') as f:
            text = f.read()
        if text.count(mutant.old) != 1:
            raise LookupError(f'{mutant.file}: "{mutant.old.strip()}" occurs '
                              f'{text.count(mutant.old)} times, not once')
        wrong, target = os.path.join(folder, 'wrong.c'), os.path.join(folder, 'program')
        with open(wrong, 'w', encoding='utf-8') as f:
            f.write(text.replace(mutant.old, mutant.new))
        self.compile(mutant.program, wrong, wrong + '.o')
        self.link(mutant.program, target, [wrong + '.o'])
        return target


def failures(program, only=None, seed=1):
    """The names of the tests that fail; of a program that does not end, it itself."""
    env = {**os.environ, 'IW_TEST_SEED': str(seed), **({'IW_TEST_ONLY': only} if only else {})}
    try:
        done = subprocess.run([program], check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS_MOST, env=env)
    except subprocess.TimeoutExpired:
        return ['does not end']
    found = list(dict.fromkeys(FAILED.findall(done.stdout)))
    return found or ([] if done.returncode == 0 else [f'exit status {done.returncode}'])


def check(builder, mutant):
    with tempfile.TemporaryDirectory(dir=builder.folder) as folder:
        try:
            program = builder.build(mutant, folder)
            failed = []
            for seed in SEEDS:
                if mutant.scenario not in failed:
                    failed += failures(program, mutant.scenario, seed)
            if mutant.scenario not in failed:
                failed += failures(program)
        except LookupError as error:
            return False, str(error)
        except subprocess.CalledProcessError as error:
            return False, f'does not build: {error}\n' + (error.output or b'').decode()
    if mutant.scenario in failed:
        return True, f'{mutant.program}: {mutant.scenario}'
    return False, f'NOT FOUND by {mutant.scenario}, but by {", ".join(failed) or "nothing"}'


def arguments(words):
    """Root, what there is for each program, compiler."""
    at, programs = words.index('--'), {}
    group = None
    for word in words[2:at]:
        if word == '--group':
            group = []
        elif word.endswith('.c'):
            programs[os.path.basename(word)[:-2]] = word, group
        else:
            group.append(word)
    return words[1], programs, words[at + 1:]


def main():
    root, programs, command = arguments(sys.argv[1:])
    only = os.environ.get('IW_MUTANT', '')
    every = 1 if only or os.environ.get('IW_STRESS_SECONDS') else EVERY
    mutants = mutants_keeping.MUTANTS
    chosen = [m for m in mutants if only in m.name][::every]
    if not chosen:
        print(f'no such mutant: {only}')
        return 2
    missed = 0
    with tempfile.TemporaryDirectory(prefix='ipcwait-mutants-') as folder:
        builder = Builder(root, programs, command, folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(builder.prepare, sorted({m.program for m in chosen})))
            for mutant, (found, words) in zip(chosen, pool.map(
                    lambda m: check(builder, m), chosen)):
                missed += not found
                print(f'{mutant.name:44} {words}', flush=True)
    print(f'{len(chosen)} of {len(mutants)} mutants, {missed} not found')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
