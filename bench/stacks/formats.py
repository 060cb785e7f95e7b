# SPDX-License-Identifier: MIT
"""Which format a file has, by what is in it, and reading it."""
import re
import sys

from . import perf, perf_script, text_formats
from .errors import Refused, reason

READERS = {
    "script": perf_script.read,
    "folded": text_formats.read_folded,
    "bang": text_formats.read_bang,
}
PERF_DATA = (b"PERFILE2", b"2ELIFREP")

# Enough lines to know a format: a comment or a damaged line among them does no harm.
LOOKED_AT = 400


def read_bytes(path):
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as f:
            return f.read()
    except OSError as e:
        raise Refused(f"{path}: {reason(e)}") from e


def decode(data, source):
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    strange = sum(not (c.isprintable() or c in "\t\n") or c == "\ufffd" for c in text[:4096])
    if "\0" in text[:4096] or strange * 20 > len(text[:4096]):
        raise Refused(f"{source}: is binary, want stacks as text")
    return text


def detect(text):
    """The name of a format, or None."""
    lines = [line for line in text.split("\n", LOOKED_AT)[:LOOKED_AT] if line.strip()]
    if any(line.strip() == "!" for line in lines):
        return "bang"
    if any(line[:1] != "\t" and perf_script.header(line) for line in lines):
        return "script"
    if any(text_formats.FOLDED.fullmatch(line) for line in lines):
        return "folded"
    return None


def read(path, format_name=None):
    """The stacks in a file; "-" is the standard input."""
    source = "standard input" if path == "-" else path
    data = read_bytes(path)
    if data.startswith(PERF_DATA):
        if path == "-":
            raise Refused("standard input: is perf.data, want a file or what perf script prints")
        data = perf.script_bytes(path)
        format_name = "script"
    text = decode(data, source)
    if not re.search(r"\S", text):
        raise Refused(f"{source}: is empty")
    format_name = format_name or detect(text)
    if not format_name:
        raise Refused(f"{source}: no stacks in it, want folded, `!`-separated or perf script")
    profile = READERS[format_name](text, source)
    if not sum(profile.counts.values()):
        raise Refused(f"{source}: no stacks in it, read as {format_name}")
    return profile
