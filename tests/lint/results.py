#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Committed results are small summaries, and each is named where its figures are used.

A document or a test names a result by its file name, in which a * or {...} stands for anything.
docs/benchmarks/results.md tells what a summary is.
"""
import fnmatch
import re

import source

RULES = ('results.size', 'results.total', 'results.named', 'results.missing', 'results.path')

FOLDER = 'bench/results'
FILE_MOST, TOTAL_MOST = 30 << 10, 1 << 20

# Who may name a result, and the rules' own examples.
NAMING, EXAMPLES = ('README.md', 'CONTRIBUTING.md', 'docs', 'tests'), 'tests/lint'
TEXT = ('.md', '.py')
NAME = re.compile(r'(?P<folder>bench/results/)?(?P<name>[\w*{][\w.*{}-]*\.json)')
# A file of the machine that was measured on. Folders that each machine has may be named.
OWN_PATH = re.compile(r'"(/(?!dev/|etc/|proc/|sys/|usr/)[^"/]+/[^"]*)"')

LETTERS_LEAST = 8   # of a name, so that *.json names nothing


def names(tree):
    """(file, offset, pattern, whether it stands behind the folder) of each name of a result."""
    for path in tree.paths:
        file = tree.source(path) if path.endswith(TEXT) else None
        if not file or not file.within(*NAMING) or file.within(EXAMPLES):
            continue
        for m in NAME.finditer(file.text):
            pattern = re.sub(r'\{[^}]*\}', '*', m['name'])
            if len(re.sub(r'\W', '', pattern)) >= LETTERS_LEAST:
                yield file, m.start(), pattern, bool(m['folder'])


def check_sizes(tree, results):
    total = 0
    for path in results:
        size = (tree.root / path).stat().st_size
        total += size
        if size > FILE_MOST:
            tree.add('results.size', path, 1,
                     f'{size} bytes, limit {FILE_MOST}: commit the summary')
    if total > TOTAL_MOST:
        tree.add('results.total', FOLDER, 1,
                 f'{total} bytes, limit {TOTAL_MOST}: remove results of versions that are gone')


def check_paths(tree, results):
    for path in results:
        text = (tree.root / path).read_text(encoding='utf-8')
        for m in OWN_PATH.finditer(text):
            tree.add('results.path', path, text.count('\n', 0, m.start()) + 1,
                     f'{m[1]} is a path of one machine: write the summary anew')


def check(tree):
    results = {p.rpartition('/')[2]: p for p in tree.paths if p.startswith(FOLDER + '/')}
    check_sizes(tree, results.values())
    check_paths(tree, results.values())
    named = set()
    for file, offset, pattern, must_be in names(tree):
        found = fnmatch.filter(results, pattern)
        named.update(found)
        if must_be and not found:
            tree.add('results.missing', file.path, file.line(offset), f'no {FOLDER}/{pattern}')
    for name in sorted(results.keys() - named):
        tree.add('results.named', results[name], 1, 'no document and no test names it: remove it')
    return len(results), 'results'


if __name__ == '__main__':
    source.main(check)
