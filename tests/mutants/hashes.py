# SPDX-License-Identifier: MIT
"""Hashes of the sources that a program is made from. Comments and blanks do not count. And the part that
is checked again of what has not changed."""
import subprocess
import time

import ctext
from table import ROOT

# Helpers of all checks, which decide nothing alone.
LEFT_OUT = {'tests/common/check.c', 'tests/common/check.h'}


def this_commit():
    """The commit's hash; the day where git does not tell."""
    try:
        done = subprocess.run(['git', '-C', ROOT, 'rev-parse', 'HEAD'], check=False,
                              capture_output=True, text=True)
        commit = done.stdout.strip()
    except OSError:
        commit = ''
    return commit or time.strftime('%Y-%m-%d')


def has_turn(name, one_in, commit):
    """True for one in @one_in of all names, other ones with each commit."""
    return int(ctext.digest(commit, name), 16) % one_in == 0


class Hashes:
    def __init__(self, build, sources):
        self.build, self.sources = build, sources
        self.words, self.tests = {}, {}

    def of_files(self, files):
        digests = []
        for file in sorted(set(files)):
            if file not in self.words:
                self.words[file] = ctext.digest(*ctext.words(self.sources.text(file)))
            digests += [file, self.words[file]]
        return ctext.digest(*digests)

    def flags_of(self, name):
        """How the program is compiled and linked, without what differs between two folders."""
        program = self.build.program(name)
        words = {w for o in program.objects.values() for w in o.command}
        words |= {w for w in program.command if w.startswith('-Wl,--wrap')}
        return sorted(w for w in words if w.startswith('-') and w not in ('-pipe', '-I', '-iquote')
                      and str(self.build.root) not in w)

    def of_program(self, name):
        """All of it: the library's sources and the test's, and how they are compiled."""
        return ctext.digest(self.of_files(self.build.files_of(name) - LEFT_OUT), *self.flags_of(name))

    def of_test(self, name):
        """The test's own sources, with the checker or the scripted kernel below it."""
        if name not in self.tests:
            files = [f for f in self.build.files_of(name) - LEFT_OUT if f.startswith('tests/')]
            self.tests[name] = ctext.digest(self.of_files(files), *self.flags_of(name))
        return self.tests[name]
