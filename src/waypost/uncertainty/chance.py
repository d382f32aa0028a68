"""How likely chance alone is to make cases with something differ from cases without it.

Fisher's exact test for one table of four counts; Mantel and Haenszel's (1959) for several of them, one for each part of
the cases. Whoever tries many patterns must ask more of each: `limit` divides what is allowed by how many could be
tried (Bonferroni), so that in one log of twenty without any difference one pattern is told of wrongly, however many
there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri

from waypost.model.arrays import Floats, Ints

FAR = 100_000  # tables from this one that are summed up: of a hundred million cases, forty standard deviations
ALLOWED = 0.05  # probability that chance makes any of the patterns told of


class Fourfold(NamedTuple):
    """Cases with something and cases without it, how many of each end well; or arrays of such counts."""

    good_with: Floats
    bad_with: Floats
    good_without: Floats
    bad_without: Floats


def limit(tried: int, allowed: float = ALLOWED) -> float:
    """How unlikely one of so many differences must be to be more than chance."""
    return allowed / max(1, tried)


def errors_at(probability: float) -> float:
    """Standard errors from which on a difference, either way, is at most so probable by chance.

    >>> round(errors_at(0.05), 2), round(errors_at(limit(100_000)), 2)
    (1.96, 5.03)
    """
    return float(-ndtri(probability / 2))


def standard_errors(table: Fourfold) -> Floats:
    """By how many standard errors more of the cases with it end well than of those without; 0 where one side is empty.

    >>> round(float(standard_errors(Fourfold(*map(np.asarray, (30, 10, 10, 30))))), 2)
    4.47
    """
    good_with, bad_with, good_without, bad_without = (np.asarray(part, float) for part in table)
    with_it, without = good_with + bad_with, good_without + bad_without
    pooled = (good_with + good_without) / np.maximum(1, with_it + without)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(pooled * (1 - pooled) * (1 / with_it + 1 / without))
        found = (good_with / with_it - good_without / without) / error
    return np.where(np.isfinite(found), found, 0.0)


def by_chance(table: Fourfold) -> float:
    """Probability that chance makes at least such a difference, either way: twice the smaller tail of Fisher's test.

    >>> round(by_chance(Fourfold(*map(np.asarray, (3, 0, 0, 3)))), 9)
    0.1
    """
    a, b, c, d = (round(float(part)) for part in table)
    good, with_it, cases = a + c, a + b, a + b + c + d
    lowest, highest = max(0, with_it - (b + d)), min(with_it, good)
    x = np.arange(max(lowest, a - FAR), min(highest, a + FAR) + 1)
    likely = np.exp(_ways(good, x) + _ways(cases - good, with_it - x) - _ways(cases, np.array(with_it)))
    tails = likely[x >= a].sum(), likely[x <= a].sum()
    return float(min(1.0, 2 * min(tails)))


def beyond(first: Fourfold, second: Fourfold) -> float:
    """Standard errors by which cases with it end well more often, within both parts of the cases taken together.

    >>> whole = Fourfold(*map(np.asarray, (30, 10, 10, 30)))
    >>> nothing = Fourfold(*map(np.asarray, (0, 0, 0, 40)))
    >>> round(beyond(whole, nothing), 2)
    4.44
    """
    more, spread = 0.0, 0.0
    for part in (first, second):
        a, b, c, d = (float(value) for value in part)
        cases = a + b + c + d
        if cases > 1:
            more += a - (a + b) * (a + c) / cases
            spread += (a + b) * (c + d) * (a + c) * (b + d) / (cases * cases * (cases - 1))
    return more / float(np.sqrt(spread)) if spread > 0 else 0.0


def _ways(whole: int, part: Ints) -> Floats:
    """Logarithm of the number of ways to draw a part of a whole."""
    found: Floats = gammaln(whole + 1) - gammaln(part + 1) - gammaln(whole - part + 1)
    return found
