# SPDX-License-Identifier: MIT
"""Text from outside, as people are shown it."""


def clean(text):
    """On one line: what would move the cursor, or turn the text around, is a '?'."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def shown(text, most=200):
    """The same, with the rest cut off."""
    text = clean(text)
    return text if len(text) <= most else text[:most - 3] + "..."
