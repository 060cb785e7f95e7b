# SPDX-License-Identifier: MIT
"""Markdown by pandoc, which makes GitHub's anchors."""
import html
import re
import subprocess

from pages import Page, target_of

HEADING = re.compile(r"<h1\b[^>]*>(.*?)</h1>", re.S)
TABLE = re.compile(r"<table\b.*?</table>", re.S)


def plain(fragment):
    return html.unescape(re.sub(r"<[^>]*>|\s+", lambda m: " " if m[0].isspace() else "", fragment)).strip()


def read(root, name):
    body = subprocess.run(["pandoc", "-f", "gfm", "-t", "html5", "--no-highlight", "--wrap=preserve", root / name],
                          stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    heading = HEADING.search(body)
    title = plain(heading[1]) if heading else name
    # What is wider than the screen moves for itself.
    body = TABLE.sub(lambda m: f'<div class="wide">{m[0]}</div>', body)
    return Page(name, target_of(name), title, body)
