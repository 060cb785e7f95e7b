# SPDX-License-Identifier: MIT
"""A figure is laid out here, in pixels, and gnuplot only draws: so labels can be placed."""

import math

from . import gnuplot, place, show, style

WIDTH = 900
HEAD, FOOT = 44, 40  # room for the title above and the footer below all panels


class Panel:
    """One pair of axes: its place in the figure, in pixels from the upper left, and its ranges."""

    def __init__(self, box, xs, ys, logx=False, logy=False):
        self.left, self.top, self.right, self.bottom = box
        (self.xlo, self.xhi), (self.ylo, self.yhi) = xs, ys
        self.logx, self.logy = logx, logy

    def px(self, x):
        return self.left + (self.right - self.left) * part(x, self.xlo, self.xhi, self.logx)

    def py(self, y):
        return self.bottom - (self.bottom - self.top) * part(y, self.ylo, self.yhi, self.logy)


def part(value, low, high, log):
    if log:
        value, low, high = (math.log(max(v, 1e-300)) for v in (value, low, high))
    return (value - low) / (high - low)


def log_range(values, room=1.3, least=4.0):
    """Around all positive @values, at least a factor of @least wide."""
    values = [v for v in values if v and v > 0] or [1.0]
    low, high = min(values) / room, max(values) * room
    widen = max(1.0, math.sqrt(least * low / high))
    return low / widen, high * widen


def linear_range(values, room=0.08):
    """From 0 to a bit more than the largest."""
    return 0.0, max([v for v in values if v is not None] or [1.0]) * (1 + room) or 1.0


def log_tics(low, high, most=8):
    """(value, labelled): labels at decades, at 1-2-5 where those are few, or even steps."""
    if high / low < 3:
        return linear_tics(low, high)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = [e for e in range(first, last + 1) if low <= 10.0 ** e <= high]
    marked = (1, 2, 5) if len(decades) < 3 else (1,)
    step = max(1, math.ceil(len(decades) / most))
    tics = [(m * 10.0 ** e, m in marked and e % step == 0)
            for e in range(first, last + 1) for m in range(1, 10)]
    return [(v, labelled) for v, labelled in tics if low <= v <= high]


def linear_tics(low, high, most=6):
    raw = (high - low) / most
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(m * size for m in (1, 2, 2.5, 5, 10) if m * size >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [((first + i) * step, True) for i in range(int((high - first * step) / step + 1.001))]


def thinned(tics, text, at, room):
    """Without labels that would touch one already there. @at makes pixels of a value.

    @room makes the pixels of a label. Powers of ten come first: they are what readers look for.
    """
    def rank(tic):
        mantissa = f"{abs(tic[0]):e}"[0] if tic[0] else "1"
        return "152".find(mantissa) % 9

    taken, kept = [], set()
    for value, labelled in sorted(tics, key=rank):
        ends = at(value) - room(text(value)) / 2, at(value) + room(text(value)) / 2
        if labelled and all(ends[1] < low or ends[0] > high for low, high in taken):
            taken.append(ends)
            kept.add(value)
    return [(v, v in kept) for v, _ in tics]


class Figure:
    """Collects the script. Labels and lines between pixels belong to the panel drawn next."""

    def __init__(self, height, width=WIDTH, is_map=False):
        self.width, self.height, self.is_map = width, height, is_map
        self.texts, self.title = [], None
        self.lines, self.number = ["set multiplot", "set style textbox opaque noborder margins "
                                   "0.4,0.2 fillcolor rgb '#ffffff'"], 0

    def add(self, *lines):
        self.lines += lines

    def quote(self, text):
        """What stands for @text in the script."""
        self.texts.append(show.clean(text))
        return f"'~{len(self.texts) - 1}~'"

    def screen(self, x, y):
        return f"screen {x / self.width:.5f}, screen {1 - y / self.height:.5f}"

    def text(self, x, y, text, size=12, colour=style.INK, where="left", bold=False, boxed=False):
        """@boxed: on white, so that it can be read on top of lines."""
        self.number += 1
        font = f"{gnuplot.FONT}{':Bold' if bold else ''},{size}"
        self.add(f"set label {self.number} {self.quote(text)} at {self.screen(x, y)} {where} "
                 f"font '{font}' tc rgb '{colour}' noenhanced front"
                 + (" boxed" if boxed else ""))

    def line(self, x1, y1, x2, y2, colour=style.FAINT, width=0.7, dash=1):
        self.number += 1
        self.add(f"set arrow {self.number} from {self.screen(x1, y1)} to {self.screen(x2, y2)} "
                 f"nohead lc rgb '{colour}' lw {width} dt {dash} front")

    def tics(self, axis, given, at, room):
        """The command for one axis; without a value gnuplot would choose for itself."""
        values, text = given
        if not values:
            return f"unset {axis}tics"
        shown = ", ".join(f"{self.quote(text(v))} {v:.9g}" if labelled else f"'' {v:.9g} 1"
                          for v, labelled in thinned(values, text, at, room))
        shift = " offset 0,0.4" if axis == "x" else ""
        return f"set {axis}tics nomirror out scale 0.6,0.3 tc rgb '{style.INK}'{shift} ({shown})"

    def axes(self, p, xtics, ytics, grid="y"):
        """@xtics and @ytics are (tics, function from a value to its text)."""
        self.add(f"set lmargin at screen {p.left / self.width:.5f}",
                 f"set rmargin at screen {p.right / self.width:.5f}",
                 f"set tmargin at screen {1 - p.top / self.height:.5f}",
                 f"set bmargin at screen {1 - p.bottom / self.height:.5f}",
                 "unset key", "set border 3 lc rgb '#999999'", "unset logscale",
                 f"set xrange [{p.xlo:.9g}:{p.xhi:.9g}]", f"set yrange [{p.ylo:.9g}:{p.yhi:.9g}]",
                 *(["set logscale x"] if p.logx else []), *(["set logscale y"] if p.logy else []),
                 self.tics("x", xtics, p.px, lambda t: place.width(t, 12) + 8),
                 self.tics("y", ytics, p.py, lambda t: 16),
                 "unset grid", *([f"set grid {grid}tics lt 1 lw 0.6 lc rgb '{style.GRID}'"]
                                 if grid else []))

    def titles(self, p, x, y, name=""):
        """Both axes' titles are level; an arrow in a turned text would point astray."""
        self.text(p.left - 46, p.top - 16, y, 12)
        self.text((p.left + p.right) / 2, p.bottom + 36, x, 12, where="center")
        if name:
            self.text(p.left - 46, p.top - 34, name, 13, bold=True)

    def plot(self, *parts):
        """Draws the panel; a plot needs something to draw, if only a point outside."""
        self.add("plot " + ", \\\n  ".join(parts or ("NaN notitle",)),
                 "unset label", "unset arrow", "unset object")
        self.number = 0

    def finish(self, title, footer):
        """The script. @footer has two lines at most."""
        self.title = len(self.texts)
        self.text(12, 20, title, 15, bold=True)
        for i, line in enumerate(footer):
            self.text(12, self.height - 26 + 15 * i, show.short(line, self.width // 6), 10,
                      style.FAINT)
        self.add("unset border", "unset tics", "unset grid", "unset logscale",
                 "set xrange [0:1]", "set yrange [0:1]")
        self.plot("NaN notitle")
        self.add("unset multiplot")
        return "\n".join(self.lines) + "\n"
