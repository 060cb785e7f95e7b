# SPDX-License-Identifier: MIT
"""Trimming, medians and intervals. docs/benchmarks/harness.md has the formulae.

Times are worked on as logarithms: they are positive, and disturbances multiply.
"""

import functools
import math
import statistics

CONFIDENCE = 0.95

# Standard deviation, as a share, by which whole sessions differ on the same machine, beyond
# what the runs of one session show: other memory, another neighbour on the host.
SESSION_DRIFT = 0.01

# Groups with fewer members say nothing about the spread of a member.
POOL_LEAST = 3


def beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    h = d
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d, c = 1 + step * d, 1 + step / c
            d = 1 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return h


def incomplete_beta(a, b, x):
    """Regularized: from 0 at x = 0 to 1 at x = 1."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
                     + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * beta_fraction(a, b, x) / a
    return 1 - front * beta_fraction(b, a, 1 - x) / b


def t_two_sided(t, dof):
    """How probable a deviation of at least @t is."""
    if math.isinf(t):
        return 0.0
    return incomplete_beta(dof / 2, 0.5, dof / (dof + t * t))


def t_quantile(confidence, dof):
    """The deviation that is not exceeded, either way, with this probability."""
    low, high = 0.0, 2.0
    while t_two_sided(high, dof) > 1 - confidence:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if t_two_sided(middle, dof) > 1 - confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def kept(values, trim):
    """Without the first and the last, or without the lowest and the highest. From four on."""
    if len(values) < 4:
        return list(values)
    if trim == "order":
        return list(values[1:-1])
    dropped = {min(range(len(values)), key=lambda i: values[i])}
    dropped.add(max((i for i in range(len(values)) if i not in dropped),
                    key=lambda i: values[i]))
    return [v for i, v in enumerate(values) if i not in dropped]


def spread(values, trim):
    """(variance of one run, degrees of freedom). Rank: from the winsorized values, after Yuen."""
    left = kept(values, trim)
    dof = len(left) - 1
    if dof < 1:
        return None, 0
    if trim == "rank" and len(left) < len(values):
        least, most = min(left), max(left)
        left = [min(most, max(least, v)) for v in values]
    mean = statistics.fmean(left)
    return sum((v - mean) ** 2 for v in left) / dof, dof


def median_variance(n):
    """Of the median of @n normal values with variance 1. Within 1 % of the exact value for odd
    n from 3 on, above it for even n."""
    return math.pi / (2 * n + 1)


def session_variance(variance, n, dof):
    """(variance of the log of a session's median of @n runs, its degrees of freedom)."""
    drift = SESSION_DRIFT ** 2
    if variance is None or not dof:
        return None, 0.0
    runs = variance * median_variance(n)
    total = runs + drift
    return total, total * total / (runs * runs / dof) if runs > 0 else math.inf


def add_variances(first, second):
    """Of a difference: (variance, degrees of freedom after Satterthwaite)."""
    if first[0] is None or second[0] is None:
        return None, 0.0
    total = first[0] + second[0]
    weight = sum(v * v / d for v, d in (first, second) if not math.isinf(d))
    return total, total * total / weight if weight > 0 else math.inf


@functools.lru_cache(maxsize=None)
def quantile_at(confidence, dof):
    return t_quantile(confidence, dof)


def half_width(variance, dof, confidence=CONFIDENCE):
    """Of the interval about a value with this variance. Degrees are rounded down, which makes
    it a little wider; a thousand are as good as any more."""
    coarse = max(0.5, math.floor(min(dof, 1000) * 4) / 4)
    return quantile_at(confidence, coarse) * math.sqrt(variance)
