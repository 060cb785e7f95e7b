# SPDX-License-Identifier: MIT
"""Links between documents become links between pages; each of them is looked up."""
import html
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from pages import target_of

LINK = re.compile(r'<a href="([^"]*)"([^>]*)>(.*?)</a>', re.S)
PICTURE = re.compile(r'<img src="([^"]*)"')
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//")


class Book:
    """What there is to link to."""

    def __init__(self, root, targets, source_url):
        self.root, self.targets, self.source_url = root, targets, source_url
        self.files = set()      # to be copied
        self.wrong = []

    def mend(self, page):
        if page.source is None or not page.source.endswith(".md"):
            return page.body
        body = PICTURE.sub(lambda m: f'<img src="{self.picture(page, m[1])}"', page.body)
        return LINK.sub(lambda m: self.link(page, m), body)

    def path_of(self, page, link):
        """The file in the source, relative to its root; None, and told, where there is none."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), unquote(link)))
        if path.startswith("..") or not (self.root / path).exists():
            self.wrong.append(f"{page.source}: {link} does not exist")
            return None
        return path

    def picture(self, page, link):
        path = self.path_of(page, html.unescape(link)) if not ELSEWHERE.match(link) else None
        if path is None:
            self.wrong.append(f"{page.source}: a picture that is not in the source: {link}")
            return link
        self.files.add(path)
        return relative(page, path)

    def link(self, page, m):
        href = html.unescape(m[1])
        path, _, anchor = href.partition("#")
        if ELSEWHERE.match(href) or not path:
            return m[0]
        path = self.path_of(page, path)
        if path is None:
            return m[3]
        target = self.target(path)
        if target:
            href = relative(page, target) + ("#" + anchor if anchor else "")
        elif self.source_url:
            href = f"{self.source_url}/{path}" + ("#" + anchor if anchor else "")
        else:
            return f'<span class="source">{m[3]}</span>'
        return f'<a href="{html.escape(href)}"{m[2]}>{m[3]}</a>'

    def target(self, path):
        """A page, or a file that the site has too; None: it is to be read in the source."""
        if (self.root / path).is_dir():
            made = path + "/index.html"
        elif re.fullmatch(r"docs/man/[^/]*\.[1-8]", path):
            made = path + ".html"
        else:
            made = target_of(path) if path.endswith(".md") else None
        if made in self.targets:
            return made
        if path.startswith("docs/") and (self.root / path).is_file():
            self.files.add(path)
            return path
        return None


def relative(page, target):
    return posixpath.relpath(target, posixpath.dirname(page.target) or ".")


class Reader(HTMLParser):
    """The anchors of a file, what it links to, and what it loads."""

    def __init__(self):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value)
            elif name == "href" and tag == "a":
                self.links.append(value)
            elif name in ("href", "src", "srcset", "data"):
                self.loads.append(value)
        if tag == "script":
            self.loads.append("script:")


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def check(out):
    """A line for each link of the site in @out that leads nowhere, and for what comes from elsewhere."""
    out = Path(out)
    pages = {path.relative_to(out).as_posix(): read(path) for path in sorted(out.glob("**/*.html"))}
    wrong = []
    for name, page in pages.items():
        for link in page.loads:
            if ELSEWHERE.match(link):
                wrong.append(f"{name}: loads {link}")
        for link in page.links + page.loads:
            if not ELSEWHERE.match(link) and not leads_somewhere(out, pages, name, link):
                wrong.append(f"{name}: {link} leads nowhere")
    return wrong


def leads_somewhere(out, pages, name, link):
    path, _, anchor = link.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(path))) if path else name
    if not (out / target).is_file():
        return False
    return not anchor or (target in pages and unquote(anchor) in pages[target].anchors)
