# SPDX-License-Identifier: MIT
"""Just enough C to find functions, their parameters and how deep they nest."""
import re
from typing import NamedTuple, Optional

from source import blank

DIRECTIVE = re.compile(r'^[ \t]*#(?:\\.|[^\n\\])*', re.M | re.S)
ATTRIBUTE = re.compile(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)')
DECLS = re.compile(r'\bIPCWAIT_(?:BEGIN|END)_DECLS\b')
NAME = re.compile(r'\b([a-z_]\w*)\s*\(')


class Item(NamedTuple):
    """A declaration or definition at file level; offsets into the file."""
    start: int
    head: str             # up to the body, or to the semicolon; attributes blanked
    body: Optional[int]   # where the brace of a function's body opens
    end: int

    @property
    def name(self):
        found = NAME.search(self.head)
        return found[1] if found else '?'

    @property
    def returns_void(self):
        return re.search(r'\bvoid\s*$', self.head[:NAME.search(self.head).start()]) is not None

    @property
    def parameters(self):
        inner = self.head[NAME.search(self.head).end():self.head.rindex(')')]
        return [p for p in map(parameter_name, split_commas(inner)) if p]


def split_commas(text):
    """Split at the commas that are outside all brackets."""
    depth, part, parts = 0, '', []
    for c in text:
        depth += (c in '([{') - (c in ')]}')
        if c == ',' and depth == 0:
            parts.append(part)
            part = ''
        else:
            part += c
    return parts + [part]


def parameter_name(text):
    """Name in a parameter's declaration; None for `void` and `...`."""
    pointer = re.search(r'\(\s*\*\s*(\w+)', text)
    if pointer:
        return pointer[1]
    words = re.findall(r'\w+', re.sub(r'\[[^]]*\]', '', text))
    return words[-1] if len(words) > 1 else None


def is_function_head(head):
    return head.rstrip().endswith(')') and '=' not in head


def items(source):
    """The items of a file in order."""
    code = source.code
    for pattern in (DIRECTIVE, ATTRIBUTE, DECLS):
        code = pattern.sub(lambda m: blank(m[0]), code)
    depth, start, body = 0, 0, None
    for m in re.finditer(r'[{}();]', code):
        c, at = m[0], m.start()
        if c == '{' and depth == 0:
            if code[start:at].strip() == 'extern':
                start = m.end()
                continue
            body = at
        depth += (c in '({') - (c in ')}')
        if depth < 0:       # the brace that closes an extern "C"
            depth, start = 0, m.end()
        elif depth == 0 and c == '}' and is_function_head(code[start:body]):
            yield make_item(code, start, body, m.end())
            start, body = m.end(), None
        elif depth == 0 and c == ';':
            yield make_item(code, start, None, m.end())
            start, body = m.end(), None


def make_item(code, start, body, end):
    start += len(code[start:end]) - len(code[start:end].lstrip())
    return Item(start, code[start:body or end].rstrip('; \n\t'), body, end)


def functions(source):
    """The function definitions of a file."""
    return [item for item in items(source) if item.body is not None]


def exported(source):
    """The functions of a public header that the library exports."""
    return [item for item in items(source)
            if re.search(r'\bIPCWAIT_(?:API|INLINE)\b', item.head) and NAME.search(item.head)]


class Nesting:
    """Walks the statements of a function's body and keeps the deepest nesting of if, loops
    and switch, with braces or without. An else-if is as deep as its if."""

    TOKENS = re.compile(r'\w+|[{}();:=]')

    def __init__(self, body):
        self.tokens = list(self.TOKENS.finditer(body))
        self.depth, self.offset = 0, 0
        self.statement(0, 0)

    def at(self, i):
        return self.tokens[i][0] if i < len(self.tokens) else ''

    def enter(self, i, level):
        if level > self.depth:
            self.depth, self.offset = level, self.tokens[i].start()
        return level

    def statement(self, i, level):
        """Walk the statement at token i; the index after it."""
        word = self.at(i)
        if word == '{':
            i += 1
            while self.at(i) not in ('}', ''):
                i = self.statement(i, level)
            return i + 1
        if word in ('if', 'for', 'while', 'switch'):
            return self.controlled(i, level)
        if word == 'do':
            return self.simple(self.statement(i + 1, self.enter(i, level + 1)), level)
        if word in ('case', 'default') or self.at(i + 1) == ':':
            while self.at(i) not in (':', ''):
                i += 1
            return i + 1
        return self.simple(i, level)

    def controlled(self, i, level):
        inner = self.enter(i, level + 1)
        after = self.statement(self.closing(i + 1), inner)
        if self.at(i) == 'if' and self.at(after) == 'else':
            after += 1
            return self.statement(after, level if self.at(after) == 'if' else inner)
        return after

    def simple(self, i, level):
        """Up to the semicolon; a macro call before a brace is a loop."""
        loop = self.closing(i + 1) if self.at(i + 1) == '(' else None
        while self.at(i) not in (';', '}', ''):
            if self.at(i) == '{' and i == loop:
                return self.statement(i, self.enter(i, level + 1))
            i = self.closing(i) if self.at(i) in ('(', '{') else i + 1
        return i + (self.at(i) == ';')

    def closing(self, i):
        """The index after the bracket that closes the one at i."""
        depth = 0
        while i < len(self.tokens):
            depth += (self.at(i) in '({') - (self.at(i) in ')}')
            i += 1
            if depth == 0:
                break
        return i
