#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every fenced code block of README.md and the guide is run: blocks.py [NAME-OF-TEST...]

A block with main() as it is. A fragment in a frame: <!-- frame: NAME --> on the line before it
names frames/NAME.c or .cpp, which has what surrounds it, and a main() that looks at its effect.
sh, python, cmake, meson and rust as they are. <!-- not run: REASON --> says so. A fence without a
language is output.
"""
import os
import re
import sys
import unittest
from pathlib import Path

from fences import BadDocument, blocks
from languages import FRAMED, LANGUAGES, MARK, NoFrame
from scratch import FRAMES, SOURCE, Scratch


def documents():
    return [SOURCE / "README.md", *sorted((SOURCE / "docs" / "guide").glob("*.md"))]


def code_of(path):
    return [block for block in blocks(path.read_text(encoding="utf-8")) if block.language]


def frame_of(block):
    return block.comment[1] if block.comment and block.comment[0] == "frame" else None


def is_run(block):
    return not (block.comment and block.comment[0] == "not run")


def sample():
    """The README's program."""
    return next(b.text for b in code_of(SOURCE / "README.md") if b.language == "c" and "int main(" in b.text)


class Documents(unittest.TestCase):
    """What can be told without running anything."""

    def test_there_are_blocks(self):
        with_code = [path for path in documents() if code_of(path)]
        self.assertIn(SOURCE / "README.md", with_code)
        self.assertTrue([path for path in with_code if path.parent.name == "guide"])
        for path in with_code:
            with self.subTest(path=path.name):
                self.assertTrue(any(is_run(b) for b in code_of(path)), "no block of it is run")

    def test_each_frame_is_used(self):
        used = {frame_of(b) for path in documents() for b in code_of(path)}
        there = {p.stem for p in FRAMES.iterdir() if MARK.search(p.read_text(encoding="utf-8"))}
        self.assertEqual(there - used, set())

    def test_what_is_refused(self):
        for text in ("<!-- frmae: x -->\n```c\n```\n", "<!-- not run: -->\n```sh\n```\n", "```c\nint x;\n",
                     "~~~c\n~~~\n", "```c other\n```\n"):
            with self.assertRaises(BadDocument):
                list(blocks(text))

    def test_fragments_need_a_frame(self):
        for frame in None, "no such frame":
            with self.assertRaises(NoFrame):
                LANGUAGES["c"](None, ("file", 1), "int x;\n", frame)


class Blocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Scratch(sample())
        cls.addClassCleanup(cls.scratch.close)

    def run_block(self, file, block):
        self.assertIn(block.language, LANGUAGES, "no way to run this language")
        where = (file, block.line)
        if block.language in FRAMED:
            out = LANGUAGES[block.language](self.scratch, where, block.text, frame_of(block))
        else:
            self.assertIsNone(frame_of(block), "frames are for C and C++")
            out = LANGUAGES[block.language](self.scratch, where, block.text)
        if os.environ.get("BLOCKS_OUTPUT"):
            print(out)


def add_tests():
    for path in documents():
        file = str(path.relative_to(SOURCE))
        for block in code_of(path):
            if not is_run(block):
                print(f"{file}:{block.line}: not run: {block.comment[1]}")
                continue
            name = f"test_{re.sub('[^a-z0-9]', '_', file.lower())}_{block.line}_{block.language}"
            setattr(Blocks, name, lambda self, f=file, b=block: self.run_block(f, b))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    add_tests()
    unittest.main(verbosity=2)
