#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Public headers document every function with the same labels in the same order."""
import re

import source
from outline import exported

RULES = ('labels.file', 'labels.comment', 'labels.parameter', 'labels.missing', 'labels.order',
         'labels.empty', 'labels.name')

LABELS = ('Return', 'Ordering', 'Threads', 'Processes', 'Signals', 'Cancellation', 'Lifetime',
          'errno', 'Since')
LABEL = re.compile(r'^(' + '|'.join(LABELS) + r'):[ \t]*(.*)$', re.M)
FILE_COMMENT = re.compile(r'/\* SPDX-[^\n]*\*/\n\s*/\*(?!\*)')


def comment_above(file, offset):
    """Text of the documentation comment that ends on the line above, without its stars."""
    for m in file.comments:
        between = file.text[m.end():offset]
        if m[0].startswith('/**') and m.end() < offset and re.fullmatch(r'\n[ \t]*', between):
            return re.sub(r'^[ \t]*(?:/\*\*|\*/|\*)[ \t]?', '', m[0], flags=re.M)
    return None


def check_labels(add, name, doc, returns_void):
    found = [m[1] for m in LABEL.finditer(doc)]
    want = [label for label in LABELS if label != 'Return' or not returns_void]
    for label in want:
        if label not in found:
            add('labels.missing', f'{name}: no label `{label}:`')
    if set(found) >= set(want) and found != want:
        add('labels.order', f'{name}: want each once and in this order: ' + ', '.join(want))
    for m in LABEL.finditer(doc):
        if not m[2].strip():
            add('labels.empty', f'{name}: say something after `{m[1]}:`')


def check_parameters(add, item, doc):
    documented = re.findall(r'^@(\w+):', doc, re.M)
    if documented != item.parameters:
        add('labels.parameter', f'{item.name}: parameters are {item.parameters}, the comment '
            f'documents {documented}')


def check_function(tree, header, item):
    def add(rule, text):
        tree.add(rule, header.path, header.line(item.start), text)

    if not item.name.startswith('ipcwait_'):
        add('labels.name', f'{item.name}: public names begin with ipcwait_')
    doc = comment_above(header, item.start)
    if doc is None or not re.match(rf'\s*{item.name}\(\) - \S', doc):
        add('labels.comment', f'{item.name}: needs a comment `/** {item.name}() - summary` '
            'directly above')
        return
    check_parameters(add, item, doc)
    check_labels(add, item.name, doc, item.returns_void)


def check(tree):
    count = 0
    for header in tree.public_headers():
        if not FILE_COMMENT.match(header.text):
            tree.add('labels.file', header.path, 1,
                     'after the SPDX line comes a comment that says what the header is for')
        for item in exported(header):
            if not item.name.startswith('ipcwait_impl_'):
                check_function(tree, header, item)
                count += 1
    return count, 'public functions'


if __name__ == '__main__':
    source.main(check)
