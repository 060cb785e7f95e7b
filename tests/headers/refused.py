#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the C++ headers refuse, they refuse with the words that refused.cc says, and without a CASE
there is no warning: refused.py COMPILER STANDARD INCLUDE_DIRECTORY"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))

import failure  # noqa: E402

WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wold-style-cast', '-Wconversion', '-Wshadow',
            '-Werror']
CASE = re.compile(r'CASE == (\d+)\s*/\* (?:from (c\+\+\d\d): )?(.*?) \*/')


def compiled(compiler, standard, include, source, case):
    """Status and messages."""
    run = subprocess.run([compiler, f'-std={standard}', *WARNINGS, '-I', include, f'-DCASE={case}',
                          '-fsyntax-only', source],
                         stderr=subprocess.PIPE, encoding='utf-8', env=dict(os.environ, LC_ALL='C'))
    return run.returncode, run.stderr


def main():
    compiler, standard, include = sys.argv[1:]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'refused.cc')
    with open(source, encoding='utf-8') as file:
        cases = CASE.findall(file.read())
    status, messages = compiled(compiler, standard, include, source, 0)
    faults = [messages] if status else []
    for case, since, wanted in cases:
        status, messages = compiled(compiler, standard, include, source, case)
        if standard < since:
            faults += [f'case {case} is refused before {since}:\n{messages}'] if status else []
        elif not status:
            faults.append(f'case {case} compiles')
        elif wanted not in messages:
            faults.append(f'case {case} is refused without "{wanted}":\n{failure.cut(messages, 10)}')
    print(failure.cut('\n'.join(faults)) or f'{len(cases)} cases are refused, or accepted before their standard')
    sys.exit(bool(faults or not cases))


main()
