# SPDX-License-Identifier: MIT
"""Pictures on a light page and on a dark one: their colours become variables of the page's style.

gnuplot writes colours as attributes of the SVG. Each becomes var(--p-...), and the page says what
that is on either ground. Cells of maps keep their colours: the numbers in them are made for those.
"""

import re

# On a light ground, and on a dark one.
GROUNDS = {
    "ffffff": "1f2227", "000000": "f4f5f7", "222222": "e4e6ea", "444444": "c3c8d0",
    "666666": "a2a9b4", "777777": "9aa1ac", "999999": "747b86", "b4b4b4": "676d77",
    "bbbbbb": "5a606a", "cccccc": "4c525b", "dddddd": "383d45", "7f7f7f": "a8a8a8",
    "0072b2": "4fb3ff", "d55e00": "ff8c42", "009e73": "33d6a6", "cc79a7": "eba6ce",
    "e69f00": "ffc64a", "8c5a33": "cf9f75", "8f8a00": "dcd44e", "2c3e6b": "7f97d8",
    "e8d357": "e8d357", "b0b0b0": "5c626c",
}
PAINTED = ("fill", "stroke", "color", "flood-color")
HEX = re.compile(r"#([0-9a-fA-F]{6})")
RGB = re.compile(r"rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)")
NAMED = {"black": "000000", "white": "ffffff"}
USED = re.compile(r"var\(--p-([0-9a-f]{6})\)")
BRIGHT = 0.62   # of a colour without a line above, on a dark ground: at least


def read(text):
    """Six digits, or None if @text is no colour."""
    text = text.strip()
    m = HEX.fullmatch(text)
    if m:
        return m[1].lower()
    m = RGB.fullmatch(text)
    return "".join(f"{min(int(v), 255):02x}" for v in m.groups()) if m else NAMED.get(text)


def variable(colour):
    """For "#0072b2"."""
    return f"var(--p-{colour[1:].lower()})"


def on_dark(digits):
    """A line of GROUNDS, or as much white in it as it takes."""
    if digits in GROUNDS:
        return GROUNDS[digits]
    rgb = [int(digits[i:i + 2], 16) for i in (0, 2, 4)]
    light = (max(rgb) + min(rgb)) / 510
    white = max(0.0, (BRIGHT - light) / (1 - light)) if light < 1 else 0.0
    return "".join(f"{round(v + (255 - v) * white):02x}" for v in rgb)


def restyle(root, is_map):
    """Variables in the place of colours; of a map only those of axes and texts."""
    for element in root.iter():
        styles = []
        for key in PAINTED:
            digits = read(element.get(key, ""))
            if digits and (digits in GROUNDS or not is_map):
                del element.attrib[key]
                styles.append(f"{key}:{variable('#' + digits)}")
        if styles:
            element.set("style", ";".join([*filter(None, [element.get("style")]), *styles]))


def css(page):
    """What the variables in @page are."""
    used = sorted(set(USED.findall(page)))
    light, dark = (" ".join(f"--p-{d}: #{of(d)};" for d in used) for of in (str, on_dark))
    return (f":root {{ {light} }}\n@media (prefers-color-scheme: dark) "
            f"{{ :root {{ {dark} }} }}\n") if used else ""
