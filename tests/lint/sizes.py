#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits on the length of functions, files and macros, and on nesting."""
import re

import source
from outline import DIRECTIVE, Nesting, functions

RULES = ('sizes.function', 'sizes.file', 'sizes.macro', 'sizes.nesting')

FUNCTION, FUNCTION_TARGET = 60, 25
SOURCE_FILE, PRIVATE_HEADER, PUBLIC_HEADER, PROGRAM_FILE = 500, 300, 500, 500
MACRO = 8
NESTING = 3
PRODUCT = ('include', 'lib', 'preload', 'cli', 'tools')
PROGRAMS = ('examples', 'tests', 'bench')


def file_limit(file):
    """Lines that a file may have, None if nobody cares."""
    if file.within('include'):
        return PUBLIC_HEADER
    if file.within(*PRODUCT):
        return PRIVATE_HEADER if file.path.endswith('.h') else SOURCE_FILE
    if file.within(*PROGRAMS):
        return PROGRAM_FILE
    return None


def check_function(tree, file, item):
    """Returns the length, from the first line of the head to the closing brace."""
    first = file.line(item.start)
    length = file.line(item.end - 1) - first + 1
    if length > FUNCTION:
        tree.add('sizes.function', file.path, first,
                 f'{item.name}() has {length} lines, limit {FUNCTION}: split it by phase')
    nesting = Nesting(file.code[item.body:item.end])
    if file.within('lib') and nesting.depth > NESTING:
        tree.add('sizes.nesting', file.path, file.line(item.body + nesting.offset),
                 f'{item.name}() nests {nesting.depth} deep, limit {NESTING}: name the inner part')
    return length


def check_macros(tree, file):
    for m in DIRECTIVE.finditer(file.code):
        lines = m[0].count('\n') + 1
        if re.match(r'\s*#\s*define\b', m[0]) and lines > MACRO:
            tree.add('sizes.macro', file.path, file.line(m.start()),
                     f'a macro of {lines} lines, limit {MACRO}: make it a function')


def check(tree):
    lengths = []
    for file in tree.c_sources():
        limit, lines = file_limit(file), file.text.count('\n')
        if limit and lines > limit:
            tree.add('sizes.file', file.path, limit, f'the file has {lines} lines, limit {limit}')
        check_macros(tree, file)
        own = [check_function(tree, file, item) for item in functions(file)]
        lengths += own if file.within(*PRODUCT) else []
    longer = sum(length > FUNCTION_TARGET for length in lengths)
    print(f'{longer} of {len(lengths)} functions of the product have over {FUNCTION_TARGET} lines, '
          f'longest {max(lengths, default=0)}')
    return len(lengths), 'functions'


if __name__ == '__main__':
    source.main(check)
