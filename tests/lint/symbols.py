#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lib/libipcwait.map lists exactly what the public headers export."""
import re
from typing import Dict, NamedTuple, Tuple

import source
from outline import exported

RULES = ('symbols.map', 'symbols.undeclared', 'symbols.unlisted')

MAP = 'lib/libipcwait.map'
THREAD_LOCAL = re.compile(r'\bextern\s+IPCWAIT_API\s+__thread\s[^;()]*?(\w+)\s*[\[;]')
NODE = re.compile(r'([A-Za-z]\w*)\s*\{([^}]*)\}\s*(\w*)\s*;')


class Map(NamedTuple):
    symbols: Dict[str, Tuple[str, int]]     # name: (version node, line)
    nodes: Tuple[str, ...]
    errors: Tuple[Tuple[int, str], ...]     # (line, what is wrong)


def read_map(file):
    """A version script of the form `NODE { global: a; b; local: *; } PARENT;`."""
    text = re.sub(r'#[^\n]*', lambda m: source.blank(m[0]), file.bare)
    symbols, nodes, errors, hidden = {}, [], [], False
    for node in NODE.finditer(text):
        nodes.append(node[1])
        section = 'global'
        for m in re.finditer(r'(global|local)\s*:|([^\s;]+)\s*;', node[2]):
            line = file.line(node.start(2) + m.start())
            if m[1]:
                section = m[1]
            elif section == 'local':
                hidden = hidden or m[2] == '*'
            elif not re.fullmatch(r'\w+', m[2]) or m[2] in symbols:
                errors.append((line, f'{m[2]}: one plain name a line, each once'))
            else:
                symbols[m[2]] = (node[1], line)
    if not hidden:
        errors.append((1, 'needs a node with `local: *;`, or everything is exported'))
    return Map(symbols, tuple(nodes), tuple(errors))


def check(tree):
    if MAP not in tree.paths:
        tree.add('symbols.map', MAP, 1, 'is missing')
        return 0, 'symbols'
    listed = read_map(tree.source(MAP))
    for line, text in listed.errors:
        tree.add('symbols.map', MAP, line, text)
    declared = {}
    for header in tree.public_headers():
        for item in exported(header):
            declared[item.name] = (header.path, header.line(item.start))
        for m in THREAD_LOCAL.finditer(header.bare):
            declared[m[1]] = (header.path, header.line(m.start()))
    for name in sorted(declared.keys() - listed.symbols.keys()):
        tree.add('symbols.unlisted', *declared[name],
                 f'{name} is declared but not in {MAP}: add it')
    for name in sorted(listed.symbols.keys() - declared.keys()):
        tree.add('symbols.undeclared', MAP, listed.symbols[name][1],
                 f'{name} is listed but no public header declares it')
    return len(declared), 'symbols'


if __name__ == '__main__':
    source.main(check)
