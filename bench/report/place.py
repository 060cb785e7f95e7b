# SPDX-License-Identifier: MIT
"""Where labels go so that none lies on another."""

CHARACTER, LINE = 0.6, 1.25  # of the font's size: an estimate on the safe side


def width(text, size):
    return CHARACTER * size * len(text)


def spread(wanted, gap, low, high):
    """Positions near @wanted, in the same order, @gap apart and between @low and @high."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    at = [min(max(wanted[i], low), high) for i in order]
    for i in range(1, len(at)):
        at[i] = max(at[i], at[i - 1] + gap)
    if at and at[-1] > high:
        at[-1] = high
    for i in range(len(at) - 2, -1, -1):
        at[i] = min(at[i], at[i + 1] - gap)
    result = [0.0] * len(wanted)
    for place, i in zip(at, order):
        result[i] = place
    return result


def overlap(a, b):
    return max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))


def candidates(x, y, w, h):
    """Boxes around a point, the nearest ones first."""
    for far in (7, 20, 34, 50, 80, 120):
        for dx, dy in ((1, 0), (1, -1), (1, 1), (-1, 0), (-1, -1), (-1, 1), (0, -1), (0, 1)):
            left = x + far if dx > 0 else x - far - w if dx < 0 else x - w / 2
            middle = y + dy * (far if dx == 0 else far * 0.8)
            middle += dy * h / 2 if dx == 0 else 0
            yield (left, middle - h / 2, left + w, middle + h / 2), far


def along(points, step=8):
    """Small boxes on a line through @points, in pixels: labels keep off them."""
    boxes = []
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        n = max(1, int(max(abs(x2 - x1), abs(y2 - y1)) / step))
        at = [(x1 + (x2 - x1) * i / n, y1 + (y2 - y1) * i / n) for i in range(n + 1)]
        boxes += [(x - 2, y - 2, x + 2, y + 2) for x, y in at]
    return boxes


def beside(points, size, area, obstacles=()):
    """For each (x, y, text) a box (left, top, right, bottom) within @area, and how far off."""
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points] + list(obstacles)
    result = [None] * len(points)
    for i in sorted(range(len(points)), key=lambda i: points[i][1]):
        x, y, text = points[i]
        best, least = None, None
        for box, far in candidates(x, y, width(text, size), LINE * size):
            outside = sum(max(0, d) for d in (area[0] - box[0], area[1] - box[1],
                                              box[2] - area[2], box[3] - area[3]))
            cost = 200 * outside + sum(overlap(box, other) for other in taken) + far * 0.5
            if least is None or cost < least:
                best, least = (box, far), cost
        taken.append(best[0])
        result[i] = best
    return result
