# SPDX-License-Identifier: MIT
"""What all rules share: the source tree, C text without comments, findings.

A rule is a script with a tuple RULES of identifiers and a function check(tree, ...) that
calls tree.add() for each finding and returns (how many things it looked at, their name).
selftest.py proves for every identifier that it can be reported.
"""
import bisect
import functools
import re
import shutil
import subprocess
import sys
from pathlib import Path

C_FOLDERS = ('include', 'lib', 'preload', 'cli', 'examples', 'bench', 'tools', 'tests')
C_SUFFIXES = ('.c', '.h', '.cc')
SKIP = 77
SHOWN = 50  # findings

TOKEN = re.compile(r'(?P<comment>/\*.*?(?:\*/|\Z)|//(?:\\\n|[^\n])*)'
                   r'|"(?:\\.|[^"\\\n])*"?'
                   r"|'(?:\\.|[^'\\\n])*'?", re.S)


def blank(text):
    """Spaces of the same shape, so that offsets and line numbers stay."""
    return re.sub(r'[^\n]', ' ', text)


class Source:
    """One file; path is relative to the root."""

    def __init__(self, root, path):
        self.path = path
        self.text = (root / path).read_bytes().decode('utf-8', 'replace')

    @functools.cached_property
    def comments(self):
        """Matches of all comments."""
        return [m for m in TOKEN.finditer(self.text) if m['comment']]

    @functools.cached_property
    def bare(self):
        """The text with comments blanked."""
        return TOKEN.sub(lambda m: blank(m[0]) if m['comment'] else m[0], self.text)

    @functools.cached_property
    def code(self):
        """The text with comments, strings and characters blanked."""
        return TOKEN.sub(lambda m: blank(m[0]), self.text)

    @functools.cached_property
    def starts(self):
        return [0] + [m.end() for m in re.finditer('\n', self.text)]

    def line(self, offset):
        """Number of the line that holds this offset, from 1."""
        return bisect.bisect_right(self.starts, offset)

    def within(self, *folders):
        """True if the file is one of these, or in one of these folders."""
        return any(self.path == f or self.path.startswith(f + '/') for f in folders)


class Tree:
    """A source tree and what was found in it."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.findings = []

    def add(self, rule, path, line, text):
        self.findings.append((path, line, f'{text} [{rule}]'))

    @functools.lru_cache(maxsize=None)
    def source(self, path):
        return Source(self.root, path)

    @functools.cached_property
    def paths(self):
        """What git tracks or would track; without git, all but build folders."""
        listed = self.ask_git() or self.walk()
        return sorted({p for p in listed if p and (self.root / p).is_file()})

    def ask_git(self):
        if not shutil.which('git'):
            return []
        run = subprocess.run(['git', '-C', self.root, 'ls-files', '-z', '--cached', '--others',
                              '--exclude-standard'], capture_output=True, encoding='utf-8')
        return run.stdout.split('\0') if run.returncode == 0 else []

    def walk(self):
        builds = {p.parent for p in self.root.glob('*/meson-private')}
        for path in self.root.rglob('*'):
            relative = path.relative_to(self.root)
            if not builds.intersection(path.parents) and \
                    not {'.git', '__pycache__'}.intersection(relative.parts):
                yield relative.as_posix()

    def c_sources(self, *folders):
        """All C files in these folders; by default in all folders with C."""
        return [s for s in map(self.source, filter(is_c, self.paths))
                if s.within(*(folders or C_FOLDERS))]

    def public_headers(self):
        """include/ipcwait/*.h, without impl/."""
        return [s for s in self.c_sources('include/ipcwait')
                if s.path.count('/') == 2 and s.path.endswith('.h')]


def is_c(path):
    return path.endswith(C_SUFFIXES)


def main(check):
    """Run one rule: check.py ROOT [arguments]. Exit status 0 clean, 1 findings."""
    name = Path(sys.argv[0]).stem
    tree = Tree(sys.argv[1])
    count, noun = check(tree, *sys.argv[2:])
    listed = sorted(tree.findings)
    for path, line, text in listed[:SHOWN]:
        print(f'{path}:{line}: {text}')
    if len(listed) > SHOWN:
        print(f'... and {len(listed) - SHOWN} more')
    if tree.findings:
        print(f'{name}: {len(tree.findings)} findings')
    elif not count:
        print(f'{name}: found no {noun} in {tree.root}: nothing was checked')
    else:
        print(f'{name}: {count} {noun}, no findings')
    sys.exit(1 if tree.findings or not count else 0)


def skip(reason):
    """End as a skipped test."""
    print(f'skipped: {reason}')
    sys.exit(SKIP)
