# SPDX-License-Identifier: MIT
"""The fenced code blocks of a Markdown file, each with the comment on the line before it."""
import re
from collections import namedtuple

# line: of the fence, from 1. comment: ("frame", name), ("not run", reason) or None.
Block = namedtuple("Block", "line language text comment")

FENCE = re.compile(r"( *)```\s*([^\s`]*)\s*$")
OTHER_FENCE = re.compile(r" *(```|~~~)")
COMMENT = re.compile(r"\s*<!--\s*(frame|not run)\s*:\s*(.*?)\s*-->\s*$")


class BadDocument(Exception):
    pass


def comment_of(line):
    """None: it is text. Another comment is a mistake: nothing else belongs before a block."""
    if not line.lstrip().startswith("<!--"):
        return None
    found = COMMENT.match(line)
    if not found or not found[2]:
        raise BadDocument(f"unknown comment before a block: {line.strip()}")
    return found[1], found[2]


def without_indent(lines, indent):
    return "".join(line[len(indent):] if line.startswith(indent) else line.lstrip(" ") for line in lines)


def blocks(text):
    lines = text.splitlines(keepends=True)
    opened = None
    for i, line in enumerate(lines):
        fence = FENCE.match(line)
        if opened is None and fence:
            opened = i, fence
        elif fence and not fence[2]:
            begin, first = opened
            yield Block(begin + 1, first[2], without_indent(lines[begin + 1:i], first[1]),
                        comment_of(lines[begin - 1]) if begin else None)
            opened = None
        elif opened is None and OTHER_FENCE.match(line):
            raise BadDocument(f"line {i + 1}: a block begins with ``` and at most one word")
    if opened:
        raise BadDocument(f"the block of line {opened[0] + 1} does not end")
