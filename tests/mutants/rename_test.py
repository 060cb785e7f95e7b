#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutants survive a rename: in sources in which every name of this project is another one, and in
which a file has moved, each mutant finds the same tokens. Without a ledger it does not, where a
function has another name.
"""
import sys
import unittest

sys.dont_write_bytecode = True

import ctext  # noqa: E402
import table  # noqa: E402

MUTANTS = table.read_all()
TODAY = table.Sources()


def fingerprints():
    return {m.name: [TODAY.shape(TODAY.find(m, n)) for n in range(len(m.edits))] for m in MUTANTS}


class Renamed(table.Sources):
    """The sources of today with other names."""

    def text(self, file):
        if file not in self.texts:
            text = super().text(file)
            names = {t.text for t in ctext.tokens(text) if t.is_hole}
            self.texts[file] = ctext.renamed(text, {n: f'x_{n}' for n in names})
        return self.texts[file]


def index_of(sources, place):
    """The number of a place's first token in its file."""
    return [t.begin for t in ctext.tokens(sources.text(place.path))].index(place.begin)


class Rename(unittest.TestCase):
    def test_every_mutant_finds_its_tokens(self):
        renamed = Renamed(shapes=fingerprints())
        for mutant in MUTANTS:
            for n in range(len(mutant.edits)):
                with self.subTest(mutant.name):
                    before, after = TODAY.find(mutant, n), renamed.find(mutant, n)
                    self.assertEqual(before.path, after.path)
                    self.assertEqual(index_of(TODAY, before), index_of(renamed, after))

    def test_names_are_followed(self):
        renamed = Renamed(shapes=fingerprints())
        for mutant in table.read_all():
            self.assertTrue(renamed.follow(mutant))
            for n, edit in enumerate(mutant.edits):
                self.assertTrue(edit.function.startswith('x_'))
                place = Renamed().find(mutant, n)
                self.assertEqual({k: v for k, v in place.names.items() if k != v}, {})

    def test_without_a_fingerprint_a_function_is_lost(self):
        with self.assertRaisesRegex(LookupError, 'has no'):
            Renamed().find(MUTANTS[0], 0)


class Places(unittest.TestCase):
    """What is found in a function that is made up."""

    def find(self, text, **edit):
        sources = table.Sources()
        sources.texts['lib/x.c'] = text
        mutant = table.Mutant('m', 'x.txt:1', [table.Edit('lib/x.c', 'f', **edit)])
        place = sources.find(mutant, 0)
        return text[place.begin:place.end]

    def test_names_go_before_shape(self):
        text = 'int f(int a, int b)\n{\n\treturn a + 1 ? b + 1 : 0;\n}\n'
        self.assertEqual(self.find(text, old='b + 1'), 'b + 1')

    def test_the_second_of_a_shape(self):
        text = 'int f(int a, int b)\n{\n\treturn a + 1 ? b + 1 : 0;\n}\n'
        self.assertEqual(self.find(text, old='old + 1', nth=2, of=2), 'b + 1')

    def test_another_number_of_places_is_an_error(self):
        text = 'int f(int a)\n{\n\treturn a + 1;\n}\n'
        with self.assertRaisesRegex(LookupError, 'shape 1 times, not 2'):
            self.find(text, old='old + 1', nth=2, of=2)

    def test_equal_names_match_equal_ones(self):
        text = 'int f(int a, int b)\n{\n\treturn a & b;\n}\n'
        with self.assertRaises(LookupError):
            self.find(text, old='x & x')

    def test_the_language_is_no_name(self):
        text = 'int f(int a)\n{\n\tcontinue;\n}\n'
        with self.assertRaises(LookupError):
            self.find(text, old='break;')

    def test_comments_and_blanks_do_not_count(self):
        text = 'int f(int a)\n{\n\treturn a /* one */\n\t\t+ 1;\n}\n'
        self.assertEqual(ctext.words(self.find(text, old='a + 1')), ['a', '+', '1'])


if __name__ == '__main__':
    unittest.main()
