# SPDX-License-Identifier: MIT
"""Manual pages by mandoc, and their index."""
import html
import re
import subprocess

from pages import Page

FOLDER = "docs/man"
SECTIONS = {"1": "Commands", "3": "Functions", "7": "Overview"}
NAME_SECTION = re.compile(r"^\.Sh NAME\n(.*?)(?=^\.Sh )", re.M | re.S)
NM = re.compile(r"^\.Nm (\S+)", re.M)
ND = re.compile(r"^\.Nd (.*)", re.M)
REFERENCE = re.compile(r'<a class="Xr" href="([^"]*)">(.*?)</a>', re.S)


def names_of(text):
    return NM.findall(NAME_SECTION.search(text)[1])


def pages_by_name(paths):
    """A reference may name any function of a page."""
    found = {}
    for path in paths:
        for name in names_of(path.read_text(encoding="utf-8")):
            found[f"{name}.{path.suffix[1:]}"] = path.name
    return found


def render(path, by_name):
    out = subprocess.run(["mandoc", "-T", "html", "-I", "os=libipcwait", "-O", "fragment,man=%N.%S", path],
                         stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout

    def link(m):
        page = by_name.get(m[1])
        return f'<a class="Xr" href="{page}.html">{m[2]}</a>' if page else f'<span class="Xr">{m[2]}</span>'

    return f'<div class="manual">{REFERENCE.sub(link, out)}</div>'


def read(path, by_name):
    text = path.read_text(encoding="utf-8")
    title = f"{path.stem}({path.suffix[1:]})"
    summary = ND.search(text)[1].strip()
    return Page(f"{FOLDER}/{path.name}", f"{FOLDER}/{path.name}.html", title, render(path, by_name), summary)


def entry(page, names):
    others = ", ".join(f"<code>{html.escape(name)}</code>" for name in names[1:])
    others = f'<div class="names">{others}</div>' if others else ""
    return (f'<dt><a href="{page.target.rpartition("/")[2]}">{html.escape(page.title)}</a></dt>'
            f"<dd>{html.escape(page.summary)}{others}</dd>")


def index(pages, root):
    body = ["<h1>Manual pages</h1>"]
    for section, title in SECTIONS.items():
        body.append(f'<h2 id="section-{section}">{section}: {title}</h2><dl class="index">')
        for page in pages:
            if page.title.endswith(f"({section})"):
                body.append(entry(page, names_of((root / page.source).read_text(encoding="utf-8"))))
        body.append("</dl>")
    return Page(None, f"{FOLDER}/index.html", "Manual pages", "\n".join(body))


def read_all(root):
    paths = sorted(path for path in (root / FOLDER).iterdir() if re.fullmatch(r"\.[1-8]", path.suffix))
    by_name = pages_by_name(paths)
    pages = [read(path, by_name) for path in paths]
    return [*pages, index(pages, root)]
