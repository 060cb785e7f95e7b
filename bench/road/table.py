#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table.py ROOT: reads what `gcov -j --stdout` prints; a line for each file that was executed."""
import json
import sys


def main(root):
    files = {}
    for line in sys.stdin:
        if not line.startswith('{'):
            continue
        for file in json.loads(line)['files']:
            name = file['file'].replace(root, '')
            if name.startswith('bench/') or not any(x['count'] for x in file['lines']):
                continue
            ran = {f['name'] for f in file['functions'] if f['execution_count']}
            files.setdefault(name, set()).update(ran)
    for name in sorted(files):
        print(f"{name:32} {' '.join(sorted(files[name]))}")
    sources = sum(name.endswith('.c') for name in files)
    print(f'{len(files)} files, {sources} of them with a body (.c)')


if __name__ == '__main__':
    main(sys.argv[1])
