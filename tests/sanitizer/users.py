#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each scene of a program that is compiled with ThreadSanitizer: done right nothing is reported,
whether those who wait spin or sleep; with its mistake a race is: users.py PROGRAM [SCENE...]"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))

import failure  # noqa: E402

REPORT = 'WARNING: ThreadSanitizer'
RACE = 'WARNING: ThreadSanitizer: data race'
FOUND = 66      # what the sanitizer makes of the exit status


def run(*command, policy='adaptive', options=''):
    env = dict(os.environ, IPCWAIT_POLICY=policy,
               TSAN_OPTIONS=f'exitcode={FOUND} atexit_sleep_ms=0 {options}')
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8',
                          errors='replace', timeout=600, env=env)


def fault(program, scene):
    """What is wrong with the reports of a scene, and its output; or None."""
    for policy in 'adaptive', 'block':
        right = run(program, scene, 'right', policy=policy)
        if right.returncode or REPORT in right.stdout:
            return f'{scene}, done right, {policy}: status {right.returncode}', right.stdout
    mistake = run(program, scene, 'wrong', options='symbolize=0')
    if mistake.returncode != FOUND or RACE not in mistake.stdout:
        return f'{scene}, with a mistake: status {mistake.returncode}', mistake.stdout
    return None


def main():
    program, scenes = sys.argv[1], sys.argv[2:]
    listed = run(program, '--list')
    if 'FATAL: ThreadSanitizer' in listed.stdout:
        print('skipped: ThreadSanitizer does not run here:', failure.one_line(listed.stdout))
        sys.exit(77)
    if listed.returncode or len(listed.stdout.split()) < 20:
        sys.exit(f'no list of scenes: {listed.stdout}')
    found = {s: fault(program, s) for s in scenes or listed.stdout.split()}
    faults = {s: f for s, f in found.items() if f}
    if not faults:
        print('every scene is silent, and every mistake is found')
        return
    for what, _ in faults.values():
        print(what)
    first, (_, said) = next(iter(faults.items()))
    print(f'what {first} printed:\n{failure.cut(said, 30)}')
    print(failure.again(sys.argv[0], program, *faults))
    sys.exit(1)


main()
