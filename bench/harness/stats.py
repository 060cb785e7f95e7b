# SPDX-License-Identifier: MIT
"""Trimming, medians and intervals. docs/benchmarks/harness.md has the formulae.

Times are worked on as logarithms: they are positive, and disturbances multiply.
"""

import functools
import math
import statistics

CONFIDENCE = 0.95

# Whole sessions differ on the same machine beyond what the runs of one show: other memory, another
# neighbour on the host. Its standard deviation, as a share, and how well that is known, in degrees
# of freedom. From sessions on one machine; docs/benchmarks/harness.md, "Intervals", has them.
SESSION_DRIFT = 0.01
DRIFT_DOF = 5

# Of a logarithm: with figures of any size the results of factor() can still be multiplied.
FACTOR_MOST = 400

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


def kept_at(values, trim):
    """Rounds that count: all but the first and the last, or but the lowest and the highest, from
    four on. A round that has no value, None, keeps its place and never counts."""
    there = [i for i, v in enumerate(values) if v is not None]
    if trim == "order":
        inner = [i for i in there if 0 < i < len(values) - 1]
        return inner if inner and len(values) >= 4 else there
    if len(there) < 4:
        return there
    dropped = {min(there, key=lambda i: values[i])}
    dropped.add(max((i for i in there if i not in dropped), key=lambda i: values[i]))
    return [i for i in there if i not in dropped]


def kept(values, trim):
    return [values[i] for i in kept_at(values, trim)]


def spread(values, trim):
    """(variance of one run, degrees of freedom). Rank: from the winsorized values, after Yuen."""
    left = kept(values, trim)
    dof = len(left) - 1
    if dof < 1:
        return None, 0
    if trim == "rank":
        least, most = min(left), max(left)
        left = [min(most, max(least, v)) for v in values if v is not None]
    mean = statistics.fmean(left)
    return sum((v - mean) ** 2 for v in left) / dof, dof


def median_variance(n):
    """Of the median of @n normal values with variance 1. Within 1 % of the exact value for odd
    n from 3 on, above it for even n."""
    return math.pi / (2 * n + 1)


def session_variance(variance, n, dof, rounding=0.0):
    """(variance of the log of a session's median of @n runs, its degrees of freedom).
    @rounding is the variance that the resolution of the figure adds: more runs do not reduce it."""
    if variance is None or not dof:
        return None, 0.0
    drift, runs = SESSION_DRIFT ** 2, variance * median_variance(n)
    total = runs + drift + rounding
    return total, total * total / (runs * runs / dof + drift * drift / DRIFT_DOF)


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


def factor(logarithm):
    """Its exponential, within what a number can be; beyond that no figure is told from another."""
    return math.exp(max(-FACTOR_MOST, min(FACTOR_MOST, logarithm)))


def significance(deviation, variance, dof):
    """How probable so large a deviation is where there is none. Without variance it is certain."""
    if variance > 0:
        return t_two_sided(abs(deviation) / math.sqrt(variance), min(dof, 1e6))
    return 0.0 if deviation else 1.0


def holm(rows):
    """Adjusted probabilities: the smallest times the number of tests, the next times one less."""
    known = sorted((r for r in rows if r["p"] is not None), key=lambda r: r["p"])
    most = 0.0
    for i, row in enumerate(known):
        most = max(most, min(1.0, row["p"] * (len(known) - i)))
        row["p_adjusted"] = most
