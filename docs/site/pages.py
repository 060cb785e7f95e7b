# SPDX-License-Identifier: MIT
"""A page of the site, and where it lies."""
from dataclasses import dataclass


@dataclass
class Page:
    source: str      # relative to the root of the source; None: made up
    target: str      # relative to the root of the site
    title: str
    body: str
    summary: str = ""


def target_of(source):
    """README.md is what a reader of its folder gets."""
    folder, slash, name = source.rpartition("/")
    stem = name.removesuffix(".md")
    return f"{folder}{slash}{'index' if stem == 'README' else stem}.html"
