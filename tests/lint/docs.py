#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every public function has a manual page, and the README names only what exists.

A function has a page when the NAME section of some docs/man/*.3 has the line `.Nm function`.
"""
import re

import source
from outline import exported

RULES = ('docs.page', 'docs.stale', 'docs.readme')

NAME_SECTION = re.compile(r'^\.Sh NAME\n(.*?)(?=^\.Sh |\Z)', re.M | re.S)
NM = re.compile(r'^\.Nm (ipcwait_\w+)', re.M)
NAMED = re.compile(r'(?<![\w/.-])(?:\./)?((?:scripts|examples)/[\w./-]*\w)')
LINK = re.compile(r'\]\((?![a-z]+:|#)([^)#\s]+)')


def check_pages(tree):
    """Functions against NAME sections. Returns the number of functions."""
    declared, documented = {}, {}
    for header in tree.public_headers():
        for item in exported(header):
            declared[item.name] = (header.path, header.line(item.start))
    public = {name for name in declared if not name.startswith('ipcwait_impl_')}
    for page in (tree.source(p) for p in tree.paths if re.fullmatch(r'docs/man/[^/]+\.3', p)):
        for section in NAME_SECTION.finditer(page.text):
            for m in NM.finditer(section[1]):
                documented[m[1]] = (page.path, page.line(section.start(1) + m.start()))
    for name in sorted(public - documented.keys()):
        tree.add('docs.page', *declared[name],
                 f'{name} has no manual page: `.Nm {name}` in the NAME of some docs/man/*.3')
    for name in sorted(documented.keys() - public):
        tree.add('docs.stale', *documented[name], f'{name} is no public function')
    return len(public)


def check_readme(tree):
    if 'README.md' not in tree.paths:
        tree.add('docs.readme', 'README.md', 1, 'is missing')
        return
    readme = tree.source('README.md')
    for m in [*NAMED.finditer(readme.text), *LINK.finditer(readme.text)]:
        if not (tree.root / m[1]).exists():
            tree.add('docs.readme', readme.path, readme.line(m.start()), f'{m[1]} does not exist')


def check(tree):
    check_readme(tree)
    return check_pages(tree), 'public functions'


if __name__ == '__main__':
    source.main(check)
