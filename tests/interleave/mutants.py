#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prove that the checker finds mistakes: build the programs again and again, each time with one
line of the sources wrong, and expect a scenario to fail.

The sources hold no switches for this; a mutant is a text and its replacement, and one whose
text has gone from the sources is an error, so that the list keeps up with them.

First comes a control run for each program, in which nothing is wrong: it is built in the same way
from copies of the same files, and each scenario that mutants name must run, and pass. Otherwise
whatever a mutant is found by might be there without it.

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
import mutants_phase
import mutants_preload
import mutants_queue
import mutants_rwlock
import mutants_spsc
import mutants_shared
import mutants_sync
import mutants_wait_any

MUTANTS = mutants_sync.MUTANTS + mutants_engine.MUTANTS + mutants_event.MUTANTS
MUTANTS += mutants_gates.MUTANTS
MUTANTS += mutants_phase.MUTANTS
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
MUTANTS += mutants_preload.MUTANTS
SECONDS_MOST = 60
EVERY = 3
CONTROL_PERCENT = '1'  # of the executions in which a mutant may be found
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

    def prepare(self, source, target):
        """The right version of one source, and the files that go into it."""
        self.compile(source, target, '-MMD', '-MF', target + '.d')
        with open(target + '.d', encoding='utf-8') as f:
            names = f.read().replace('\\\n', ' ').split()[1:]
        self.depends[source] = {os.path.realpath(n) for n in names}

    def prepare_all(self, programs, pool):
        for source in dict.fromkeys(s for p in programs for s in self.sources[p]):
            self.objects[source] = os.path.join(self.folder, f'{len(self.objects)}.o')
        list(pool.map(self.prepare, self.objects, self.objects.values()))

    def read(self, file):
        with open(os.path.join(self.root, file), encoding='utf-8') as f:
            return f.read()

    def build(self, name, folder, files):
        """The program with other contents of some files: copies where the compiler looks first."""
        copies = {}
        for file, text in files.items():
            path = os.path.join(folder, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
            copies[os.path.realpath(os.path.join(self.root, file))] = path
        objects = []
        for source in self.sources[name]:
            target = self.objects[source]
            if self.depends[source] & copies.keys():
                target = os.path.join(folder, os.path.basename(target))
                self.compile(copies.get(os.path.realpath(source), source), target,
                             *(f'-I{folder}/{d}' for d in ('lib', 'include')))
            objects.append(target)
        program = os.path.join(folder, 'program')
        subprocess.run([self.command[0], *objects, '-Wl,--start-group', *self.model,
                        '-Wl,--end-group', '-o', program], check=True,
                       stderr=subprocess.STDOUT, stdout=subprocess.PIPE)
        return program


def changed(builder, mutant):
    text = builder.read(mutant.file)
    if text.count(mutant.old) != 1:
        raise LookupError(f'{mutant.file}: "{mutant.old.strip()}" occurs '
                          f'{text.count(mutant.old)} times, not once')
    return {mutant.file: text.replace(mutant.old, mutant.new)}


def search(program, *options):
    # A long run is for the right version.
    env = {k: v for k, v in os.environ.items() if k != 'IW_STRESS_SECONDS'}
    return subprocess.run([program, '--quiet', *options], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS_MOST, env=env)


def not_run(mutants, out):
    """Scenarios that mutants name and that have no execution in a program's output."""
    rows = [row for row in map(ROW.match, out.splitlines()) if row and int(row[5])]
    return {m.scenario for m in mutants
            if not any(m.scenario in row[1] and m.memory in row[2] for row in rows)}


def control(builder, mutants):
    """One program without what its mutants have wrong. Returns whether it is as it should be."""
    # Headers only where there is nothing else: all of a program goes with them.
    names = {m.file for m in mutants}
    names = {n for n in names if n.endswith('.c')} or names
    with tempfile.TemporaryDirectory(dir=builder.folder) as folder:
        try:
            program = builder.build(mutants[0].program, folder,
                                    {n: builder.read(n) for n in names})
            run = search(program, '--percent', CONTROL_PERCENT)
        except subprocess.CalledProcessError as error:
            return False, f'does not build: {error}\n' + (error.output or b'').decode()
        except subprocess.TimeoutExpired:
            return False, f'does not end in {SECONDS_MOST} s'
    missing = not_run(mutants, run.stdout)
    if run.returncode or missing:
        return False, (f'FAILS WITHOUT A MUTANT, or does not run: {sorted(missing)}\n'
                       + run.stdout)
    return True, f'{len({m.scenario for m in mutants})} searches ran and passed'


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
            program = builder.build(mutant.program, folder, changed(builder, mutant))
        except LookupError as error:
            return False, str(error)
        except subprocess.CalledProcessError as error:
            return False, f'does not build: {error}\n' + (error.output or b'').decode()
        begin = time.monotonic()
        try:
            run = search(program, '--first', '--only', mutant.scenario,
                         *(['--memory', mutant.memory] if mutant.memory else []))
        except subprocess.TimeoutExpired:
            return False, f'not found in {SECONDS_MOST} s'
        found = first_failure(run.stdout)
        if run.returncode != 1 or not found:
            return False, 'NOT FOUND' if run.returncode == 0 else run.stdout
        memory, how, count, verdict = found
        return True, (f'{mutant.scenario:26} {memory:4} {how:6} {int(count):9} '
                      f'{time.monotonic() - begin:5.1f} s  {verdict}')


def run_controls(builder, chosen, pool):
    """Returns how many programs are not as they should be."""
    programs = {m.program: [o for o in chosen if o.program == m.program] for m in chosen}
    failed = 0
    for name, (right, words) in zip(programs, pool.map(
            lambda mutants: control(builder, mutants), programs.values())):
        failed += not right
        print(f'{"control: " + name:34} {words}', flush=True)
    return failed


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
    with tempfile.TemporaryDirectory(prefix='ipcwait-mutants-') as folder, \
         concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        builder = Builder(args, folder)
        builder.prepare_all({m.program for m in chosen}, pool)
        failed = run_controls(builder, chosen, pool)
        if failed:
            print(f'{failed} control runs FAILED: mutants prove nothing')
            return 1
        for mutant, (found, words) in zip(chosen, pool.map(
                lambda m: check(builder, m), chosen)):
            missed += not found
            print(f'{mutant.name:34} {words}', flush=True)
    print(f'{len(chosen)} of {len(MUTANTS)} mutants, {missed} not found')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
