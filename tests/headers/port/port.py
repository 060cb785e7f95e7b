#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that are the same but for one line pass both, and say the same: port.py PROGRAM
PROGRAM, the first against std:: and the second against ipcwait::. With one PROGRAM, which is
compiled with ThreadSanitizer: it passes and nothing is reported, spinning and sleeping."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'common'))

import failure  # noqa: E402

REPORT = 'ThreadSanitizer'


def output(program, policy='adaptive'):
    env = dict(os.environ, IPCWAIT_POLICY=policy, TSAN_OPTIONS='atexit_sleep_ms=0')
    run = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8',
                         errors='replace', env=env)
    if 'FATAL: ThreadSanitizer' in run.stdout:
        print('skipped: ThreadSanitizer does not run here:', failure.one_line(run.stdout))
        sys.exit(77)
    if run.returncode or REPORT in run.stdout:
        sys.exit(f'{program}, {policy}: status {run.returncode}\n{failure.cut(run.stdout)}')
    return run.stdout.splitlines()


def main():
    first, *second = sys.argv[1:]
    says = output(first)
    other = output(*second) if second else output(first, 'block')
    for a, b in zip(says, other):
        if a != b:
            sys.exit(f'one says: {a}\nthe other: {b}')
    if len(says) != len(other) or len(says) < 10:
        sys.exit(f'{len(says)} and {len(other)} lines')
    print(f'{len(says)} lines, the same')


main()
