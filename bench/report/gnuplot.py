# SPDX-License-Identifier: MIT
"""gnuplot: once per figure, script on stdin, SVG on stdout, made fit for a page of HTML.

gnuplot never sees a text: it draws placeholders, ~0~, ~1~ and so on, and the texts are put in
their places when the SVG is a tree. Names come from files that anybody may have written, and
quotes, formats, macros and markup are no safe ground in a gnuplot script.
"""

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

from . import show, theme
from .errors import PlotError, ReportError

SECONDS_MOST = 10
FONT = "sans-serif"
# Pixels: below NARROW a usual figure is scrolled rather than made smaller; one that is larger
# than WIDE has small print already and keeps its size.
NARROW, WIDE = 720, 900
TITLE_TALL = 34  # what a page cuts off at the top: it has the title as its heading
SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"
PLACEHOLDER = re.compile(r"~(\d+)~")
REFERENCE = re.compile(r"url\(\s*#([^)\s]+)\s*\)")


def check():
    if not shutil.which("gnuplot"):
        raise ReportError("the HTML report needs gnuplot, which is not on the PATH; on Debian: "
                          "apt-get install gnuplot-nox")


def block(name, lines):
    """A block of data. Only numbers of ours go in here, never text of the file."""
    return [f"${name} << END_OF_DATA", *lines, "END_OF_DATA"]


def run(script, width, height):
    """The SVG as gnuplot writes it, without a ground of its own: that is the page's."""
    head = (f"set terminal svg size {width},{height} noenhanced font '{FONT},12'\n"
            "set encoding utf8\n")
    try:
        done = subprocess.run(["gnuplot", "-d", "-"], input=head + script, capture_output=True,
                              text=True, encoding="utf-8", errors="replace", check=False,
                              timeout=SECONDS_MOST, env={**os.environ, "LC_ALL": "C.UTF-8"})
    except subprocess.TimeoutExpired:
        raise PlotError(f"gnuplot took more than {SECONDS_MOST} s for this figure.") from None
    except OSError as e:
        raise PlotError(f"gnuplot could not be started: {e.strerror}.") from None
    if done.returncode or "</svg>" not in done.stdout:
        said = [s.strip() for s in done.stderr.splitlines() if s.strip(" ^\t")]
        raise PlotError("gnuplot failed: " + show.short(said[-1] if said else "no output", 200))
    return done.stdout


def fill_in(element, texts):
    """The text for its placeholder."""
    m = PLACEHOLDER.fullmatch((element.text or "").strip())
    if m:
        element.text = texts[int(m[1])].replace("  ", "\N{NO-BREAK SPACE} ")


def localize(element, prefix):
    """No name spaces, which HTML does without, and ids that are unique in the page."""
    element.tag = element.tag.replace(SVG, "")
    for key, value in list(element.attrib.items()):
        del element.attrib[key]
        key = key.replace(XLINK, "")
        if key == "id":
            value = f"{prefix}-{value}"
        elif key == "href" and value.startswith("#"):
            value = f"#{prefix}-{value[1:]}"
        element.set(key, REFERENCE.sub(rf"url(#{prefix}-\1)", value))


def embolden(element):
    """gnuplot takes ":Bold" for a part of the font's name."""
    name = element.get("font-family", "")
    if name.endswith(":Bold"):
        element.set("font-family", name[:-5])
        element.set("font-weight", "bold")


def strip(root):
    """Without gnuplot's own titles, which would show up as tips, and groups of nothing."""
    for parent in list(root.iter()):
        for child in list(parent):
            empty = child.tag == f"{SVG}g" and not len(child) and not (child.text or "").strip()
            if empty or child.tag in (f"{SVG}title", f"{SVG}desc"):
                parent.remove(child)
            elif child.tail and not child.tail.strip():
                child.tail = "\n"
        if parent.text and not parent.text.strip():
            parent.text = None


def without_heading(root, number):
    """Takes out the text of placeholder @number, and the room that it has."""
    for parent in root.iter():
        for child in list(parent):
            if child.tag == f"{SVG}text" and (child.text or "").strip() == f"~{number}~":
                parent.remove(child)
    width, height = root.get("viewBox").split()[2:]
    root.set("viewBox", f"0 {TITLE_TALL} {width} {int(height) - TITLE_TALL}")


def inline(svg, prefix, title, alt, figure):
    """@svg as an element for HTML, with a name and a description for those who cannot see it.

    The @figure has the texts for the placeholders. Its title stands above it already, so it is not
    drawn, but still the name of the SVG.
    """
    try:
        root = ET.fromstring(svg)
    except ET.ParseError as e:
        raise PlotError(f"gnuplot wrote no proper SVG: {e}.") from None
    without_heading(root, figure.title)
    strip(root)
    theme.restyle(root, figure.is_map)
    for element in root.iter():
        localize(element, prefix)
        embolden(element)
        fill_in(element, figure.texts)
    width = int(root.get("viewBox", "0 0 900 0").split()[2])
    least = width if width > WIDE else min(width, NARROW)
    root.attrib = {"viewBox": root.get("viewBox"), "class": "plot", "role": "img",
                   "aria-label": f"{show.clean(title)}. {show.clean(alt)}",
                   "style": f"max-width:{width}px;min-width:{least}px"}
    for i, (tag, text) in enumerate((("title", title), ("desc", alt))):
        element = ET.Element(tag)
        element.text = show.clean(text)
        root.insert(i, element)
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)
