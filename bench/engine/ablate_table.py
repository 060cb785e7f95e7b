#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ablate_table.py FOLDER NAME...: the bars of several runs of wait_bench, a column for each.

A bar's figure is what wait_bench prints behind its name; lower is better where the bar says <=,
higher where it says >=.
"""
import re
import sys

BAR = re.compile(r'^  (\S.*?)\s{2,}(-?[\d.]+)\s+bar ([<>]=) ([\d.]+)')


def bars_of(path):
    found = {}
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            match = BAR.match(line)
            if match:
                found[match[1]] = (match[2], match[3] + match[4])
    return found


def main(folder, names):
    runs = {name: bars_of(f'{folder}/{name}.txt') for name in names}
    first = runs[names[0]]
    width = max(len(bar) for bar in first) if first else 10
    print(' ' * (width + 2) + '  '.join(f'{name:>12}' for name in names))
    for bar, (_, limit) in first.items():
        cells = (runs[name].get(bar, ('-', ''))[0] for name in names)
        print(f'{bar:{width}}  ' + '  '.join(f'{cell:>12}' for cell in cells) + f'  {limit}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))
