#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prove that the check itself goes red: plant a mutant into the sources, and run the tests as scripts/check does.

    tests/mutants/planted.py BUILD-DIRECTORY [PROGRAM]...

For each program that finds mutants, or for those that are named: its tests pass; then a mutant gets into
the sources of this tree, which have to be as committed, and a test of the program fails; then the
source is restored. The mutant is the first of the program's in the lists that compiles with all warnings.
Exit status: 0 each was found, 1 not, 2 wrong arguments.
"""
import json
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import table  # noqa: E402


def introspected(build, what):
    out = subprocess.run(['meson', 'introspect', build, f'--{what}'], check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout)


def programs_of(build):
    """For each program of the build directory: what ninja calls it, and for each of its tests a suite and the
    name. Of two programs of one name the first counts, as in run.py."""
    top = os.path.realpath(build)
    paths = {t['name']: os.path.relpath(t['filename'][0], top)
             for t in reversed(introspected(build, 'targets')) if t['type'] == 'executable'}
    tests = {path: [] for path in paths.values()}
    for test in introspected(build, 'tests'):
        for word in test['cmd']:
            path = os.path.relpath(os.path.join(top, word), top)
            if path in tests:
                tests[path].append((test['suite'][0].split(':')[-1], test['name']))
    return {name: (path, tests[path]) for name, path in paths.items()}


def is_built(build, target):
    return subprocess.run(['ninja', '-C', build, '--quiet', target], check=False,
                          stdout=subprocess.DEVNULL).returncode == 0


def verdict(build, target, tests):
    """Build the program and run its tests as the check does."""
    if not is_built(build, target):
        return 'does not build'
    for suite, name in tests:
        if subprocess.run(['meson', 'test', '-C', build, '--no-rebuild', '--suite', suite, name],
                          check=False, stdout=subprocess.DEVNULL).returncode:
            return 'red'
    return 'green' if tests else 'has no test'


def planted(build, sources, program, mutants):
    """Plant the first mutant that the program can be built with. Returns it, and the verdict."""
    for mutant in mutants:
        changed = sources.changed(mutant)
        try:
            for file, text in changed.items():
                (table.ROOT / file).write_text(text, encoding='utf-8')
            after = verdict(build, *program)
        finally:
            for file in changed:
                (table.ROOT / file).write_text(sources.text(file), encoding='utf-8')
            is_built(build, program[0])
        if after != 'does not build':
            break
    return mutant, after


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    build, wanted = sys.argv[1], sys.argv[2:]
    if subprocess.run(['git', '-C', table.ROOT, 'diff', '--quiet', 'HEAD', '--', 'lib', 'include',
                       'preload', 'cli', 'tools'], check=False).returncode:
        print('the sources have changes; commit them first', file=sys.stderr)
        return 2
    mutants = {}
    for mutant in table.read_all():
        mutants.setdefault(mutant.program, []).append(mutant)
    unknown = [name for name in wanted if name not in mutants]
    if unknown:
        print(f'no mutant is found by {" ".join(unknown)}', file=sys.stderr)
        return 2
    sources, programs, missed = table.Sources(), programs_of(build), 0
    for program in wanted or sorted(mutants):
        begin = time.monotonic()
        before = verdict(build, *programs[program])
        mutant, after = planted(build, sources, programs[program], mutants[program])
        found = (before, after) == ('green', 'red')
        missed += not found
        print(f'{program:26} {before}, then {after:10} {"" if found else "NOT FOUND ":10}'
              f'{time.monotonic() - begin:5.0f} s  {mutant.name}', flush=True)
    print(f'{len(wanted or mutants)} planted, {missed} not found')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
