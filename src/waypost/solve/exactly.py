"""What a strategy earns, and whether another earns more, in rationals of any length.

A strategy is evaluated along the components of its own Markov chain, successors first: a single state by one sum, a
small component by elimination, a large one by `lifting`. Fractions grow along the way, and greatest common divisors of
long numbers cost more than everything else; so from some length on, all that remains is computed as whole numbers over
one denominator, which is laid out before: the product of the determinants to come.

That no choice is better is decided in floats wherever they can tell, with a margin for every rounding there is; only
what is nearly equal is computed exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Graph, Ints, Mask, strong_components
from waypost.solve.gth import NO_LIMIT, Chain, Factors, Fill, arrange, blank, eliminate, substitute
from waypost.solve.lifting import LARGEST, IntegerMatrix, lifted
from waypost.solve.policy import STOP, Payoff, Rewards
from waypost.solve.rational import Unreduced, fraction, integer, lowest

LARGE = 48  # states of a component from which lifting is quicker than elimination
LONG = 1_000  # bits of a number from which denominators are shared
_ROUNDING = 1e-14  # relative, and more than all roundings of one advantage together, per successor
_TINY = 1e-280  # absolute: floats below have lost digits


def settle_exactly(rewards: Rewards, earned: Payoff, *, evaluated: bool = False) -> bool:
    """Policy iteration in rationals, everywhere at once, from a strategy; False if it is never left somewhere.

    It is `evaluated` if what it earns is known.
    """
    while True:
        if not evaluated and not Evaluation(rewards, earned).run():
            return False
        if not _improved(rewards, earned):
            return True
        evaluated = False


class Evaluation:
    """What a strategy earns, component by component of its chain; written to `earned`."""

    def __init__(self, rewards: Rewards, earned: Payoff) -> None:
        self.rewards, self.earned = rewards, earned
        self.columns = [earned.gain, earned.loss]
        self.place = np.full(len(rewards.terminal), -1)
        graph = Graph(rewards.first_choice, rewards.indptr, rewards.indices)
        taken = np.zeros(graph.n_choices, bool)
        moving = ~rewards.terminal & (earned.choice >= 0)
        taken[earned.choice[moving]] = True
        parts = strong_components(graph, enabled=taken)
        blocks = (parts.members[low:high] for low, high in zip(parts.pointer[:-1], parts.pointer[1:], strict=True))
        self.blocks = [block for block in blocks if not rewards.terminal[block[0]]]

    def run(self) -> bool:
        """Evaluate; False if a component is never left."""
        if not all(self._left(block) for block in self.blocks):
            return False
        for k, block in enumerate(self.blocks):
            if self._is_long(block):
                _Shared(self, self.blocks[k:]).run()
                return True
            if len(block) == 1:
                row = self.row(block[0])
                for column in self.columns:
                    column[block[0]] = sum((p * column[y] for y, p in row), self.rewards.zero)
            else:
                _Shared(self, [block]).run()
                for column in self.columns:
                    for x in block.tolist():
                        if length(column[x]) < 4 * LONG:
                            column[x] = lowest(column[x])
        return True

    def row(self, x: int) -> list[tuple[int, Any]]:
        """Where the strategy leads, with probabilities."""
        c = self.earned.choice[x]
        if c < 0:
            return []
        entries = slice(self.rewards.indptr[c], self.rewards.indptr[c + 1])
        pairs = zip(self.rewards.indices[entries].tolist(), self.rewards.data[entries], strict=True)
        return [(y, p) for y, p in pairs if y != x]

    def _left(self, block: Ints) -> bool:
        """Whether a strategy stops in a component or leads out of it."""
        inside = set(block.tolist())
        return any(self.earned.choice[x] < 0 or any(y not in inside for y, _ in self.row(x)) for x in inside)

    def _is_long(self, block: Ints) -> bool:
        """Whether a component leads to long numbers."""
        around = {y for x in block.tolist() for y, _ in self.row(x)} - set(block.tolist())
        return any(length(column[y]) > LONG for y in around for column in self.columns)


class _Shared:
    """Components evaluated in whole numbers over one denominator."""

    def __init__(self, evaluation: Evaluation, blocks: list[Ints]) -> None:
        self.whole = evaluation
        self.blocks = blocks
        self.denominator = integer(1)
        self.numerators: list[dict[int, Any]] = [{} for _ in evaluation.columns]

    def run(self) -> None:
        """Evaluate the components in turn."""
        parts = [_Part(self.whole, block) for block in self.blocks]
        inside = {x for part in parts for x in part.states}
        around = {y for part in parts for row in part.outside for y, _ in row} - inside
        known = [column[y] for column in self.whole.columns for y in around]
        self.denominator = common_denominator(known) * product(part.determinant for part in parts)
        scale: dict[int, Any] = {}
        for numerators, column in zip(self.numerators, self.whole.columns, strict=True):
            for y in around:
                below = column[y].denominator
                if id(below) not in scale or scale[id(below)][0] is not below:
                    scale[id(below)] = (below, self.denominator // below)
                numerators[y] = column[y].numerator * scale[id(below)][1]
        for k, part in enumerate(parts):
            if part.lifted:
                found, denominator = part.lift(self.numerators, product(later.determinant for later in parts[k + 1 :]))
            else:
                found, denominator = part.solve(self.numerators), 1
            if denominator != 1:  # which nobody could tell before
                self.denominator *= denominator
                for numerators in self.numerators:
                    for y in numerators:
                        numerators[y] *= denominator
            for numerators, solution in zip(self.numerators, found, strict=True):
                numerators.update(zip(part.states, solution, strict=True))
        for numerators, column in zip(self.numerators, self.whole.columns, strict=True):
            for x in inside:
                column[x] = Unreduced(numerators[x], self.denominator)


class _Part:
    """One component of a chain, its states in the order of elimination; numbers in the rows are whole."""

    def __init__(self, whole: Evaluation, block: Ints) -> None:
        n = len(block)
        place = whole.place
        place[block] = np.arange(n)
        rows = [whole.row(x) for x in block.tolist()]
        if n > 1:
            source = np.repeat(np.arange(n), [len(row) for row in rows])
            goal = place[[y for row in rows for y, _ in row]]
            within = goal >= 0
            self.pattern: Fill = arrange.sized(100 * n)(n, source[within], goal[within], NO_LIMIT)[1]
            block = block[self.pattern.order]
            place[block] = np.arange(n)
            rows = [rows[i] for i in self.pattern.order]
        self.states: list[int] = block.tolist()
        self.stops = [whole.earned.choice[x] < 0 for x in self.states]
        self.unit = [_least_common(p.denominator for _, p in row) for row in rows]
        self.inside, self.outside = (
            [
                [(y, p.numerator * (u // p.denominator)) for y, p in row if (place[y] >= 0) == within and p > 0]
                for row, u in zip(rows, self.unit, strict=True)
            ]
            for within in (True, False)
        )
        self.place = {x: i for i, x in enumerate(self.states)}
        self.rows = rows
        place[block] = -1
        largest = max(self.unit)
        self.lifted = n >= LARGE and 2 * largest < LARGEST
        self.determinant = integer(1)
        if n == 1:
            self.determinant = integer(self.unit[0])
        elif not self.lifted:
            self.factors = self._factors(whole.rewards.data)
            found = prod(self.factors.pivot, start=fraction(product(self.unit), 1))
            self.determinant = found.numerator

    def solve(self, known: list[dict[int, Any]]) -> list[list[Any]]:
        """Columns of numerators, over the same denominator."""
        given = self._given(known)
        if len(self.states) == 1:
            return [[_divided(column[0], self.unit[0])] for column in given]
        columns = np.array(
            [[fraction(column[i], u) for column in given] for i, u in enumerate(self.unit)], object
        )  # fmt: skip
        substitute(0, len(self.states), self.pattern, self.factors, columns)
        return [[_divided(x.numerator, x.denominator) for x in column] for column in columns.T]

    def lift(self, known: list[dict[int, Any]], reserve: Any) -> tuple[list[list[Any]], Any]:
        """Columns of numerators, and what comes to their denominator; some of that is for others and stays."""
        pointer = np.cumsum([0, *(len(row) + 1 for row in self.inside)])
        place, entry = [], []
        for i, (row, u) in enumerate(zip(self.inside, self.unit, strict=True)):
            place += [i, *(self.place[y] for y, _ in row)]
            entry += [int(u), *(-int(a) for _, a in row)]
        given = [[_divided(x, reserve) for x in column] for column in self._given(known)]
        found, denominator = lifted(
            IntegerMatrix(pointer, np.array(place), np.array(entry, np.int64)), self.pattern, given
        )  # fmt: skip
        return [[x * reserve for x in column] for column in found], denominator

    def _given(self, known: list[dict[int, Any]]) -> list[list[Any]]:
        """Right-hand sides: what is earned on leaving."""
        return [[sum((a * numerators[y] for y, a in row), integer(0)) for row in self.outside] for numerators in known]

    def _factors(self, like: NDArray[Any]) -> Factors:
        """Factors in fractions."""
        one = fraction(1, 1)
        place = [self.place[y] for row in self.inside for y, _ in row]
        chance = [fraction(a, u) for row, u in zip(self.inside, self.unit, strict=True) for _, a in row]
        leaving = np.empty(len(self.states), object)
        for i, (row, u) in enumerate(zip(self.outside, self.unit, strict=True)):
            leaving[i] = one if self.stops[i] else fraction(sum((a for _, a in row), integer(0)), u)
        chain = Chain(
            np.cumsum([0, *map(len, self.inside)]), np.array(place, np.int64), np.array(chance, object)
        )  # fmt: skip
        factors: Factors = blank(self.pattern, like)
        if not eliminate(0, len(self.states), self.pattern, chain, leaving, factors):
            raise ZeroDivisionError("a part of this system is never left")  # pragma: no cover - seen to before
        return factors


def _improved(rewards: Rewards, earned: Payoff) -> bool:
    """Switch to a better choice wherever there is one; tell whether any was."""
    up, down = _ratio_of_weights(rewards)
    doubtful, estimate, stopping = _not_clearly_worse(rewards, earned)
    switched = False
    for x in np.flatnonzero(stopping).tolist():
        if _sign([(up, earned.gain[x]), (-down, earned.loss[x])]) < 0:
            earned.choice[x] = STOP
            switched = True
    owner = np.repeat(np.arange(len(rewards.terminal)), np.diff(rewards.first_choice))
    candidates = np.flatnonzero(doubtful)
    candidates = candidates[np.lexsort((-estimate[candidates], owner[candidates]))]
    done = -1
    for c in candidates.tolist():
        x = int(owner[c])
        if x == done:
            continue
        terms = _advantage(rewards, c, x)
        if _sign([(up * p, earned.gain[y]) for p, y in terms] + [(-down * p, earned.loss[y]) for p, y in terms]) > 0:
            earned.choice[x] = c
            switched, done = True, x
    return switched


def keeping(rewards: Rewards, value: NDArray[Any], taken: Ints) -> Mask:
    """(C,) choices that lose nothing of a value which those `taken` keep and none exceeds."""
    earned = Payoff(value, np.full(len(value), rewards.zero, object), taken)
    kept, _, _ = _not_clearly_worse(rewards, earned)
    owner = np.repeat(np.arange(len(rewards.terminal)), np.diff(rewards.first_choice))
    for c in np.flatnonzero(kept).tolist():
        kept[c] = _sign([(p, value[y]) for p, y in _advantage(rewards, c, int(owner[c]))]) == 0
    kept[taken[taken >= 0]] = True
    return kept


def _not_clearly_worse(rewards: Rewards, earned: Payoff) -> tuple[Mask, NDArray[np.float64], Mask]:
    """(C,) choices, other than those taken, that may be better, (C,) by how much, and (S,) where stopping may be.

    Floats are off by less than the margins: every number in them was rounded once, and some additions were.
    """
    inside = ~rewards.terminal
    sizes = np.diff(rewards.indptr)
    owner = np.repeat(np.arange(len(inside)), np.diff(rewards.first_choice))
    own = np.repeat(owner, sizes)
    rows = rewards.enabled & inside[owner]
    seen = inside.copy()
    seen[rewards.indices[np.repeat(rows, sizes)]] = True
    up = float(rewards.gain_weight) * _floats(earned.gain, seen)
    down = float(rewards.loss_weight) * _floats(earned.loss, seen)
    worth, stake = up - down, up + down
    data = rewards.data.astype(float)
    starts = rewards.indptr[:-1]
    better = np.add.reduceat(data * (worth[rewards.indices] - worth[own]), starts)
    size = np.add.reduceat(data * (stake[rewards.indices] + stake[own]), starts)
    rows[earned.choice[inside & (earned.choice >= 0)]] = False
    doubtful = rows & ~(better < -_ROUNDING * (sizes + 4) * size - _TINY)  # what is no number is doubtful
    stopping = inside & rewards.may_stop & (earned.choice >= 0) & ~(worth > 4 * _ROUNDING * stake + _TINY)
    return doubtful, better, stopping


def _floats(values: NDArray[Any], seen: Mask) -> NDArray[np.float64]:
    found = np.zeros(len(values))
    found[seen] = values[seen].astype(float)
    return found


def _advantage(rewards: Rewards, c: int, x: int) -> list[tuple[Any, int]]:
    """``sum_y P(c, y) (v(y) - v(x))`` as factors of values."""
    entries = range(rewards.indptr[c], rewards.indptr[c + 1])
    terms = [(rewards.data[e], int(rewards.indices[e])) for e in entries if rewards.indices[e] != x]
    return [*terms, (-sum((p for p, _ in terms), rewards.zero), x)]


def _sign(terms: Iterable[tuple[Any, Any]]) -> int:
    """Sign of a sum of products with values, most of which share their denominators."""
    sums: dict[int, Any] = {}
    below: dict[int, Any] = {}
    total, denominator = fraction(0, 1), integer(1)
    for factor, value in terms:
        if isinstance(value, Unreduced):
            key = id(value.denominator)
            below[key] = value.denominator
            sums[key] = sums.get(key, 0) + factor * value.numerator
        elif factor and value:
            total = total + factor * value
    for key, some in sums.items():
        total, denominator = total * below[key] + some * denominator, denominator * below[key]
    return int(total > 0) - int(total < 0)


def _ratio_of_weights(rewards: Rewards) -> tuple[Any, Any]:
    """Weights of gain and loss, times something positive, as short as may be."""
    up, down = lowest(rewards.gain_weight), lowest(rewards.loss_weight)
    if up.denominator == down.denominator:
        return up.numerator, down.numerator
    return up.numerator * down.denominator, down.numerator * up.denominator


def common_denominator(values: Iterable[Any]) -> Any:
    """A whole number by which all of some rationals become whole."""
    different = {id(below): below for below in [value.denominator for value in values]}
    return _least_common(different.values())


def _least_common(numbers: Iterable[Any]) -> Any:
    found = integer(1)
    for number in numbers:
        if found % number:
            found = found * fraction(found, number).denominator
    return found


def _divided(number: Any, divisor: Any) -> Any:
    """Quotient of whole numbers that is one."""
    found, rest = divmod(number, divisor)
    if rest:  # pragma: no cover - the denominator was laid out for this
        raise ArithmeticError("a common denominator is none")
    return found


def product(numbers: Iterable[Any]) -> Any:
    """Product of whole numbers, halves first: long ones meet long ones only."""
    found = [integer(number) for number in numbers] or [integer(1)]
    while len(found) > 1:
        found = [a * b for a, b in zip(found[::2], found[1::2], strict=False)] + found[len(found) & ~1 :]
    return found[0]


def length(number: Any) -> int:
    """Bits of a rational."""
    return max(int(part.bit_length()) for part in (number.numerator, number.denominator))
