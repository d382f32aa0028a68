"""State orderings: what keeps an encoding from idling in a circle and claiming that it arrives.

Paper, Sect. 5, Eq. 8 and 11 (after Wimmer et al. 2012): ``tau_s + 1 <= sum delta(s,a,s') tau_s'`` for the choice taken
in every state that is not terminal, so that from every state a terminal one is reached.

It is enough to ask this inside the maximal end components, with everything outside at level 0: a strategy that leaves
every end component cannot stay anywhere but in terminal states. There the least level has a bound from the model, the
expected number of steps until a component is left through the exit that is hardest to get to: the tight ``M``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from waypost.graph import end_components
from waypost.model.arrays import Mask
from waypost.paper.encodings.product import TwoCopyProduct
from waypost.paper.encodings.variables import BYPASS, VIA, ProgramVariables


def hold_order_quadratically(variables: ProgramVariables, *, everywhere: bool) -> None:
    """Order the states as QP does: the step is weighted by the probability of the choice.

    *Everywhere* is to the letter, with levels that are any numbers; else the order is kept in end components alone,
    where their depth is known and the levels stay small enough for a solver to tell them apart.
    """
    product, draft = variables.product, variables.draft
    if everywhere:
        component = np.where(product.terminal | product.target, -1, 0)
        level = dict(enumerate(draft.variables(_levels(product), lower=-np.inf)))
    else:
        enabled = np.ones(product.mdp.n_choices, bool)
        component, inner = components(product, enabled)
        level = {}
        for k in range(int(component.max(initial=-1)) + 1):
            members = np.flatnonzero(component == k)
            depth = deepest_level(product, members, inner, enabled)
            named = draft.variables(_levels(product, members), lower=-depth, upper=0.0)
            level.update(zip(members.tolist(), named, strict=True))
    for x in np.flatnonzero(component >= 0).tolist():
        products: list[tuple[int, int, float]] = []
        terms: list[tuple[int, float]] = [(level[x], -1.0)]
        for choice in product.choices(x):
            j = variables.taken.get(choice)
            for y, p in product.successors(choice):
                if everywhere or component[y] == component[x]:
                    if j is None:
                        terms.append((level[y], p))
                    else:
                        products.append((j, level[y], p))
        draft.quadratic(products, terms, lower=1.0)


def _levels(product: TwoCopyProduct, members: NDArray[np.int64] | None = None) -> list[str]:
    """What the levels of some states, or of all, are called."""
    states = range(product.mdp.n_states) if members is None else members.tolist()
    return [f"level of {product.mdp.states[x]}" for x in states]


def hold_order(variables: ProgramVariables, *, big_m: float) -> None:
    """Order the states as LP* does, with a big M that lifts the condition from choices not taken (Eq. 11)."""
    product, draft = variables.product, variables.draft
    level = np.array(draft.variables(_levels(product), lower=-np.inf))
    choices = product.choices_of(np.flatnonzero(~(product.terminal | product.target)).tolist())
    step, number = product.mdp.transitions[choices], np.arange(len(choices))
    taken = variables.of_choice[choices]
    free = np.flatnonzero(taken >= 0)
    row, column, coefficient = (
        np.concatenate(parts)
        for parts in (
            (np.repeat(number, np.diff(step.indptr)), number, free),
            (level[step.indices], level[product.mdp.choice_state[choices]], taken[free]),
            (step.data, np.full(len(choices), -1.0), np.full(len(free), -big_m)),
        )
    )
    lower = np.where(taken >= 0, 1.0 - big_m, 1.0)
    draft.block((row, column, coefficient), lower=lower, upper=np.full(len(choices), np.inf))


def hold_order_in_components(variables: ProgramVariables, enabled: Mask, *, indicator: bool) -> float:
    """Order the states of each end component by tight levels; returns the greatest M used."""
    product, draft = variables.product, variables.draft
    component, inner = components(product, enabled)
    greatest = 0.0
    for k in range(int(component.max(initial=-1)) + 1):
        members = np.flatnonzero(component == k)
        depth = deepest_level(product, members, inner, enabled)
        named = draft.variables(_levels(product, members), lower=-depth, upper=0.0)
        level = dict(zip(members.tolist(), named, strict=True))
        greatest = max(greatest, depth + 1.0)
        for x in members.tolist():
            for choice in (c for c in product.choices(x) if enabled[c]):
                inside = [(level[y], -p) for y, p in product.successors(choice) if y in level]
                _order_one(variables, choice, [(level[x], 1.0), *inside], depth, indicator=indicator)
    return greatest


def _order_one(
    variables: ProgramVariables, choice: int, terms: list[tuple[int, float]], depth: float, *, indicator: bool
) -> None:
    """``sum terms <= -1`` whenever the choice is taken; not taken, the left side is at most `depth`."""
    j = variables.taken.get(choice)
    if j is None:
        variables.draft.row(terms, upper=-1.0)
    elif indicator:
        variables.draft.indicator(j, terms, upper=-1.0)
    else:
        variables.draft.row([*terms, (j, depth + 1.0)], upper=depth)


def components(product: TwoCopyProduct, enabled: Mask) -> tuple[NDArray[np.int64], Mask]:
    """Maximal end components among the states that still can reach the target, and the choices that stay in them."""
    alive = (product.reaches[VIA] | product.reaches[BYPASS]) & ~product.target
    return end_components(product.graph, inside=alive, enabled=enabled)


def deepest_level(product: TwoCopyProduct, members: NDArray[np.int64], inner: Mask, enabled: Mask) -> float:
    """Return a number of steps within which the component can be left through whichever exit one likes, in the mean.

    From every member to every exit state by the quickest strategy inside, then once through the exit; a choice that
    leaves only sometimes is tried until it does.
    """
    choices, inside = product.choices_of(members.tolist()), set(members.tolist())
    leaving: dict[int, list[int]] = {}
    for c in choices[enabled[choices] & ~inner[choices]].tolist():
        leaving.setdefault(int(product.mdp.choice_state[c]), []).append(c)
    deepest = 0.0
    for e, exits in leaving.items():
        steps = float(_quickest(product, members, choices[inner[choices]], e).max())
        back = max(sum(p for y, p in product.successors(c) if y in inside) for c in exits)
        deepest = max(deepest, (steps + 1.0) / (1.0 - back))
    return deepest + 1.0


def _quickest(
    product: TwoCopyProduct, members: NDArray[np.int64], choices: NDArray[np.int64], goal: int
) -> NDArray[np.float64]:
    """(members,) least expected number of steps to `goal` by choices inside an end component: policy iteration."""
    if len(members) == 1:
        return np.zeros(1)
    place = {x: i for i, x in enumerate(members.tolist())}
    owner = np.array([place[x] for x in product.mdp.choice_state[choices].tolist()])
    step = product.mdp.transitions[choices][:, members].toarray()
    away = owner != place[goal]
    step, owner = step[away], owner[away]
    n = len(members)
    # a first strategy that arrives: choices by increasing distance from the goal
    policy = np.full(n, -1)
    near = np.arange(n) == place[goal]
    while not near.all():
        fresh = np.flatnonzero((step @ near > 0) & ~near[owner])
        policy[owner[fresh]] = fresh
        near[owner[fresh]] = True
    others = np.flatnonzero(np.arange(n) != place[goal])
    expected = np.zeros(n)
    while True:
        chain = step[policy[others]][:, others]
        expected[others] = np.linalg.solve(np.eye(len(others)) - chain, np.ones(len(others)))
        cost = 1.0 + step @ expected
        better = cost < expected[owner] * (1 - 1e-12) - 1e-12
        if not better.any():
            return expected
        for c in np.flatnonzero(better).tolist():
            current = policy[owner[c]]
            if cost[c] < cost[current]:
                policy[owner[c]] = c
