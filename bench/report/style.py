# SPDX-License-Identifier: MIT
"""Colours. An implementation has the same colour, dash and mark in every figure.

Lines: the colours of Okabe and Ito, which most colour-blind people tell apart, without the
yellow, which is too pale on white. Blue is libipcwait's alone, and grey is that of lines without a
name, so brown and olive are in the place of the second blue and of grey. Maps: viridis, which also
grows evenly in brightness.
"""

import zlib

BLUE, RED, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, BROWN, OLIVE, BLACK = "#e69f00", "#8c5a33", "#8f8a00", "#000000"
GREY = "#7f7f7f"
INK, FAINT, GRID = "#222222", "#666666", "#dddddd"

# By the word before the first '-' of a name. Dash 1 is a solid line.
FAMILIES = {
    "ipcwait": (BLUE, 1), "spin": (RED, 1), "block": (GREEN, 1), "glibc": (BLACK, 1),
    "nsync": (PURPLE, 1), "abseil": (ORANGE, 1), "tbb": (BROWN, 1), "ck": (OLIVE, 1),
    "cxx20": (RED, 4), "cxx": (RED, 4), "moodycamel": (GREEN, 4), "futex": (ORANGE, 4),
    "hog": (BLACK, 4), "seed": (GREY, 1), "tas": (PURPLE, 4), "fixed": (BROWN, 4),
    "boost": (OLIVE, 4), "urcu": (ORANGE, 5), "go": (BLACK, 5),
}
# After the '-': neighbours in this list look different.
MEMBERS = ("again", "latency", "spin", "block", "power", "adaptive", "cond", "queuing", "mcs",
           "fas", "1us", "5us", "20us", "50us", "200us")
ANY = (RED, GREEN, PURPLE, ORANGE, BROWN, OLIVE)
# Of a line that is there for comparison only; and bars: ours, glibc's, all others.
REST = {"colour": "#b4b4b4", "dash": 1, "mark": 7, "width": 1}
BARS = {"ipcwait": BLUE, "glibc": "#444444"}
MARKS = (7, 5, 9, 13, 11, 6, 4, 8, 12, 10)  # gnuplot's numbers: full ones first

VIRIDIS = ((68, 1, 84), (72, 40, 120), (62, 73, 137), (49, 104, 142), (38, 130, 142),
           (31, 158, 137), (53, 183, 121), (109, 205, 89), (180, 222, 44), (253, 231, 37))


def family(impl):
    return impl.split("-", 1)[0]


def of(impl):
    """Colour, dash, mark and width. A member of a family differs by its dash and mark."""
    name = family(impl)
    chance = zlib.crc32(impl.encode("utf-8", "replace"))
    any_colour = ANY[zlib.crc32(name.encode("utf-8", "replace")) % len(ANY)]
    colour, dash = FAMILIES.get(name) or (any_colour, 5)
    if impl == name:
        mark = MARKS[list(FAMILIES).index(name) % 5 if name in FAMILIES else chance % 10]
        return {"colour": colour, "dash": dash, "mark": mark, "width": 3 if dash == 1 else 2}
    member = impl.split("-", 1)[1] if "-" in impl else impl
    place = MEMBERS.index(member) if member in MEMBERS else chance
    return {"colour": colour, "dash": 2 + place % 4, "mark": MARKS[5 + place % 5], "width": 1.8}


def bar(impl):
    """The colour of a bar, as a number: bars have their names beside them."""
    return int(BARS.get(impl, REST["colour"])[1:], 16)


def map_colour(share):
    """viridis at @share of its way, 0 to 1."""
    at = min(max(share, 0.0), 1.0) * (len(VIRIDIS) - 1)
    i = min(int(at), len(VIRIDIS) - 2)
    mixed = [round(a + (b - a) * (at - i)) for a, b in zip(VIRIDIS[i], VIRIDIS[i + 1])]
    return mixed[0] << 16 | mixed[1] << 8 | mixed[2]


def ink_on(colour):
    """White or black, whichever is read more easily on @colour. Not quite either: theme.py turns
    those around on a dark page, and a map's cells stay as they are."""
    red, green, blue = colour >> 16, colour >> 8 & 255, colour & 255
    return 0xfefefe if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else 0x010101


def sequence(n):
    """@n colours of viridis from dark to light, without the palest."""
    return [f"#{map_colour(0.88 * i / max(n - 1, 1)):06x}" for i in range(n)]


def order(impls):
    """ipcwait first, then the known ones, then the rest by name."""
    known = list(FAMILIES)

    def place(impl):
        name = family(impl)
        return (known.index(name) if name in known else len(known), impl)

    return sorted(set(impls), key=place)
