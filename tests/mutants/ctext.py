# SPDX-License-Identifier: MIT
"""C text as tokens, the functions that it consists of, and places in them that survive a rename.

A place is found by a few tokens in a function. If the names in these tokens are no longer in the
function, the tokens are looked for by their shape: a name of this project matches any other, as
long as equal names match equal ones.
"""
import functools
import hashlib
import re
from dataclasses import dataclass

TOKEN = re.compile(r'''
    (?P<skip>/\*.*?\*/|//[^\n]*|\\\n|\s+)
  | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|&&|\|\||[-+*/%&|^<>=!]=|\#\#|.)
''', re.S | re.X)

# Names that do not change with this project's: the language's, the C library's, and the calls that
# stand for atomic operations.
KEPT = re.compile(r'''
    ipcwait_impl_(?:cas|load|store|add|or|and|sub|xchg)\w* | u?int\d+_t | U?INT\w*
  | EAGAIN | EBADF | EBUSY | EDEADLK | EEXIST | EINTR | EINVAL | EMFILE | ENOENT | ENOMEM | ENOSYS
  | ENOTRECOVERABLE | EOVERFLOW | EOWNERDEAD | EPERM | EPIPE | ESRCH | ETIMEDOUT
  | define | defined | elif | endif | error | ifdef | ifndef | include | pragma | undef
  | bool | true | false | NULL | size_t | memory_order_\w+ | __\w+
  | break | case | char | const | continue | default | do | double | else | enum | extern | float
  | for | goto | if | inline | int | long | register | return | short | signed | sizeof | static
  | struct | switch | typedef | union | unsigned | void | volatile | while
''', re.X)
OPEN, CLOSE = {'(': ')', '[': ']', '{': '}'}, set(')]}')


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    begin: int
    end: int

    @property
    def is_hole(self):
        """Whether another name may stand here after a rename."""
        return self.kind == 'name' and not KEPT.fullmatch(self.text)


@functools.lru_cache(maxsize=None)
def tokens(text):
    return tuple(Token(m.lastgroup, m[0], m.start(), m.end())
                 for m in TOKEN.finditer(text) if m.lastgroup != 'skip')


def words(text):
    return [t.text for t in tokens(text)]


@dataclass(frozen=True)
class Item:
    """A function, a macro, or a variable with its value: what the tokens of a file belong to."""
    name: str
    tokens: tuple

    @functools.cached_property
    def shape(self):
        """A hash of the tokens without the names."""
        return digest(*shape_of(self.tokens))


def shape_of(some):
    """The tokens with each name of this project replaced by a number."""
    numbers = {}
    return tuple(f'${numbers.setdefault(t.text, len(numbers))}' if t.is_hole else t.text
                 for t in some)


def line_ends(text, begin):
    """Where a directive that starts at @begin ends."""
    end = text.find('\n', begin)
    while end > 0 and text[end - 1] == '\\':
        end = text.find('\n', end + 1)
    return len(text) if end < 0 else end


def name_of(some):
    """What an item is called: the first name before a parenthesis, or that before a value."""
    depth = 0
    for i, t in enumerate(some):
        after = some[i + 1].text if i + 1 < len(some) else ''
        if depth == 0 and t.is_hole and after in ('(', '=', '['):
            return t.text
        depth += (t.text in OPEN) - (t.text in CLOSE)
    names = [t.text for t in some if t.is_hole]
    return names[0] if names else ''


def balanced_end(some, i):
    """The index behind the bracket that closes the one at @i."""
    depth = 0
    for j in range(i, len(some)):
        depth += (some[j].text in OPEN) - (some[j].text in CLOSE)
        if depth == 0:
            return j + 1
    return len(some)


@functools.lru_cache(maxsize=None)
def items(text):
    """What a file consists of, in its order."""
    some, found, i = tokens(text), [], 0
    while i < len(some):
        begin = i
        if some[i].text == '#':
            end = line_ends(text, some[i].begin)
            while i < len(some) and some[i].begin < end:
                i += 1
            if i > begin + 2 and some[begin + 1].text == 'define':
                found.append(Item(some[begin + 2].text, some[begin:i]))
            continue
        if some[i].text == 'extern' and i + 2 < len(some) and some[i + 2].text == '{':
            i += 3
            continue
        while i < len(some) and some[i].text not in (';', '#'):
            if some[i].text == '{':
                is_body = i > begin and some[i - 1].text == ')'
                i = balanced_end(some, i)
                if is_body:
                    break
            elif some[i].text in OPEN:
                i = balanced_end(some, i)
            else:
                i += 1
        if i < len(some) and some[i].text == ';':
            i += 1
        if i == begin:
            i += 1
        found.append(Item(name_of(some[begin:i]), some[begin:i]))
    return tuple(found)


def same_shape(pattern, some):
    """The names that match those of @pattern, or None."""
    names, taken = {}, {}
    for p, t in zip(pattern, some):
        if p.is_hole and t.is_hole:
            if names.setdefault(p.text, t.text) != t.text or \
                    taken.setdefault(t.text, p.text) != p.text:
                return None
        elif p.text != t.text:
            return None
    return names


def exactly(pattern, some):
    """Where the tokens stand, names and all."""
    want, n = [p.text for p in pattern], len(pattern)
    texts = [t.text for t in some]
    return [i for i in range(len(some) - n + 1) if texts[i] == want[0] and texts[i:i + n] == want]


def by_shape(pattern, some):
    """Where tokens of that shape stand."""
    n = len(pattern)
    return [i for i in range(len(some) - n + 1) if same_shape(pattern, some[i:i + n]) is not None]


def renamed(text, names):
    """C text with other names."""
    parts, last = [], 0
    for t in tokens(text):
        if t.kind == 'name' and names.get(t.text, t.text) != t.text:
            parts += [text[last:t.begin], names[t.text]]
            last = t.end
    return ''.join(parts) + text[last:]


def digest(*texts):
    """A short hash."""
    return hashlib.sha256('\0'.join(texts).encode()).hexdigest()[:12]
