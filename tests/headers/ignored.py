#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The compiler warns of the ignored results that ignored.c says, of all others it does not, and
what the headers mark is all there: ignored.py COMPILER INCLUDE_DIRECTORY"""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))

import failure  # noqa: E402

WARNING = re.compile(r'ignored\.c:(\d+):.*\[-Wunused-(?:result|value)\]')
MARKED = re.compile(r'IPCWAIT_MUST_CHECK\b[^;{]*?\b(ipcwait_\w+)\(')


def warned_lines(compiler, include, source, option):
    """Numbers of the lines that it warns of."""
    run = subprocess.run([compiler, '-std=gnu11', option, '-Wall', '-Wextra', '-I', include,
                          '-c', '-o', os.devnull, source],
                         stderr=subprocess.PIPE, encoding='utf-8', env=dict(os.environ, LC_ALL='C'))
    if run.returncode:
        sys.exit(failure.cut(run.stderr))
    other = [line for line in run.stderr.splitlines()
             if 'warning:' in line and not WARNING.search(line)]
    if other:
        sys.exit(failure.cut('\n'.join(other)))
    return {int(n) for n in WARNING.findall(run.stderr)}


def marked_names(include):
    """Public functions that the headers mark."""
    names = set()
    for path in glob.glob(os.path.join(include, 'ipcwait', '*.h')):
        with open(path, encoding='utf-8') as file:
            names.update(MARKED.findall(file.read()))
    return {name for name in names if not name.startswith('ipcwait_impl_')}


def main():
    compiler, include = sys.argv[1:]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'ignored.c')
    with open(source, encoding='utf-8') as file:
        lines = file.read().splitlines()
    wanted = {n for n, line in enumerate(lines, 1) if line.endswith('/* warns */')}
    said = {re.search(r'ipcwait_\w+', lines[n - 1]).group() for n in wanted}
    faults = [f'{name} is marked, and not in ignored.c' for name in marked_names(include) - said]
    for option in '-O0', '-O2':
        warned = warned_lines(compiler, include, source, option)
        for n in sorted(wanted ^ warned):
            how = 'no warning' if n in wanted else 'a warning'
            faults.append(f'{how} with {option}, line {n}: {lines[n - 1].strip()}')
    sys.exit(failure.cut('\n'.join(faults)) or 0)


main()
