#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The built libraries define what they should: exports.py ROOT NM libipcwait.so [libipcwait.a]

The shared library's dynamic symbols are those of the map, with its version nodes, and no
others. The static one has no version script; there every global name has a prefix of ours, but
for what compilers add: address sanitizers, and the way to libgcc's part of -fexceptions.
"""
import re
import subprocess

import source
from symbols import MAP, read_map

RULES = ('exports.missing', 'exports.extra', 'exports.prefix')

PREFIX = re.compile(r'(?:__odr_asan(?:_gen_|\.))?(?:ipcwait|iw)_|DW\.ref\.__gcc_personality_v0$')


def defined(nm, library, *options):
    """Names that the library defines, with @@version where it has one."""
    out = subprocess.run([nm, *options, '--defined-only', '--format=posix', library],
                         capture_output=True, encoding='utf-8', check=True).stdout
    return {line.split()[0] for line in out.splitlines() if len(line.split()) > 1}


def check_shared(tree, nm, library):
    listed = read_map(tree.source(MAP))
    want = {f'{name}@@{node}': line for name, (node, line) in listed.symbols.items()}
    have = {name for name in defined(nm, library, '--dynamic')
            if name.split('@')[0] not in listed.nodes}
    for name in sorted(want.keys() - have):
        tree.add('exports.missing', MAP, want[name], f'{library} does not define {name}')
    for name in sorted(have - want.keys()):
        tree.add('exports.extra', MAP, 1, f'{library} exports {name}, which the map does not list')
    return len(have)


def check_static(tree, nm, library):
    names = defined(nm, library, '--extern-only')
    for name in sorted(names):
        if not PREFIX.match(name):
            tree.add('exports.prefix', MAP, 1, f'{library} defines {name}: make it static, or '
                     'begin it with iw_')
    return len(names)


def check(tree, nm, shared, static=None):
    count = check_shared(tree, nm, shared)
    if static:
        count += check_static(tree, nm, static)
    return count, 'symbols in the libraries'


if __name__ == '__main__':
    source.main(check)
