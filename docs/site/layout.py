# SPDX-License-Identifier: MIT
"""What is around a page: the head, and where else there is to go."""
import html
import posixpath
import re

from links import relative

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{root}style.css">
</head>
<body>
<header>
<a class="name" href="{root}index.html">libipcwait</a>
<a class="to-contents" href="#contents">Contents</a>
</header>
<main>
{body}
</main>
<nav id="contents" aria-label="Contents">
{navigation}
</nav>
</body>
</html>
"""

# Title, first page, folder: the pages of a folder are shown while one of them is read.
PARTS = (
    ("Overview", "index.html", None),
    ("Guide", "docs/guide/index.html", "docs/guide/"),
    ("Manual pages", "docs/man/index.html", "docs/man/"),
    ("Limits", "docs/limits.html", None),
    ("Bad input", "docs/bad-input.html", None),
    ("Waits in the kernel", "docs/kernel-waits.html", None),
    ("Idle CPUs that poll", "docs/awake.html", None),
    ("Monitoring", "docs/monitoring/index.html", None),
    ("Tracing", "docs/tracing/index.html", None),
    ("Rust", "bindings/rust/index.html", None),
    ("Python", "bindings/python/index.html", None),
    ("Benchmarks", "docs/benchmarks.html", "docs/benchmarks/"),
    ("Architecture", "ARCHITECTURE.html", None),
    ("Designs", "docs/design/index.html", "docs/design/"),
    ("Decisions", "docs/adr/index.html", "docs/adr/"),
    ("Verification", "docs/verification.html", None),
    ("Contributing", "CONTRIBUTING.html", None),
    ("Releasing", "docs/releasing.html", None),
    ("Changes", "CHANGELOG.html", None),
    ("All documents", "docs/index.html", None),
)
ALWAYS_OPEN = ("docs/guide/",)


def listing(pages, folder, title):
    items = "\n".join(f'<li><a href="{posixpath.relpath(p.target, folder)}">{html.escape(p.title)}</a></li>'
                      for p in pages)
    return f"<h1>{html.escape(title)}</h1>\n<ul>\n{items}\n</ul>"


def section_and_name(target):
    name, section, _ = target.rsplit(".", 2)
    return section, name


class Navigation:
    def __init__(self, pages):
        self.pages = {page.target: page for page in pages}

    def as_linked(self, contents):
        """The order in which a page names others, as a key for sorting."""
        folder = posixpath.dirname(contents)
        order = [posixpath.join(folder, link)
                 for link in re.findall(r'<a href="([^"#]*)', self.pages[contents].body)]
        return lambda target: order.index(target) if target in order else len(order)

    def below(self, folder):
        there = sorted(t for t in self.pages if t.startswith(folder) and not t.endswith("/index.html"))
        if folder == "docs/man/":
            return sorted(there, key=section_and_name)
        index = folder + "index.html"
        return sorted(there, key=self.as_linked(index)) if index in self.pages else there

    def item(self, page, target, title):
        here = ' aria-current="page"' if target == page.target else ""
        return f'<li><a href="{relative(page, target)}"{here}>{html.escape(title)}</a>'

    def part(self, page, title, target, folder):
        text = self.item(page, target, title)
        is_open = folder and (folder in ALWAYS_OPEN or page.target == target or page.target.startswith(folder))
        below = self.below(folder) if is_open else []
        if below:
            items = "\n".join(self.item(page, t, self.pages[t].title) + "</li>" for t in below)
            text += f"\n<ul>\n{items}\n</ul>\n"
        return text + "</li>"

    def navigation(self, page):
        parts = [self.part(page, *entry) for entry in PARTS if entry[1] in self.pages]
        return "<ul>\n" + "\n".join(parts) + "\n</ul>"

    def html(self, page):
        depth = page.target.count("/")
        title = page.title if page.title == "libipcwait" else f"{page.title} - libipcwait"
        return PAGE.format(title=html.escape(title), root="../" * depth, body=page.body,
                           navigation=self.navigation(page))
