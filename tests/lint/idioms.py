#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small rules of form: comments, marks of unfinished work, the sign of results.

A result of an ipcwait_ function is negative errno, so `== ETIMEDOUT` compiles and is never
true. Seen are comparisons of the call itself, and of a variable that the same function has
assigned from such a call.
"""
import re

import source
from outline import functions

RULES = ('idioms.comment', 'idioms.mark', 'idioms.sign')

MARKED = ('include', 'lib', 'preload', 'cli', 'examples', 'tools')
MARK = re.compile(r'\b(?:TODO|FIXME|XXX|HACK)\b')
POSITIVE = r'E[A-Z][A-Z0-9]+\b(?!\s*\()'
CALL = r'\bipcwait_\w+\s*\((?:[^();{}]|\((?:[^();{}]|\([^();{}]*\))*\))*\)'
DIRECT = re.compile(rf'(?:{CALL}|\(\s*\w+\s*=\s*{CALL}\s*\))\s*[=!]=\s*{POSITIVE}'
                    rf'|\b{POSITIVE}\s*[=!]=\s*{CALL}')
ASSIGNED = re.compile(rf'\b(\w+)\s*=\s*{CALL}\s*[;,)]')


def wrong_signs(code):
    """Offsets of comparisons with a positive errno value."""
    yield from (m.start() for m in DIRECT.finditer(code))
    for name in {m[1] for m in ASSIGNED.finditer(code)}:
        pattern = rf'(?<![\w.>]){name}\)?\s*[=!]=\s*{POSITIVE}|\b{POSITIVE}\s*[=!]=\s*{name}\b'
        yield from (m.start() for m in re.finditer(pattern, code))


def check(tree):
    files = tree.c_sources()
    for file in files:
        for m in file.comments:
            if m[0].startswith('//'):
                tree.add('idioms.comment', file.path, file.line(m.start()),
                         '// is for notes that are not committed: write /* */')
        for m in MARK.finditer(file.text) if file.within(*MARKED) else ():
            tree.add('idioms.mark', file.path, file.line(m.start()),
                     f'{m[0]}: finish it, or write an issue')
        for item in functions(file):
            for offset in wrong_signs(file.code[item.body:item.end]):
                tree.add('idioms.sign', file.path, file.line(item.body + offset),
                         'results are negative errno: compare with -E...')
    return len(files), 'files'


if __name__ == '__main__':
    source.main(check)
