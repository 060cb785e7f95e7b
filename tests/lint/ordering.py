#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every atomic access says why its memory order is right.

    /* ORD sem.A1: acquire on success, sees what the poster wrote. Pairs with sem.R1. */

A tag is `ORD <file>.<letter><n>:` where <file> is the file's name without its extension
(sem.h and sem.c share theirs). Letters: A acquire, R release, S sequentially consistent,
X relaxed. A read-modify-write with order acq_rel needs an A and an R.

What a tag covers. A comment that holds tags covers the lines below it, down to
  - a blank line,
  - a line that is indented less than the first of them, or
  - the next comment that holds tags,
whichever comes first. A comment behind code covers its own line only. An access belongs to
the line its name stands on, and needs a tag of the letter of its order in the comment that
covers it; several accesses may share one. A tag that covers no access of its letter is an error.

Partners. A and R tags say `Pairs with x.R1 and y.R2.`, up to the full stop: of the opposite
letter, existing, and naming them back. S tags pair with S. X tags give a reason: the text has
one of REASONS. No comment, and no note in docs/design, mentions a tag that does not exist.
"""
import posixpath
import re
from typing import NamedTuple

import source

RULES = ('ordering.untagged', 'ordering.letter', 'ordering.unused', 'ordering.grammar',
         'ordering.file', 'ordering.duplicate', 'ordering.partner', 'ordering.reason',
         'ordering.dangling')

EXEMPT = ('include/ipcwait/impl/word.h', 'lib/os/seam.h')   # where the accesses are defined
ACCESS = re.compile(r'\b(?:ipcwait_impl|iw)_[a-z]+(?:8|16|32|64|ptr)_'
                    r'(relaxed|consume|acquire|release|acq_rel|seq_cst)\s*\(')
LETTERS = {'relaxed': 'X', 'acquire': 'A', 'consume': 'A', 'release': 'R', 'acq_rel': 'AR',
           'seq_cst': 'S'}
OPPOSITE = {'A': 'R', 'R': 'A', 'S': 'S'}
REASONS = ('statistic', 're-checked', 'protected', 'hint', 'no order')

ORD = re.compile(r'\bORD\b')
TAG = re.compile(r'\bORD\s+([a-z]\w*)\.([ARSX])(\d+):')
MENTION = re.compile(r'\b[a-z]\w*\.[ARSX]\d+\b')
PAIRS = re.compile(r'\bpairs\s+with\b(.*?)(?:\.(?:\s|$)|$)', re.I | re.S)


class Tag(NamedTuple):
    name: str
    letter: str
    text: str
    path: str
    line: int

    @property
    def partners(self):
        return {p for m in PAIRS.finditer(self.text) for p in MENTION.findall(m[1])}


def tags_in(file, comment):
    """The tags of one comment, each with its text up to the next."""
    plain = re.sub(r'\n[ \t]*\*', lambda m: '\n' + ' ' * (len(m[0]) - 1), comment[0])
    found = list(TAG.finditer(plain))
    ends = [m.start() for m in found[1:]] + [len(plain) - 2]
    for m, end in zip(found, ends):
        text = ' '.join(plain[m.end():end].split())
        yield Tag(f'{m[1]}.{m[2]}{m[3]}', m[2], text, file.path,
                  file.line(comment.start() + m.start()))


def indentation(line):
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())


def covered_lines(file, comment, tagged_starts):
    """The numbers of the lines that a comment with tags covers."""
    lines = file.text.split('\n')
    first, last = file.line(comment.start()), file.line(comment.end() - 1)
    if file.text[file.starts[first - 1]:comment.start()].strip():
        return [first]
    covered, column = [last], None
    for n in range(last + 1, len(lines) + 1):
        line = lines[n - 1]
        if column is None:
            column = indentation(line)
        if not line.strip() or indentation(line) < column or n in tagged_starts:
            break
        covered.append(n)
    return covered


def coverage(file):
    """{line: tags that cover it}; the own line of a comment behind code goes first."""
    tagged = {m: tuple(tags_in(file, m)) for m in file.comments}
    tagged = {m: tags for m, tags in tagged.items() if tags}
    whole = {file.line(m.start()) for m in tagged
             if not file.text[file.starts[file.line(m.start()) - 1]:m.start()].strip()}
    by_line = {}
    for m in sorted(tagged, key=lambda m: file.line(m.start()) not in whole):
        for n in covered_lines(file, m, whole):
            by_line[n] = tagged[m]
    return by_line, [t for tags in tagged.values() for t in tags]


def check_accesses(tree, file, by_line, tags):
    """Each access has its tag, each tag its access. Returns the number of accesses."""
    accesses, used = 0, set()
    stem = posixpath.basename(file.path).split('.')[0]
    for m in ACCESS.finditer(file.code):
        accesses += 1
        line = file.line(m.start())
        here = by_line.get(line, ())
        for letter in LETTERS[m[1]]:
            fitting = [t.name for t in here if t.letter == letter]
            used.update(fitting)
            if not here:
                tree.add('ordering.untagged', file.path, line,
                         f'no tag covers this {m[1]} access: put `ORD {stem}.{letter}<n>: why` '
                         'in a comment above it')
            elif not fitting:
                tree.add('ordering.letter', file.path, line,
                         f'a {m[1]} access needs a tag {stem}.{letter}<n>, it has '
                         + ', '.join(t.name for t in here))
    for tag in tags:
        if tag.name not in used:
            tree.add('ordering.unused', tag.path, tag.line,
                     f'{tag.name} covers no access of its letter: move or remove it')
        if tag.name.split('.')[0] != stem:
            tree.add('ordering.file', tag.path, tag.line, f'{tag.name} has to begin with {stem}')
    return accesses


def check_grammar(tree, file):
    for comment in file.comments:
        good = {m.start() for m in TAG.finditer(comment[0])}
        for m in ORD.finditer(comment[0]):
            if m.start() not in good:
                tree.add('ordering.grammar', file.path, file.line(comment.start() + m.start()),
                         'want `ORD <file>.<letter><n>:` with letter A, R, S or X')


def check_partners(tree, tags):
    """Duplicates, partners and reasons over the whole tree."""
    known = {}
    for tag in tags:
        if tag.name in known:
            tree.add('ordering.duplicate', tag.path, tag.line,
                     f'{tag.name} is taken, see {known[tag.name].path}:{known[tag.name].line}')
        known.setdefault(tag.name, tag)
    for tag in tags:
        if tag.letter == 'X':
            if not any(reason in tag.text.lower() for reason in REASONS):
                tree.add('ordering.reason', tag.path, tag.line,
                         f'{tag.name}: say why relaxed is enough: ' + ', '.join(REASONS))
            continue
        want = OPPOSITE[tag.letter]
        if not tag.partners:
            tree.add('ordering.partner', tag.path, tag.line,
                     f'{tag.name} has no partner: `Pairs with <file>.{want}<n>.`')
        for name in sorted(tag.partners & known.keys()):
            if known[name].letter != want:
                tree.add('ordering.partner', tag.path, tag.line,
                         f'{tag.name} pairs with {name}: an {tag.letter} needs an {want}')
            elif tag.name not in known[name].partners:
                tree.add('ordering.partner', known[name].path, known[name].line,
                         f'{name} does not name {tag.name}, which pairs with it')
    return known


def check_mentions(tree, files, known):
    notes = [tree.source(p) for p in tree.paths
             if p.startswith('docs/design/') and p.endswith('.md')]
    spans = [(f, m.start(), m[0]) for f in files for m in f.comments]
    for file, start, text in spans + [(n, 0, n.text) for n in notes]:
        for m in MENTION.finditer(text):
            if m[0] not in known:
                tree.add('ordering.dangling', file.path, file.line(start + m.start()),
                         f'there is no tag {m[0]}')


def check(tree):
    files = [f for f in tree.c_sources('include', 'lib', 'preload') if f.path not in EXEMPT]
    accesses, tags = 0, []
    for file in files:
        check_grammar(tree, file)
        by_line, own = coverage(file)
        accesses += check_accesses(tree, file, by_line, own)
        tags += own
    check_mentions(tree, files, check_partners(tree, tags))
    return accesses, 'atomic accesses'


if __name__ == '__main__':
    source.main(check)
