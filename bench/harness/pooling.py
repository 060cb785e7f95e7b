# SPDX-License-Identifier: MIT
"""Variances of the members of a group, drawn towards what is usual in the group.

Three runs say little about their spread; hundreds of runs of similar benchmarks say more. How
much the group counts follows from how much its variances differ beyond chance (G. K. Smyth,
"Linear models and empirical Bayes methods", 2004). Both are read off the median and the upper
quartile of the group: a few members that are wild, or always the same, change neither.
"""

import functools
import statistics

from .stats import POOL_LEAST, incomplete_beta

# A member with a variance that would come up this seldom in the group stands for itself.
OUTSIDER = 0.02

# How many degrees of freedom the group may count for: nothing in between needs to be told apart.
# It never counts more, as its members are of one kind, but not the same.
WEIGHTS = (0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 9, 13, 20)


def beyond(x, dof, weight):
    """How probable a ratio of variances above @x is: the F distribution."""
    return incomplete_beta(weight / 2, dof / 2, weight / (weight + dof * x))


@functools.lru_cache(maxsize=None)
def quantile(share, dof, weight):
    """The ratio of variances below which this share of them is."""
    low, high = 0.0, 1.0
    while beyond(high, dof, weight) > 1 - share:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if beyond(middle, dof, weight) > 1 - share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def steepness(dof, weight):
    """Upper quartile over median: the larger, the less the members have in common."""
    return quantile(0.75, dof, weight) / quantile(0.5, dof, weight)


def prior(spreads):
    """(variance, degrees of freedom) that the group stands for; 0 degrees: none."""
    known = [(v, d) for v, d in spreads if d > 0]
    if len(known) < POOL_LEAST:
        return 0.0, 0.0
    variances = [v for v, _ in known]
    usual = statistics.median(variances)
    if usual <= 0:
        return 0.0, 0.0
    dof = statistics.median_low(d for _, d in known)
    seen = statistics.quantiles(variances, n=4, method="inclusive")[2] / usual
    # All its members together do not know more than their runs.
    possible = [w for w in WEIGHTS if w <= sum(d for _, d in known)]
    weight = min(possible, key=lambda w: abs(steepness(dof, w) - seen))
    return usual / quantile(0.5, dof, weight), weight


def moderated(spreads):
    """For each (variance, degrees) the pair with what the group knows added."""
    usual, weight = prior(spreads)
    result = []
    for own, dof in spreads:
        total = dof + weight
        if not total:
            result.append((None, 0))
        elif dof and usual > 0 and beyond(own / usual, dof, weight) < OUTSIDER:
            result.append((own, dof))
        else:
            result.append(((dof * (own or 0.0) + weight * usual) / total, total))
    return result
