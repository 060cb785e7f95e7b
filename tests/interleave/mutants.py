#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prove that the checker finds mistakes: build the programs again and again, each time with one
line of the sources wrong, and expect a scenario to fail.

The sources hold no switches for this; a mutant is a text and its replacement, and one whose
text has gone from the sources is an error, so that the list keeps up with them.

Usage: mutants.py --root DIR --model LIBRARY... --program NAME SOURCE... ...
                  -- COMPILER FLAG...
The build runs every third; IW_MUTANT=NAME in the environment chooses by name, and with
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

import mutants_channel
import mutants_cond
import mutants_copy
import mutants_engine
import mutants_event
import mutants_gates
import mutants_made
import mutants_mpmc
import mutants_mutex
import mutants_queue
import mutants_rwlock
import mutants_spsc
import mutants_shared
import mutants_sync
import mutants_wait_any

MUTANTS = mutants_sync.MUTANTS + mutants_engine.MUTANTS + mutants_event.MUTANTS
MUTANTS += mutants_gates.MUTANTS
MUTANTS += mutants_mutex.MUTANTS
MUTANTS += mutants_rwlock.MUTANTS
MUTANTS += mutants_wait_any.MUTANTS
MUTANTS += mutants_cond.MUTANTS + mutants_copy.MUTANTS
MUTANTS += mutants_queue.MUTANTS
MUTANTS += mutants_spsc.MUTANTS
MUTANTS += mutants_mpmc.MUTANTS
MUTANTS += mutants_channel.MUTANTS
MUTANTS += mutants_shared.MUTANTS
MUTANTS += mutants_made.MUTANTS
SECONDS_MOST = 60
EVERY = 3
ROW = re.compile(r'^(.*?) +\d  (\w+) +(\w+) +(\d+) +(\d+)')


class Builder:
    """Compiles programs, and parts of them anew where a file differs."""

    def __init__(self, args, folder):
        self.root, self.model, self.command = args.root, args.model, args.command
        self.folder = folder
        self.sources = {name: sources for name, *sources in args.program}
        self.objects, self.depends = {}, {}

    def compile(self, source, target, *flags):
        # The flags of a mutant come first, so that its files are found before the others.
        subprocess.run([self.command[0], *flags, *self.command[1:], '-c', source, '-o', target],
                       check=True, stderr=subprocess.STDOUT, stdout=subprocess.PIPE)

    def prepare(self, source):
        """The right version of one source, and the files that go into it."""
        target = os.path.join(self.folder, f'{len(self.objects)}.o')
        self.objects[source] = target
        self.compile(source, target, '-MMD', '-MF', target + '.d')
        with open(target + '.d', encoding='utf-8') as f:
            names = f.read().replace('\\\n', ' ').split()[1:]
        self.depends[source] = {os.path.realpath(n) for n in names}

    def prepare_all(self, programs):
        for source in dict.fromkeys(s for p in programs for s in self.sources[p]):
            self.prepare(source)

    def overlay(self, mutant, folder):
        """A copy of the one file that is wrong, where the compiler looks first."""
        with open(os.path.join(self.root, mutant.file), encoding='utf-8') as f:
            text = f.read()
        if text.count(mutant.old) != 1:
            raise LookupError(f'{mutant.file}: "{mutant.old.strip()}" occurs '
                              f'{text.count(mutant.old)} times, not once')
        path = os.path.join(folder, mutant.file)
        os.makedirs(os.path.dirname(path))
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text.replace(mutant.old, mutant.new))
        return path

    def build(self, mutant, folder):
        wrong = self.overlay(mutant, folder)
        right = os.path.realpath(os.path.join(self.root, mutant.file))
        objects = []
        for source in self.sources[mutant.program]:
            target = self.objects[source]
            if right in self.depends[source]:
                target = os.path.join(folder, os.path.basename(target))
                same = os.path.realpath(source) == right
                self.compile(wrong if same else source, target,
                             *(f'-I{folder}/{d}' for d in ('lib', 'include')))
            objects.append(target)
        program = os.path.join(folder, 'program')
        subprocess.run([self.command[0], *objects, '-Wl,--start-group', *self.model,
                        '-Wl,--end-group', '-o', program], check=True,
                       stderr=subprocess.STDOUT, stdout=subprocess.PIPE)
        return program


def first_failure(out):
    """The row of the search that failed, and its words."""
    for line in out.splitlines():
        row = ROW.match(line)
        if row and not line.endswith('passes'):
            return row[2], row[3], row[5], line.rsplit('  ', 1)[1]
    return None


def check(builder, mutant):
    with tempfile.TemporaryDirectory(dir=builder.folder) as folder:
        try:
            program = builder.build(mutant, folder)
        except LookupError as error:
            return False, str(error)
        except subprocess.CalledProcessError as error:
            return False, f'does not build: {error}\n' + (error.output or b'').decode()
        begin = time.monotonic()
        # A long run is for the right version.
        env = {k: v for k, v in os.environ.items() if k != 'IW_STRESS_SECONDS'}
        try:
            run = subprocess.run([program, '--quiet', '--first', '--only', mutant.scenario,
                                  *(['--memory', mutant.memory] if mutant.memory else [])],
                                 check=False, text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, timeout=SECONDS_MOST, env=env)
        except subprocess.TimeoutExpired:
            return False, f'not found in {SECONDS_MOST} s'
        found = first_failure(run.stdout)
        if run.returncode != 1 or not found:
            return False, 'NOT FOUND' if run.returncode == 0 else run.stdout
        memory, search, executions, verdict = found
        return True, (f'{mutant.scenario:26} {memory:4} {search:6} {int(executions):9} '
                      f'{time.monotonic() - begin:5.1f} s  {verdict}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--root', required=True)
    parser.add_argument('--model', nargs='+', required=True)
    parser.add_argument('--program', nargs='+', action='append', required=True)
    parser.add_argument('command', nargs='+')
    args = parser.parse_args()
    only = os.environ.get('IW_MUTANT', '')
    every = 1 if only or os.environ.get('IW_STRESS_SECONDS') else EVERY
    chosen = [m for m in MUTANTS if only in m.name][::every]
    if not chosen:
        print(f'no such mutant: {only}')
        return 2
    missed = 0
    with tempfile.TemporaryDirectory(prefix='ipcwait-mutants-') as folder:
        builder = Builder(args, folder)
        builder.prepare_all({m.program for m in chosen})
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for mutant, (found, words) in zip(chosen, pool.map(
                    lambda m: check(builder, m), chosen)):
                missed += not found
                print(f'{mutant.name:34} {words}', flush=True)
    print(f'{len(chosen)} of {len(MUTANTS)} mutants, {missed} not found')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
