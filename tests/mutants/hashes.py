# SPDX-License-Identifier: MIT
"""Hashes of the sources that a program is made from. Comments and blanks do not count."""
import ctext

# They decide nothing by themselves, and are part of every program.
LEFT_OUT = {'tests/common/check.c', 'tests/common/check.h'}


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

    def of_program(self, name):
        """All of it: the library's sources and the test's."""
        return self.of_files(self.build.files_of(name) - LEFT_OUT)

    def of_test(self, name):
        """The test's own sources, with the checker or the scripted kernel below it."""
        if name not in self.tests:
            self.tests[name] = self.of_files(f for f in self.build.files_of(name) - LEFT_OUT
                                             if f.startswith('tests/'))
        return self.tests[name]
