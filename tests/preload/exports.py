#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The module exports what its sources mark, and nothing else: exports.py ROOT NM MODULE

Names have no version, and so stand for every version of the original, but for those that
preload.map lists.
"""
import pathlib
import re
import subprocess
import sys

MARKED = re.compile(r'^IW_INTERPOSED\s[^(;]*?\b(\w+)\(', re.M)
NODE = re.compile(r'^(\w[\w.]*) \{(.*?)^\};', re.M | re.S)


def wanted(folder, has_map):
    """name or name@@version, of each function that is marked."""
    versions = {}
    if has_map:
        for node, body in NODE.findall((folder / 'preload.map').read_text()):
            versions.update((name, f'{name}@@{node}') for name in re.findall(r'(\w+);', body))
    names = {name for source in folder.glob('*.c')
             for name in MARKED.findall(source.read_text())}
    lost = versions.keys() - names
    if lost:
        sys.exit(f'preload.map lists what no source marks: {" ".join(sorted(lost))}')
    return {versions.get(name, name) for name in names}


def exported(nm, module):
    out = subprocess.run([nm, '--dynamic', '--defined-only', '--format=posix', module],
                         capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in out.splitlines() if ' A ' not in line}


def main(root, nm, module, has_map):
    want, have = wanted(pathlib.Path(root) / 'preload', has_map == 'map'), exported(nm, module)
    for name in sorted(want - have):
        print(f'{name} is marked and not exported')
    for name in sorted(have - want):
        print(f'{name} is exported and not marked')
    print(f'{len(have)} names are exported')
    return 0 if want == have and len(have) > 30 else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
