# SPDX-License-Identifier: MIT
"""Variances of the members of a group, drawn towards what is usual in the group.

Three runs say little about their spread; hundreds of runs of similar benchmarks say more. How
much the group counts follows from how much its variances differ beyond chance (G. K. Smyth,
"Linear models and empirical Bayes methods", 2004): not at all where they are very different.
"""

import math
import statistics

from .stats import POOL_LEAST, incomplete_beta

# A member with a variance that would come up this seldom in the group stands for itself.
OUTSIDER = 0.02

# The group never counts more: its members are of one kind, but not the same.
PRIOR_MOST = 20.0


def digamma(x):
    total = 0.0
    while x < 8:
        total -= 1 / x
        x += 1
    y = 1 / (x * x)
    return total + math.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y / 252))


def trigamma(x):
    total = 0.0
    while x < 8:
        total += 1 / (x * x)
        x += 1
    y = 1 / (x * x)
    return total + 1 / x + y / 2 + y / x * (1 / 6 - y * (1 / 30 - y / 42))


def trigamma_inverse(value):
    """Where trigamma, which falls from infinity to 0, is @value."""
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        if trigamma(middle) > value:
            low = middle
        else:
            high = middle
    return middle


def prior(spreads):
    """(variance, degrees of freedom) that the group stands for; 0 degrees: none."""
    known = [(v, d) for v, d in spreads if d > 0]
    usual = statistics.median(v for v, _ in known) if known else 0.0
    if len(known) < POOL_LEAST or usual <= 0:
        return 0.0, 0.0
    # A few equal values by chance are no proof of a variance of 0.
    logs = [math.log(max(v, usual * 1e-5)) - digamma(d / 2) + math.log(d / 2) for v, d in known]
    expected = statistics.fmean(trigamma(d / 2) for _, d in known)
    more = statistics.variance(logs) - expected
    if more <= trigamma(PRIOR_MOST / 2):
        weight = PRIOR_MOST
    else:
        weight = 2 * trigamma_inverse(more)
    return math.exp(statistics.fmean(logs) + digamma(weight / 2) - math.log(weight / 2)), weight


def by_chance(variance, dof, usual, weight):
    """How probable so large a variance is for a member of the group: an F test."""
    if usual <= 0 or weight <= 0:
        return 1.0
    return incomplete_beta(weight / 2, dof / 2, weight / (weight + dof * variance / usual))


def moderated(spreads):
    """For each (variance, degrees) the pair with what the group knows added."""
    usual, weight = prior(spreads)
    result = []
    for own, dof in spreads:
        total = dof + weight
        if not total:
            result.append((None, 0))
        elif dof and by_chance(own, dof, usual, weight) < OUTSIDER:
            result.append((own, dof))
        else:
            result.append(((dof * (own or 0.0) + weight * usual) / total, total))
    return result
