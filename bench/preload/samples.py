# SPDX-License-Identifier: MIT
"""Input for programs that want some: made once in a run, the same every time."""

import random

TEXT_BYTES = 16 << 20


def text(c):
    """Words, as compressible as prose. A shorter run has less of it."""
    path = c.folder / "text"
    if not path.exists():
        rng = random.Random(1)
        words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(5000)]
        size, part = int(TEXT_BYTES * min(1, c.seconds)), []
        while sum(map(len, part)) < size:
            part.append(" ".join(rng.choices(words, k=100_000)) + "\n")
        path.write_text("".join(part)[:size], "ascii")
    return path


def source(c):
    """A file for a compiler: functions that call each other."""
    path = c.folder / "source.c"
    if not path.exists():
        parts = ["unsigned f0(unsigned *p, unsigned n) { return p[n & 7]; }\n"]
        for i in range(1, max(10, int(500 * c.seconds))):
            parts.append(
                f"unsigned f{i}(unsigned *p, unsigned n)\n{{\n\tunsigned s = {i};\n"
                f"\tfor (unsigned k = 0; k < n; k++)\n\t\ts = s * 31 + p[(k ^ {i}) & 7];\n"
                f"\treturn s & 1 ? f{i // 2}(p, s & 15) : s ^ p[{i % 8}];\n}}\n")
        path.write_text("".join(parts), "ascii")
    return path
