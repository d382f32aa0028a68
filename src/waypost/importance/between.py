"""Scores between the bounds: every value in the interval has a strategy.

Play the lower witness with probability ``1 - q`` and the upper with ``q``, one toss at the start. With ``b`` the
probability of the target under each and ``l``, ``u`` the importance under each, the importance of the mixture is::

    x = (q u b_u + (1 - q) l b_l) / (q b_u + (1 - q) b_l)        q = b_l (x - l) / (b_l (x - l) + b_u (u - x))

Without normalisation the value is linear in ``q``, as if ``b`` were 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from waypost.errors import ArgumentError
from waypost.importance.passing import SIDES, Side
from waypost.importance.question import Question, plain
from waypost.model import Strategy


def attaining(
    question: Question,
    bounds: tuple[Any, Any],
    find: Callable[[Side], Strategy],
    side: Side | None,
    value: Any,
    *,
    absolute: bool = False,
) -> Strategy:
    """Strategy in scope that attains one of the `bounds`, whose witness is found by `side`, or a `value` between them.

    The mixture attains the value exactly in rationals, and up to rounding in floats.
    """
    if (side is None) == (value is None):
        raise ArgumentError("say which bound the witness attains, 'lower' or 'upper', or value=x between the bounds")
    if side is not None:
        if side not in SIDES:
            raise ArgumentError(f"a bound is 'lower' or 'upper', not {side!r}")
        return find(side)
    lower, upper = bounds
    wanted = _number(value, exact=question.exact)
    if not lower <= wanted <= upper:
        raise ArgumentError(f"value {value} is not between the bounds {lower} and {upper}")
    if wanted in {lower, upper}:
        return find("lower" if wanted == lower else "upper")
    least, most = find("lower"), find("upper")
    reached = (1, 1) if absolute else tuple(plain(question.within(each).best) for each in (least, most))
    weight = reached[0] * (wanted - lower), reached[1] * (upper - wanted)
    return Strategy.mixed(least, most, weight[0] / (weight[0] + weight[1]))


def _number(value: Any, *, exact: bool) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not math.isfinite(value):
        raise ArgumentError(f"value is a number between the bounds, not {value!r}")
    return Fraction(str(value)) if exact else float(value)
