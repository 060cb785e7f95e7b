# SPDX-License-Identifier: MIT
"""The lists of mutants, *.txt in this folder: read, found in the sources, written anew.

    in lib/sync/sem.c: without_me        a file and the function, macro or variable in it: holds
                                         for the mutants below, until the next

    take keeps the wake                  what is wrong, a name that is there once
        - WAKE_ONE;                      what stands in the function, a few tokens that are there once
        + 0;                             what stands there instead; without a line: nothing
        at 2 of 3                        if several places in the function have this shape: which
        by interleave_sem: two waiters   the program and the test that find it; [weak] behind them
                                         is the only kind of memory that does

A mutant of two places has `in`, `-`, `+` and `at` again. A line that begins with # is a comment.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

import ctext

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
TREES = 'lib', 'include', 'preload', 'cli', 'tools'
IN = re.compile(r'in (\S+): (\w+)')
BY = re.compile(r'    by (\w+): (.*?)(?: \[(\w+)\])?')
AT = re.compile(r'    at (\d+) of (\d+)')


@dataclass
class Edit:
    """A few tokens of a function that are replaced."""
    file: str
    function: str
    old: str
    new: str = ''
    nth: int = 1
    of: int = 1


@dataclass
class Mutant:
    name: str
    where: str                 # the list and the line
    edits: list = field(default_factory=list)
    program: str = ''
    test: str = ''
    memory: str = ''


@dataclass
class Place:
    """Where an edit is in the sources of today."""
    path: str
    item: ctext.Item
    begin: int
    end: int
    names: dict                # of the edit's, those that are called otherwise now


def fail(path, number, text):
    raise SystemExit(f'{path.name}:{number}: {text}')


def add_to(mutant, place, mark, text):
    """One line of an edit, - or +."""
    if mark == '-' and (not mutant.edits or mutant.edits[-1].new or
                        (mutant.edits[-1].file, mutant.edits[-1].function) != place):
        mutant.edits.append(Edit(*place, text))
    elif mark == '-':
        mutant.edits[-1].old += ' ' + text
    elif mutant.edits:
        mutant.edits[-1].new = f'{mutant.edits[-1].new} {text}'.strip()


def read_list(path):
    found, place = [], None
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        if match := IN.fullmatch(line.strip()):
            place = match.groups()
        elif not line.startswith(' '):
            found.append(Mutant(line, f'{path.name}:{number}'))
        elif not found or not place:
            fail(path, number, 'no mutant has begun')
        elif match := re.fullmatch(r'    ([-+]) ?(.*)', line):
            add_to(found[-1], place, *match.groups())
        elif (match := AT.fullmatch(line)) and found[-1].edits:
            found[-1].edits[-1].nth, found[-1].edits[-1].of = map(int, match.groups())
        elif match := BY.fullmatch(line):
            found[-1].program, found[-1].test, found[-1].memory = match[1], match[2], match[3] or ''
        else:
            fail(path, number, f'not understood: {line.strip()}')
    for mutant in found:
        if not mutant.edits or not mutant.program:
            raise SystemExit(f'{mutant.where}: "{mutant.name}" has no edit, or no "by"')
    return found


def read_all(folder=FOLDER):
    mutants = [m for path in sorted(folder.glob('*.txt')) for m in read_list(path)]
    seen = {}
    for mutant in mutants:
        if mutant.name in seen:
            raise SystemExit(f'{mutant.where}: "{mutant.name}" is at {seen[mutant.name]} too')
        seen[mutant.name] = mutant.where
    return mutants


def write_edits(lines, edits, place):
    """The lines of a mutant's edits. Returns the place that holds behind them."""
    for edit in edits:
        if place != (edit.file, edit.function):
            place = edit.file, edit.function
            lines.append(f'    in {edit.file}: {edit.function}')
        lines.append(f'    - {edit.old}')
        if edit.new:
            lines.append(f'    + {edit.new}')
        if edit.of > 1:
            lines.append(f'    at {edit.nth} of {edit.of}')
    return place


def write_list(path, mutants, comment=''):
    lines, place = comment.splitlines(), None
    for m in mutants:
        if place != (m.edits[0].file, m.edits[0].function):
            place = m.edits[0].file, m.edits[0].function
            lines += ['', f'in {place[0]}: {place[1]}']
        lines += ['', m.name]
        place = write_edits(lines, m.edits, place)
        lines.append(f'    by {m.program}: {m.test}' + (f' [{m.memory}]' if m.memory else ''))
    path.write_text('\n'.join(lines).lstrip('\n') + '\n', encoding='utf-8')


class Sources:
    """The sources of today, and where edits are in them."""

    def __init__(self, root=ROOT, shapes=None):
        self.root, self.texts = Path(root), {}
        self.shapes = shapes or {}   # of a mutant's functions, when it was run for the last time

    def text(self, file):
        if file not in self.texts:
            path = self.root / file
            self.texts[file] = path.read_text(encoding='utf-8') if path.is_file() else ''
        return self.texts[file]

    def named(self, edit):
        """The items of that name in that file."""
        return [(edit.file, i) for i in ctext.items(self.text(edit.file)) if i.name == edit.function]

    def of_shape(self, file, shape):
        """The item of that file which has the shape and the number that a fingerprint gives."""
        digest, nth, of = shape.split(':')
        found = [i for i in ctext.items(self.text(file)) if i.shape == digest]
        return [(file, found[int(nth)])] if len(found) == int(of) else []

    def renamed(self, edit, shape):
        """The item of that shape in that file, or in any other, which is called otherwise now."""
        found = self.of_shape(edit.file, shape)
        if not found:
            files = [p.relative_to(self.root).as_posix() for t in TREES
                     for p in sorted((self.root / t).rglob('*.[ch]'))]
            found = [i for f in files for i in self.of_shape(f, shape)]
        return found if len(found) == 1 else []

    def shape(self, place):
        """The fingerprint of a place's item: its shape, and its number among those of that shape."""
        shape = place.item.shape
        alike = [i for i in ctext.items(self.text(place.path)) if i.shape == shape]
        return f'{shape}:{alike.index(place.item)}:{len(alike)}'

    def find(self, mutant, n):
        """The place of edit number @n. LookupError says why there is none."""
        edit = mutant.edits[n]
        shapes = self.shapes.get(mutant.name, [])
        items = self.named(edit) or (self.renamed(edit, shapes[n]) if n < len(shapes) else [])
        if not items:
            raise LookupError(f'{mutant.where}: {edit.file} has no "{edit.function}"')
        pattern = ctext.tokens(edit.old)
        found = [(f, i, at) for f, i in items for at in ctext.exactly(pattern, i.tokens)]
        if len(found) != 1:
            shaped = [(f, i, at) for f, i in items for at in ctext.by_shape(pattern, i.tokens)]
            if found and len(shaped) == edit.of:
                shaped = [shaped[edit.nth - 1]]
            elif not found and len(shaped) == edit.of:
                shaped = [shaped[edit.nth - 1]]
            else:
                raise LookupError(
                    f'{mutant.where}: "{edit.old}" is {len(found)} times in {edit.function} of '
                    f'{edit.file}, its shape {len(shaped)} times, not {edit.of}')
            found = shaped
        file, item, at = found[0]
        some = item.tokens[at:at + len(pattern)]
        return Place(file, item, some[0].begin, some[-1].end, ctext.same_shape(pattern, some))

    def changed(self, mutant):
        """The files with the mutant in them: their contents by name."""
        edits = [(self.find(mutant, n), e) for n, e in enumerate(mutant.edits)]
        files = {}
        for place, edit in sorted(edits, key=lambda e: e[0].begin, reverse=True):
            text = files.get(place.path, self.text(place.path))
            new = ctext.renamed(edit.new, place.names)
            files[place.path] = text[:place.begin] + f' {new} ' + text[place.end:]
        return files

    def follow(self, mutant):
        """Write today's names into the mutant's edits. Returns whether there were others."""
        before = [(e.file, e.function, e.old, e.new) for e in mutant.edits]
        for n, edit in enumerate(mutant.edits):
            place = self.find(mutant, n)
            edit.file, edit.function = place.path, place.item.name
            edit.old = ctext.renamed(edit.old, place.names)
            edit.new = ctext.renamed(edit.new, place.names)
        return before != [(e.file, e.function, e.old, e.new) for e in mutant.edits]
