# SPDX-License-Identifier: MIT
"""A flame graph as SVG: a box per function, as wide as its samples, on top of its caller.

No script in it: the full name and the figures are the tooltip of each box.
"""
import zlib
from html import escape

from . import samples

WIDTH = 1200
ROW = 17
LETTER = 6.6            # of the 11-pixel monospaced font
MARGIN = 10
HEAD = 34
NARROWEST = 0.3         # pixels; what is narrower cannot be seen


def boxes(stacks):
    """[(level, first sample, samples, name)]: equal neighbours of a level are one box."""
    done, open_boxes, at = [], [], 0
    for stack, count in sorted(stacks.items()):
        same = 0
        while same < min(len(stack), len(open_boxes)) and open_boxes[same][1] == stack[same]:
            same += 1
        while len(open_boxes) > same:
            start, name = open_boxes.pop()
            done.append((len(open_boxes), start, at - start, name))
        open_boxes += [(at, name) for name in stack[same:]]
        at += count
    while open_boxes:
        start, name = open_boxes.pop()
        done.append((len(open_boxes), start, at - start, name))
    return done


def colour(name):
    """The same for a function in every picture; grey where the name is not known."""
    if name.startswith("["):
        return "#c8c8c8"
    mixed = zlib.crc32(name.encode("utf-8", "replace"))
    return f"hsl({25 + mixed % 30},{70 + mixed // 30 % 20}%,{62 + mixed // 600 % 14}%)"


def visible(name):
    return "".join(c if c.isprintable() else "?" for c in name)


def draw_box(box, scale, height, total):
    level, start, count, name = box
    x, width = MARGIN + start * scale, count * scale
    y = height - MARGIN - (level + 1) * ROW
    name = visible(name)
    letters = int((width - 4) / LETTER)
    label = name if len(name) <= letters else name[:max(0, letters - 1)] + "…"
    text = f'<text x="{x + 2:.1f}" y="{y + 12}">{escape(label)}</text>' if letters > 2 else ""
    return (f"<g><title>{escape(name)}: {count} samples, {100 * count / total:.2f} %</title>"
            f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.3, 0.1):.1f}" height="{ROW - 1}" '
            f'fill="{colour(name)}"/>{text}</g>\n')


def write_svg(profile):
    """The picture of all threads together, below each stack the thread if it is known."""
    stacks = {}
    for (thread, stack), count in profile.counts.items():
        full = ("all", *([thread] if thread else []), *stack)
        stacks[full] = stacks.get(full, 0) + count
    total = samples.total(profile)
    scale = (WIDTH - 2 * MARGIN) / total
    shown = [b for b in boxes(stacks) if b[2] * scale >= NARROWEST]
    height = HEAD + 2 * MARGIN + ROW * (1 + max(b[0] for b in shown))
    title = escape(f"{visible(profile.source)}: {total} samples")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="11">\n'
            f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
            f'<text x="{MARGIN}" y="22" font-size="14">{title}</text>\n'
            + "".join(draw_box(b, scale, height, total) for b in sorted(shown)) + "</svg>\n")
