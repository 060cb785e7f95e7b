# SPDX-License-Identifier: MIT
"""What the tests of the reports share: the package, made-up results, and a reader of HTML."""

import html.parser
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "bench"), HERE]

import report  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402

HAVE_GNUPLOT = shutil.which("gnuplot") is not None

ON_DEMAND = " in colour</summary>"

# Elements without an end.
VOID = {"meta", "br", "link", "img", "input", "hr"}
# What would load something; in SVG "href" may name a part of the same page only.
LOADING = {"src", "href", "xlink:href", "data", "poster", "srcset", "action", "background"}


class Page(html.parser.HTMLParser):
    """Checks that elements nest, and collects what tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.loads, self.tags = [], [], [], []
        self.ids, self.missing, self.rows, self.cell = [], [], [], None
        self.texts = []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key in LOADING and not (value or "").startswith("#"):
                if not (tag == "data" or key == "data"):
                    self.loads.append((tag, key, value))
            if key.startswith("on"):
                self.loads.append((tag, key, value))
            if key == "id":
                self.ids.append(value)
        attrs = dict(attrs)
        if attrs.get("class") == "missing":
            self.missing.append("")
        self.table(tag, attrs)

    def table(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.cell = []
            self.rows[-1].append(self.cell)
        elif tag == "data" and self.cell is not None:
            self.cell.append(("value", attrs["value"]))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        self.texts.append(data)
        if self.cell is not None:
            self.cell.append(("text", data))
        if self.open and self.open[-1] in ("p", "span") and self.missing:
            self.missing[-1] = self.missing[-1] or data


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="bench_report.")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def html(self, result):
        """(text, page), after the checks that every page must pass."""
        report.write_html(result, self.path("r.html"))
        text = self.read("r.html")
        page = Page(text)
        self.assertEqual(page.wrong, [])
        self.assertEqual(page.loads, [])
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertEqual({"script", "iframe", "object", "embed", "link", "img"} & set(page.tags),
                         set())
        self.assertNotIn("@import", text)
        self.assertNotIn("url(http", text)
        return text, page

    def drawn(self, text):
        """How many figures a page has; a second picture of one, on demand, is none of its own."""
        return text.count("<svg") - text.count(ON_DEMAND)

    def has(self, word, text):
        """Without printing the whole page if not."""
        self.assertTrue(word in text, f"{word!r} is missing")

    def markdown(self, result):
        report.write_markdown(result, self.path("r.md"))
        return self.read("r.md")


def main():
    brief.main()
