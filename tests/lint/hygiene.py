#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No tracked file knows where a developer keeps things.

Looked for are absolute paths into the folders where people and machines keep check-outs:
home, root, work and Users, at the top of the file system. Write paths relative to the
repository, or take them from an argument.
"""
import re

import source

RULES = ('hygiene.path',)

PRIVATE = re.compile(r'(?:(?<=-[IL])|(?<![\w.})]))/(?:home|root|work|Users)/')


def check(tree):
    for file in map(tree.source, tree.paths):
        for m in PRIVATE.finditer(file.text):
            tree.add('hygiene.path', file.path, file.line(m.start()),
                     f'{m[0]} is a path of one machine: make it relative')
    return len(tree.paths), 'files'


if __name__ == '__main__':
    source.main(check)
