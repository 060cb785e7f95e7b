#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The bar chart of the README, from a committed result: handoff.py [--check]

Writes handoff.svg beside itself; --check says whether it is what would be written.
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULT = HERE.parent.parent / "bench/results/sem_test-800k-2vcpu-kvm-zen4.json"
PICTURE = HERE / "handoff.svg"

WIDTH, LEFT, RIGHT, ROW = 720, 190, 190, 30

STYLE = """<style>
text { font: 14px system-ui, sans-serif; fill: #1b1f24; }
.faint { fill: #667; } .ours { fill: #2f6fb7; } .theirs { fill: #b8bec7; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e8eb; } .faint { fill: #99a; } .ours { fill: #6aa7e8; } .theirs { fill: #565c66; }
}
</style>
"""


def bars(result):
    """(label, seconds, CPU-seconds, is ours) of each row, and the seconds of the work alone."""
    found, alone = [], 0
    for row in result["rows"]:
        if row["row"] not in ("ipcwait", "glibc"):
            continue
        name = "libipcwait" if row["row"] == "ipcwait" else "glibc sem_t"
        medians = row["medians"]
        found.append((f"{name}, {row['form']}", medians["seconds"], medians["cpu_seconds"],
                      row["row"] == "ipcwait"))
        alone = medians["bound_seconds"]
    return sorted(found, key=lambda bar: not bar[3]), alone


def draw(result):
    found, alone = bars(result)
    most = max(bar[1] for bar in found)
    scale = (WIDTH - LEFT - RIGHT) / most
    height = ROW * len(found) + 58
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           f'width="{WIDTH}" height="{height}" role="img" '
           f'aria-label="Seconds for {result["items"]} hand-offs">', STYLE,
           f'<text x="0" y="18">{result["items"] // 1000}k hand-offs in a VM with '
           f'{result["environment"]["cpus_usable"]} CPUs: seconds, and CPU-seconds</text>']
    for i, (label, seconds, cpu, ours) in enumerate(found):
        y = 34 + ROW * i
        out.append(f'<text x="{LEFT - 10}" y="{y + 15}" text-anchor="end">{label}</text>')
        out.append(f'<rect class="{"ours" if ours else "theirs"}" x="{LEFT}" y="{y}" '
                   f'width="{seconds * scale:.1f}" height="20"/>')
        out.append(f'<text x="{LEFT + seconds * scale + 8:.1f}" y="{y + 15}">{seconds:.2f} s'
                   f'<tspan class="faint" dx="8">{cpu:.1f} CPU-s</tspan></text>')
    out.append(f'<text class="faint" x="0" y="{height - 6}">The work alone takes {alone:.2f} s. '
               f'{result["environment"]["cpu"]}, {result["environment"]["kernel"].split("-")[0]}, '
               f'{result["finished"][:10]}; medians of {result["repeat"]}.</text>')
    return "\n".join([*out, "</svg>", ""])


def main(words):
    text = draw(json.loads(RESULT.read_text(encoding="utf-8")))
    if words == ["--check"]:
        if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PICTURE.name} is not what {RESULT.name} says: run {Path(__file__).name}")
        return 1
    if words:
        print(__doc__, file=sys.stderr)
        return 2
    PICTURE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
