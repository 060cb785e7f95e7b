#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each scene of a program that is compiled with ThreadSanitizer: done right nothing is reported,
whether those who wait spin or sleep; with its mistake a race is: users.py PROGRAM [SCENE...]"""
import os
import subprocess
import sys

REPORT = 'WARNING: ThreadSanitizer'
RACE = 'WARNING: ThreadSanitizer: data race'
FOUND = 66      # what the sanitizer makes of the exit status


def run(*command, policy='adaptive', options=''):
    env = dict(os.environ, IPCWAIT_POLICY=policy,
               TSAN_OPTIONS=f'exitcode={FOUND} atexit_sleep_ms=0 {options}')
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', timeout=600, env=env)


def fault(program, scene):
    """What is wrong with the reports of a scene, or None."""
    for policy in 'adaptive', 'block':
        right = run(program, scene, 'right', policy=policy)
        if right.returncode or REPORT in right.stdout:
            return (f'{scene}, done right, {policy}: status {right.returncode}\n'
                    f'{right.stdout[:4000]}')
    mistake = run(program, scene, 'wrong', options='symbolize=0')
    if mistake.returncode != FOUND or RACE not in mistake.stdout:
        return f'{scene}, with a mistake: status {mistake.returncode}\n{mistake.stdout[:4000]}'
    return None


def main():
    program, scenes = sys.argv[1], sys.argv[2:]
    listed = run(program, '--list')
    if 'FATAL: ThreadSanitizer' in listed.stdout:
        print('skipped: ThreadSanitizer does not run here:', listed.stdout.strip())
        sys.exit(77)
    if listed.returncode or len(listed.stdout.split()) < 20:
        sys.exit(f'no list of scenes: {listed.stdout}')
    faults = [f for f in (fault(program, s) for s in scenes or listed.stdout.split()) if f]
    print('\n'.join(faults) if faults else 'every scene is silent, and every mistake is found')
    sys.exit(bool(faults))


main()
