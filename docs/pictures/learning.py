#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pictures of docs/guide/learning.md, from a committed result: learning.py [--check]

Writes windows.svg and costs.svg beside itself; --check says whether they are what would be written.
The result is made by windows.py.
"""
import json
import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULT = HERE.parent.parent / "bench/results/policy_sim-windows.json"

WIDTH, LEFT, RIGHT = 420, 34, 8
PANEL, TITLE, FOOT = 84, 26, 22

STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1b1f24; }
.faint { fill: #667; } .axis { stroke: #99a; }
path { fill: none; stroke-width: 2; } .wait { stroke: #c4701a; stroke-width: 2.6; stroke-linecap: round; }
.window, .ipcwait { stroke: #2f6fb7; } .block { stroke: #c4701a; stroke-dasharray: 6 4; }
.spin { stroke: #7a4fb0; stroke-dasharray: 2 3; } .fixed-b { stroke: #667; stroke-dasharray: 10 3 2 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e8eb; } .faint { fill: #99a; } .axis { stroke: #667; } .wait { stroke: #eaa35a; }
  .window, .ipcwait { stroke: #6aa7e8; } .block { stroke: #eaa35a; }
  .spin { stroke: #b795e4; } .fixed-b { stroke: #99a; }
}
</style>"""

TITLES = {
    "short": "6 us each: it spins for all of them",
    "long": "300 us each: two trials, then it sleeps at once",
    "two kinds": "6 us, and one in five of 300 us: a short window",
    "changing": "6 us, then 300 us, then 6 us again",
}
NAMES = {"ipcwait": "libipcwait", "block": "sleep at once", "spin": "spin to the end", "fixed-b": "spin for B"}


def head(height, label):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" aria-label="{label}">', STYLE]


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{words}</text>'


def rule(y, words):
    return [f'<line class="axis" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>',
            text(LEFT - 5, y + 4, words, ' class="faint" text-anchor="end"')]


def panel(series, top, b_us):
    """Waits as dots, those beyond 1.4 B on the upper edge; the window before each as a line."""
    floor, most = top + TITLE + PANEL - 12, 1.4 * b_us
    step = (WIDTH - LEFT - RIGHT) / len(series["waits_us"])

    def level(us):
        return floor - min(us, most) / most * (PANEL - 12)

    out = [text(0, top + 15, TITLES[series["waits"]]), *rule(floor, "0"), *rule(level(b_us), "B")]
    dots = "".join(f"M{LEFT + (i + 0.5) * step:.1f},{level(wait):.1f}h0" for i, wait in enumerate(series["waits_us"]))
    out.append(f'<path class="wait" d="{dots}"/>')
    found = series["windows_us"]
    line = f"M{LEFT},{level(found[0]):.1f}" + "".join(
        f"H{LEFT + i * step:.1f}V{level(us):.1f}" for i, us in enumerate(found) if i and us != found[i - 1])
    line += f"H{WIDTH - RIGHT}"
    return [*out, f'<path class="window" d="{line}"/>']


def windows(result):
    rows = result["series"]
    height = (TITLE + PANEL) * len(rows) + 2 * FOOT
    out = head(height, "The window before each wait, for four kinds of waits")
    for i, series in enumerate(rows):
        out += panel(series, i * (TITLE + PANEL), result["b_us"])
    out += [text(0, height - 25, "Line: the window. Dots: the waits, those beyond 1.4 B on top.", ' class="faint"'),
            text(0, height - 7, f'{len(rows[0]["waits_us"])} waits each, B = {result["b_us"]} us; policy_sim.',
                 ' class="faint"')]
    return "\n".join([*out, "</svg>", ""])


def curve(points, spot):
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in (spot(*point) for point in points))


def clipped(points, most):
    """Up to where a curve reaches `most`; the abscissa is a logarithm."""
    out = []
    for (x, y), (x2, y2) in zip(points, [*points[1:], points[-1]]):
        if y <= most:
            out.append((x, y))
        if (y - most) * (y2 - most) < 0:
            out.append((x * (x2 / x) ** ((most - y) / (y2 - y)), most))
    return out


def costs(result):
    top, floor, most = 30, 230, 4
    low, high = (math.log(f(mean for mean, _ in result["costs"]["ipcwait"])) for f in (min, max))

    def spot(mean, ratio):
        return (LEFT + (math.log(mean) - low) / (high - low) * (WIDTH - LEFT - RIGHT - 8),
                floor - (ratio - 1) / (most - 1) * (floor - top))

    out = head(floor + 104, "What rules cost by the mean length of irregular waits")
    out.append(text(0, 15, "Cost, where 1 is the best with foresight"))
    for ratio in range(1, most + 1):
        out += rule(spot(1, ratio)[1], str(ratio))
    for mean in (0.05, 0.2, 1, 5):
        out.append(text(spot(mean, 1)[0], floor + 17, f"{mean} B", ' class="faint" text-anchor="middle"'))
    for i, (name, label) in enumerate(NAMES.items()):
        out.append(f'<path class="{name}" d="{curve(clipped(result["costs"][name], most), spot)}"/>')
        x, y = i % 2 * 200, floor + 46 + i // 2 * 20
        out += [f'<path class="{name}" d="M{x},{y - 4}h34"/>', text(x + 42, y, label)]
    out.append(text(0, floor + 94, f'Mean wait, exponential waits; B = {result["b_us"]} us; policy_sim.',
                    ' class="faint"'))
    return "\n".join([*out, "</svg>", ""])


def main(words):
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    drawn = {HERE / "windows.svg": windows(result), HERE / "costs.svg": costs(result)}
    if words == ["--check"]:
        stale = [path for path, svg in drawn.items()
                 if not path.exists() or path.read_text(encoding="utf-8") != svg]
        for path in stale:
            print(f"{path.name} is not what {RESULT.name} says: run {Path(__file__).name}")
        return 1 if stale else 0
    if words:
        print(__doc__, file=sys.stderr)
        return 2
    for path, svg in drawn.items():
        path.write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
