"""At most how often each state is passed on the way to the target: a bound for all states at once, in one pass.

The strategies are those that keep to some choices and reach the target with the greatest probability ``v`` there is;
passing ``s`` is worth ``P(F s) v(s) / v(start)``, its importance. Let mass 1 flow from the start through the strong
components, each of which is entered and left at most once. If ``a(e)`` is at least the probability of entering a
component ``C`` at ``e``, whatever the strategy, then for every strategy and every ``s`` in ``C``

    P(F s) v(s) / v(start)  <=  min(1, sum_e a(e) v(e) / v(start))             who passes s has entered C,      (1)
    P(F s)  <=  sum_e a(e) N(e, s) / N(s, s)                if nobody in C has a choice                         (2)

with ``N`` the expected visits: ``N(e, s) = P_e(F s) N(s, s)``. (1) holds because ``v`` is what is won from where one
is: the sum over ``e`` of the probability of entering there, times ``v(e)``, is the probability of entering and winning.
Leaving ``C`` for a state ``y`` has at most the probability

    sum_x sum_e a(e) N(e, x) P(x, y)                        if nobody in C has a choice                         (3)
    cap(C) max_c P(c, y) v(y) / sum_z P(c, z) v(z)  v(start) / v(y)             z outside of C                  (4)

where ``cap(C)`` is the bound (1): whoever enters and wins leaves by one of the choices ``c``, and the share of ``c``
that goes to ``y`` is the fraction in (4). The sums over the components that lead to ``e`` are its ``a(e)``, and so on.
In a Markov chain (2) and (3) are equations. End components are merged first (`waypost.graph.quotient`): wandering in
one costs nothing, so that it offers no choice but that of where to leave it; who passes a state of it enters it.

All numbers are sums, products and quotients of numbers that are not negative: nothing cancels. The relative error is at
most that of one operation times how many there are, some 1e-16 times 1e9 for millions of states, and that of ``v``,
below 1e-9; `MARGIN` is more than both. It is spent once at the end and, where ``v`` is used on the way, in (4).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Components, Mask, strong_components
from waypost.graph.compiled import kernel
from waypost.graph.quotient import Quotient, quotient
from waypost.solve.filling import filled_in, within_components
from waypost.solve.gth import Chain, Fill, blank, eliminate
from waypost.solve.reachability import Reach
from waypost.solve.visits import substitute_left

Floats = NDArray[np.float64]

MARGIN = 1e-6  # relative
MOST_STEPS = 1e10  # of eliminating a component; where it takes more, (1) alone is used


class Flow(NamedTuple):
    """How often states are passed at most."""

    most: Floats  # (S,) at least the importance under every strategy, times ``1 + MARGIN``
    attained: Mask  # (S,) whether some strategy has it: no choice lies before the state, or before its end component
    exact: Mask  # (S,) whether every strategy has it: likewise, and the state is in no end component
    entering: Floats  # (S,) probability of entering the component here, where no choice lies before it; 0 elsewhere
    merged: Quotient  # what flows
    parts: Components  # of that

    @property
    def bound(self) -> Floats:
        """(S,) what no importance is above, rounding and all."""
        return np.minimum(1.0, self.most * (1 + MARGIN))


def most_passed(reach: Reach, start: int, *, enabled: Mask, visited: Mask) -> Flow:
    """Bound the importance of each state under every strategy that keeps to `enabled` choices.

    They are choices that keep the greatest probability of the target. Those of one strategy leave a Markov chain, and
    what is found is its importance.

    >>> from waypost.cases import loan
    >>> mdp = loan()
    >>> reach = Reach.of(mdp, mdp.where("Granted"), exact=False)
    >>> seen = np.ones(10, bool)
    >>> found = most_passed(reach, mdp.initial, enabled=reach.conserving, visited=seen)
    >>> dict(zip(mdp.states, found.bound.round(3).tolist()))["Application"]
    0.95
    """
    value, target = reach.max.values, reach.target
    alive = visited & reach.possible
    usable = enabled & (alive & ~target)[reach.arena.graph.choice_state]
    merged = quotient(reach.arena.graph, inside=alive & ~target, enabled=usable)
    graph, place, wandering, entries = merged
    most = np.zeros(graph.n_states)
    np.maximum.at(most, place, value)
    parts = strong_components(graph)
    inside = np.ones(graph.n_states, bool)
    source, used = within_components(graph, parts, inside=inside, enabled=graph.everything)
    _, order, pointer, later = filled_in(source[used], graph.indices[used], parts.component, inside)
    inflow, found, often = np.zeros(graph.n_states), np.zeros(graph.n_states), np.zeros(graph.n_states)
    inflow[place[start]] = 1.0
    loose = np.zeros(graph.n_states, bool)
    chance = np.ascontiguousarray(reach.arena.data[entries])
    _flow.sized(10.0 * graph.size)(
        graph.first_choice, graph.indptr, graph.indices, chance, parts.pointer, order, pointer, later,
        most, most[place[start]], inflow, found, often, loose,
    )  # fmt: skip
    attained = ~loose[place] & alive
    owner, goal = np.repeat(graph.choice_state, np.diff(graph.indptr)), reach.arena.graph.indices[entries]
    new = attained[goal] & (parts.component[owner] != parts.component[place[goal]])
    entering = np.bincount(goal[new], often[owner[new]] * chance[new], minlength=len(place)).astype(float)
    entering[start] += 1.0
    return Flow(np.where(alive, found[place], 0.0), attained, attained & ~wandering, entering, merged, parts)


@kernel
def _flow(  # type: ignore[no-untyped-def]
    first_choice, indptr, indices, chance, pointer, order, after, later, value, best, inflow, found, often, loose
) -> None:
    """Let the mass flow through the components, from the start on."""
    n = len(value)
    place = np.full(n, -1, np.int64)
    share = np.zeros(n)  # of one choice
    most = np.zeros(n)  # of all choices
    total = np.zeros(n)  # of expected steps
    touched = np.empty(n, np.int64)
    for k in range(len(pointer) - 2, -1, -1):
        block = order[pointer[k] : pointer[k + 1]]
        mass = 0.0
        free = True
        vague = False
        for x in block:
            mass += inflow[x] * value[x] / best
            free &= first_choice[x + 1] - first_choice[x] <= 1
            vague |= loose[x]
        if mass == 0.0:
            continue
        cap = min(1.0, mass * (1.0 + MARGIN))
        for i in range(len(block)):
            place[block[i]] = i
            found[block[i]] = min(1.0, mass)
        visits = inflow[block]
        if free and len(block) > 1:
            pattern = _pattern(pointer[k], pointer[k + 1], after, later)
            free = _visits(block, pattern, first_choice, indptr, indices, chance, place, visits, found, value, best)
        length = 0
        for x in block:  # where one is entered no choice has been made yet
            loose[x] = vague or (len(block) > 1 and not free)
        for i in range(len(block)):
            x = block[i]
            for c in range(first_choice[x], first_choice[x + 1]):
                out = 0.0
                leaving = 0.0
                for e in range(indptr[c], indptr[c + 1]):
                    y = indices[e]
                    if place[y] < 0:
                        out += chance[e] * value[y]
                        leaving += chance[e]
                        share[y] += chance[e]
                if not out > 0.0:
                    out = 1.0
                often[x] = visits[i] / leaving if len(block) == 1 and leaving > 0.0 else visits[i]
                for e in range(indptr[c], indptr[c + 1]):
                    y = indices[e]
                    if place[y] < 0 and share[y] > 0.0:
                        if most[y] == 0.0:
                            touched[length] = y
                            length += 1
                        most[y] = max(most[y], share[y] / out)
                        total[y] += often[x] * share[y]
                        share[y] = 0.0
        for j in range(length):
            y = touched[j]
            entering = cap * most[y] * best * (1.0 + MARGIN)
            inflow[y] += min(entering, total[y]) if free else entering
            loose[y] |= vague or not free
            most[y] = 0.0
            total[y] = 0.0
        for x in block:
            place[x] = -1


@kernel
def _pattern(low, high, after, later) -> Any:  # type: ignore[no-untyped-def]
    """Fill of one component, whose states are cut out in the order in which they stand."""
    n = high - low
    first = after[low]
    pointer = after[low : high + 1] - first
    places = later[first : after[high]] - low
    before = np.zeros(n + 1, np.int64)
    for y in places:
        before[y + 1] += 1
    before = np.cumsum(before)
    earlier = np.empty(len(places), np.int64)
    free = before.copy()
    for i in range(n):
        for e in range(pointer[i], pointer[i + 1]):
            earlier[free[places[e]]] = i
            free[places[e]] += 1
    return Fill(np.arange(n), pointer, places, before, earlier)


@kernel
def _visits(  # type: ignore[no-untyped-def]
    block, pattern, first_choice, indptr, indices, chance, place, visits, found, value, best
) -> bool:
    """Expected visits to the states of a component without a choice, from how it is entered; False if that fails."""
    n = len(block)
    steps = 0.0
    size = 0
    for i in range(n):
        steps += float(pattern.after[i + 1] - pattern.after[i]) ** 2
        c = first_choice[block[i]]
        size += indptr[c + 1] - indptr[c]
    if steps > MOST_STEPS:
        return False
    chain = Chain(np.zeros(n + 1, np.int64), np.empty(size, np.int64), np.empty(size, np.float64))
    leaving = np.zeros(n)
    filled = 0
    for i in range(n):
        c = first_choice[block[i]]
        for e in range(indptr[c], indptr[c + 1]):
            j = place[indices[e]]
            if j < 0:
                leaving[i] += chance[e]
            elif j != i:
                chain.place[filled] = j
                chain.chance[filled] = chance[e]
                filled += 1
        chain.pointer[i + 1] = filled
    factors = blank(pattern, visits)
    if not eliminate(0, n, pattern, chain, leaving, factors):
        return False
    substitute_left(pattern, factors, visits)
    diagonal = _diagonal(pattern, factors)
    for i in range(n):
        x = block[i]
        found[x] = min(found[x], visits[i] / diagonal[i] * value[x] / best)
    return True


@kernel
def _diagonal(pattern, factors) -> Any:  # type: ignore[no-untyped-def]
    """(n,) expected visits to each state from itself, ``N(s, s)``.

    With ``I - Q = L U`` it is ``N = L^-1 + (I - U) N`` and ``N L = U^-1``. From the last state to be cut out to the
    first, every entry of the pattern follows from later ones (Takahashi), those of the diagonal among them.
    """
    n = len(pattern.order)
    entries = len(pattern.later)
    ahead = np.zeros(entries)  # N(i, later)
    back = np.zeros(entries)  # N(later, i)
    passed = np.zeros(entries)  # from the later state to i
    free = pattern.before.copy()
    for i in range(n):
        for e in range(pattern.after[i], pattern.after[i + 1]):
            passed[e] = factors.passed[free[pattern.later[e]]]
            free[pattern.later[e]] += 1
    diagonal = np.zeros(n)
    at = np.full(n, -1, np.int64)
    for i in range(n - 1, -1, -1):
        low = pattern.after[i]
        high = pattern.after[i + 1]
        for e in range(low, high):
            at[pattern.later[e]] = e
        for e in range(low, high):
            f = pattern.later[e]
            ahead[e] += factors.onward[e] * diagonal[f]
            back[e] += diagonal[f] * passed[e]
            for g in range(pattern.after[f], pattern.after[f + 1]):
                h = at[pattern.later[g]]
                if h >= 0:
                    ahead[h] += factors.onward[e] * ahead[g]
                    ahead[e] += factors.onward[h] * back[g]
                    back[e] += ahead[g] * passed[h]
                    back[h] += back[g] * passed[e]
        diagonal[i] = 1.0 / factors.pivot[i]
        for e in range(low, high):
            back[e] /= factors.pivot[i]
            diagonal[i] += factors.onward[e] * back[e]
        for e in range(low, high):
            at[pattern.later[e]] = -1
    return diagonal
