# SPDX-License-Identifier: MIT
"""How summaries are written: few digits, short lines, the same text for the same figures."""

import json
import math

DIGITS = 4
LINE = 100


def short(value, digits=DIGITS):
    """@value with a few digits that mean something; an integer where that is the same."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


def shortened(tree, without=(), digits=DIGITS):
    """A copy with short numbers, without the keys @without at any depth."""
    if isinstance(tree, dict):
        return {k: shortened(v, without, digits) for k, v in tree.items() if k not in without}
    if isinstance(tree, list):
        return [shortened(v, without, digits) for v in tree]
    return short(tree, digits)


def compact(value):
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def filled(parts):
    """Joined with commas, as many in a line as it takes."""
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) >= LINE:
            lines.append("")
        lines[-1] += part + ","
    return "\n".join(lines).rstrip(",")


def laid_out(value, depth):
    whole = compact(value)
    if depth and len(whole) <= LINE or not isinstance(value, (dict, list)) or not value:
        return whole
    named = isinstance(value, dict)
    parts = [f"{compact(k)}:{laid_out(v, depth + 1)}" for k, v in value.items()] if named else \
        [laid_out(v, depth + 1) for v in value]
    inner = value.values() if named else value
    flat = depth and not any(isinstance(v, (dict, list)) for v in inner)
    body = filled(parts) if flat else "\n" + ",\n".join(parts) + "\n"
    return f"{{{body}}}" if named else f"[{body}]"


def text(summary):
    """JSON that diff can compare: what fits into a line stands in one."""
    return laid_out(summary, 0) + "\n"
