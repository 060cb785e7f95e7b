# SPDX-License-Identifier: MIT
"""Reports of a result of scripts/bench that people look at. See docs/benchmarks/report.md."""

from . import gnuplot, markdown, page, show
from .errors import ReportError

__all__ = ["ReportError", "write_html", "write_markdown"]


def write(path, text):
    try:
        with open(path, "w", encoding="utf-8", errors="replace") as f:
            f.write(text)
    except OSError as e:
        raise ReportError(f"cannot write {show.short(path, 200)}: {e.strerror}") from None


def write_html(result, path):
    """One file that needs no other. ReportError without gnuplot, or if @path cannot be written."""
    gnuplot.check()
    write(path, page.text_of(result))


def write_markdown(result, path):
    """Tables, and sentences in place of pictures. ReportError if @path cannot be written."""
    write(path, markdown.text_of(result))
