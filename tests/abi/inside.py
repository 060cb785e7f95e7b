#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No call inside goes by a public name: inside.py READELF ROOT FILE...

The dynamic linker looks such a name up in the program first, and the program may have a function of
that name: a sigaction() of its own, say, that calls the next one, which called it again. So no
relocation of the module or the library names what one of them exports, or what the module stands in
front of. For calls inside there are hidden functions. Exception: thread data that inline functions
of the headers use is the program's and the library's.
"""
import pathlib
import re
import subprocess
import sys

MARKED = re.compile(r'^IW_INTERPOSED\s[^(;]*?\b(\w+)\(', re.M)
OF_THREAD_DATA = re.compile(r'TPREL|TPOFF|DTPMOD|DTPREL|DTPOFF|TLS')
LEAST_RELOCATIONS = 20      # fewer: not understood what readelf says


def lines_of(readelf, option, file):
    out = subprocess.run([readelf, '--wide', option, file], capture_output=True, text=True,
                         check=True).stdout
    return [line.split() for line in out.splitlines()]


def plain(name):
    return name.split('@')[0]


def exported(readelf, file):
    return {plain(words[7]) for words in lines_of(readelf, '--dyn-syms', file)
            if len(words) > 7 and words[0].rstrip(':').isdigit() and words[6] not in ('UND', 'ABS')}


def named(readelf, file):
    """{name: types of the relocations that name it}."""
    found = {}
    for words in lines_of(readelf, '--relocs', file):
        if len(words) > 4 and words[2].startswith('R_') and not OF_THREAD_DATA.search(words[2]):
            found.setdefault(plain(words[4]), set()).add(words[2])
    return found


def main(readelf, root, *files):
    public = {name for source in pathlib.Path(root, 'preload').glob('*.c')
              for name in MARKED.findall(source.read_text())}
    for file in files:
        public |= exported(readelf, file)
    failed = False
    for file in files:
        relocations = named(readelf, file)
        print(f'{file}: {len(relocations)} names of {len(public)} that may not be among them')
        failed |= len(relocations) < LEAST_RELOCATIONS
        for name in sorted(public & relocations.keys()):
            print(f'  {name}: {", ".join(sorted(relocations[name]))}')
            failed = True
    return failed or len(public) < LEAST_RELOCATIONS


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
