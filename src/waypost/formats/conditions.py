"""Conditional reachability in either order, as importance: what comes after the condition is decided in advance.

``Pmax=? [ F a || F b ]`` also counts runs that meet ``b`` first and ``a`` afterwards. From a state of ``b`` on the
condition is met, so the best that can be done for ``a`` is its greatest probability there (for ``Pmin`` the least).
Such a state may as well lead to one of two ends, *then* with that probability and *never* with the rest; both are
reached under the condition, and the question is how often ``a`` or *then* is passed on the way to them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np

from waypost.model import MDP
from waypost.model.arrays import Mask
from waypost.solve import reachability

THEN, NEVER = "(then)", "(never)"


def in_either_order(
    mdp: MDP, wanted: Mask, given: Mask, optimum: Literal["max", "min"], *, names: tuple[str, str]
) -> MDP:
    """Model in which the condition ends a run; `names` are the labels of what is wanted, and of the condition.

    >>> mdp = MDP.from_dict({"a": {"go": {"b": 0.5, "d": 0.5}}, "b": {"go": {"c": 0.25, "d": 0.75}}, "c": {}, "d": {}},
    ...     initial="a")
    >>> found = in_either_order(mdp, mdp.where("c"), mdp.where("b"), "max", names=("c!", "b!"))
    >>> [found.states[s] for s in np.flatnonzero(found.labels["b!"])]
    ['(then)', '(never)']
    """
    exact = mdp.exact is not None
    marked = mdp.with_labels({"wanted": wanted})
    later = reachability(marked, target="wanted", optimum=optimum, exact=exact)
    cut = given & ~wanted
    kept = ~cut[mdp.choice_state]
    kept[mdp.first_choice[:-1][cut]] = True  # one choice of each, to be its end
    left = mdp.restricted(kept)
    n, matrix = mdp.n_states, left.transitions
    entry = np.repeat(np.arange(left.n_choices), np.diff(matrix.indptr))
    stays = ~cut[left.choice_state[entry]]
    rows, states = left.first_choice[:-1][cut], np.flatnonzero(cut)
    chance: list[Any] = [later[s] for s in states]
    numbers = [*(left.exact if left.exact is not None else matrix.data)[stays], *chance, *(1 - p for p in chance)]
    labels = {name: np.concatenate([holds, [False, False]]) for name, holds in mdp.labels.items()}
    labels[names[0]] = np.concatenate([wanted, [True, False]])
    labels[names[1]] = np.concatenate([given & wanted, [True, True]])
    return MDP.from_triplets(
        np.concatenate([entry[stays], rows, rows]),
        np.concatenate([matrix.indices[stays], np.full(len(rows), n), np.full(len(rows), n + 1)]),
        [float(p) for p in numbers],
        first_choice=np.concatenate([left.first_choice, [left.n_choices] * 2]),
        states=[*mdp.states, THEN, NEVER],
        actions=left.actions,
        initial=mdp.initial,
        labels=labels,
        exact=[Fraction(p) for p in numbers] if exact else None,
        definitions=mdp.definitions,
    )
