#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""C files and C++ headers are as the pinned clang-format would write them. Skipped without it."""
import re
import shutil
import subprocess

import source

RULES = ('format.clang',)

MAJOR = '14'    # another version formats differently; .clang-format names it too
WARNING = re.compile(r'^(.*?):(\d+):\d+: (?:warning|error): code should be', re.M)


def find_formatter():
    for name in (f'clang-format-{MAJOR}', 'clang-format'):
        program = shutil.which(name)
        if program:
            out = subprocess.run([program, '--version'], capture_output=True, encoding='utf-8').stdout
            if re.search(rf'version {MAJOR}\.', out):
                return program
    source.skip(f'no clang-format {MAJOR}')


def check(tree):
    program = find_formatter()
    files = [f.path for f in tree.c_sources()] + [p for p in tree.paths if p.endswith('.hpp')]
    run = subprocess.run([program, '--style=file', '--dry-run', '-Werror', *files], cwd=tree.root,
                         capture_output=True, encoding='utf-8')
    for path, line in sorted({(m[1], int(m[2])) for m in WARNING.finditer(run.stderr)}):
        tree.add('format.clang', path, line, f'run `clang-format -i {path}`')
    if run.returncode and not tree.findings:
        tree.add('format.clang', '.clang-format', 1, run.stderr.strip().split('\n')[0])
    return len(files), 'files'


if __name__ == '__main__':
    source.main(check)
