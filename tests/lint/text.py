#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Licence line, line ends, columns and indentation of source files."""
import re

import source

RULES = ('text.licence', 'text.newline', 'text.blanks', 'text.columns', 'text.indent')

LICENCE = 'SPDX-License-Identifier: MIT'
COLUMNS = 100
CHECKED = re.compile(r'\.(?:c|h|cc|py|sh|md|map|[1-9])$|(?:^|/)meson(?:\.build|_options\.txt)$')


def is_script(file):
    return file.path.endswith(('.py', '.sh')) or file.text.startswith('#!')


def check_licence(tree, file):
    lines = file.text.split('\n')
    if source.is_c(file.path):
        if lines[0] != f'/* {LICENCE} */':
            tree.add('text.licence', file.path, 1, f'the first line is `/* {LICENCE} */`')
    elif is_script(file) and not any(line == f'# {LICENCE}' for line in lines[:3]):
        tree.add('text.licence', file.path, 1, f'one of the first three lines is `# {LICENCE}`')


def check_lines(tree, file):
    lines = file.text.split('\n')
    if lines[-1] or len(lines) > 1 and not lines[-2]:
        tree.add('text.newline', file.path, len(lines), 'the file ends in exactly one newline')
    for n, line in enumerate(lines, 1):
        if line != line.rstrip():
            tree.add('text.blanks', file.path, n, 'remove the blanks at the end of the line')
        if source.is_c(file.path) and len(line.expandtabs(8)) > COLUMNS:
            tree.add('text.columns', file.path, n, f'over {COLUMNS} columns')


def check_indent(tree, file):
    """Tabs in C, but for the lines inside comments; no tabs in Python."""
    if file.path.endswith('.py') and not file.within('scripts'):
        wrong, advice = re.compile(r'^ *\t', re.M), 'indent Python with spaces'
    elif source.is_c(file.path):
        wrong, advice = re.compile(r'^(?: |\t+ +\t|\t+ {8})', re.M), 'indent C with tabs'
    else:
        return
    comments = file.comments if source.is_c(file.path) else ()
    inside = [range(m.start() + 1, m.end()) for m in comments]
    for m in wrong.finditer(file.text):
        if not any(m.start() in span for span in inside):
            tree.add('text.indent', file.path, file.line(m.start()), advice)


def check(tree):
    files = [f for f in map(tree.source, tree.paths) if CHECKED.search(f.path) or is_script(f)]
    for file in files:
        check_licence(tree, file)
        check_lines(tree, file)
        check_indent(tree, file)
    return len(files), 'files'


if __name__ == '__main__':
    source.main(check)
