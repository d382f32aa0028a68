"""A model that counts its steps, so that "within n steps" is plain reachability.

The product of an MDP with a counter: state ``(s, t)`` is state ``s`` after ``t`` steps, and after ``n`` of them a run
ends. Final states do not count on.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from waypost.errors import ModelError
from waypost.model.checking import FINAL, frozen
from waypost.model.mdp import MDP
from waypost.model.names import some_of
from waypost.model.strategy import Strategy
from waypost.model.valuations import StateNames, Variable

LARGEST = 20_000_000  # states of a product
STEP = "step"


def within(mdp: MDP, steps: int) -> MDP:
    """Model whose runs end after `steps` steps; only what can be reached in time.

    ``P(reach T within n steps)`` of the model is ``P(reach T)`` of this one. Make `T` absorbing before, if what
    comes behind it does not matter: the product is smaller then.

    >>> mdp = MDP.from_dict({"a": {"try": {"b": 0.5, "a": 0.5}}, "b": {}}, initial="a", labels={"won": ["b"]})
    >>> counted = within(mdp, 2)
    >>> counted.states, counted.labels["won"].tolist()
    (('a, step=0', 'a, step=1', 'b, step=1', 'a, step=2', 'b, step=2'), [False, False, True, False, True])
    """
    return _product(mdp, steps).mdp


def in_time(strategy: Strategy, steps: int) -> Strategy:
    """The same strategy in the model that counts its steps: it does not look at the clock.

    >>> mdp = MDP.from_dict({"a": {"try": {"b": 0.5, "a": 0.5}, "wait": "a"}, "b": {}}, initial="a")
    >>> in_time(Strategy.uniform(mdp), 1).to_dict()
    {'a, step=0': {'try': 0.5, 'wait': 0.5}, 'a, step=1': {'(final)': 1.0}, 'b, step=1': {'(final)': 1.0}}
    """
    product = _product(strategy.mdp, steps)
    modes = tuple(frozen(np.where(product.stays, 1.0, mode[product.choice])) for mode in strategy.modes)
    update = frozen(strategy.update[:, product.state])
    return Strategy(product.mdp, modes, update, strategy.start, strategy.toss)


@dataclass(frozen=True, eq=False)
class _Product:
    mdp: MDP
    state: NDArray[np.int64]  # the model's state, by state of the product
    choice: NDArray[np.int64]  # the model's choice, by choice of the product
    stays: NDArray[np.bool_]  # choices of states in which a run has ended


def _product(mdp: MDP, steps: int) -> _Product:
    """The model times a counter."""
    if steps < 0:
        raise ModelError(f"a run cannot end after {steps} steps")
    layers = _layers(mdp, steps)
    bounds = np.concatenate([[0], np.cumsum([len(layer) for layer in layers])])
    origin = np.concatenate(layers)
    step = np.repeat(np.arange(len(layers)), np.diff(bounds))
    ends = mdp.is_final[origin] | (step == steps)
    owned = np.where(ends, 1, np.diff(mdp.first_choice)[origin])
    first = np.concatenate([[0], np.cumsum(owned)])
    owner = np.repeat(np.arange(len(origin)), owned)
    base = mdp.first_choice[:-1][origin[owner]] + np.arange(len(owner)) - first[owner]  # choice of the model
    matrix = mdp.transitions
    sizes = np.where(ends[owner], 1, np.diff(matrix.indptr)[base])
    row = np.repeat(np.arange(len(owner)), sizes)
    entry = matrix.indptr[base[row]] + np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    stays = ends[owner[row]]
    successor = np.where(stays, owner[row], -1)
    for t, (low, high) in enumerate(pairwise(bounds.tolist())):
        part = slice(*np.searchsorted(owner[row], [low, high]))
        moving = ~stays[part]
        if moving.any():
            to = matrix.indices[entry[part][moving]]
            successor[part][moving] = bounds[t + 1] + np.searchsorted(layers[t + 1], to)
    valuations, states = _named(mdp, origin, step)
    counted = MDP.from_triplets(
        row,
        successor,
        np.where(stays, 1.0, matrix.data[entry]),
        first_choice=first,
        states=states,
        actions=[
            FINAL if end else name for name, end in zip(some_of(mdp.actions, base), ends[owner].tolist(), strict=True)
        ],
        initial=0,
        labels={label: mask[origin] for label, mask in mdp.labels.items()},
        exact=None if mdp.exact is None else np.where(stays, mdp.exact[:1] * 0 + 1, mdp.exact[entry]).tolist(),
        valuations=valuations,
        definitions=mdp.definitions,
    )
    return _Product(counted, origin, base, ends[owner])


def _layers(mdp: MDP, steps: int) -> list[NDArray[np.int64]]:
    """States that can be entered after 0, 1, 2, ... steps, each sorted."""
    layers = [np.array([mdp.initial])]
    total = 1
    for step in range(1, steps + 1):
        moving = layers[-1][~mdp.is_final[layers[-1]]]
        if not len(moving):
            break
        seen = np.zeros(mdp.n_states, bool)
        low = mdp.transitions.indptr[mdp.first_choice[moving]]
        high = mdp.transitions.indptr[mdp.first_choice[moving + 1]]
        sizes = high - low
        entries = np.repeat(low - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
        seen[mdp.transitions.indices[entries]] = True
        layers.append(np.flatnonzero(seen))
        total += len(layers[-1])
        ahead = steps - step if step > mdp.n_states else 0  # a run that long has gone in a circle, and may for ever
        if total + ahead > LARGEST:
            raise ModelError(f"counting {steps} steps needs more than {LARGEST:,} states; ask for fewer steps")
    return layers


def _named(
    mdp: MDP, origin: NDArray[np.int64], step: NDArray[np.int64]
) -> tuple[dict[str, Variable] | None, StateNames | list[str]]:
    """Columns and names of the product."""
    counter = STEP
    while counter in mdp.variables:
        counter += "_"
    if isinstance(mdp.states, StateNames):
        columns = {
            x: Variable.of(v.values[origin], v.defined[origin], v.words) for x, v in mdp.states.variables.items()
        }
        columns[counter] = Variable.of(step)
        return columns, StateNames(columns, [*mdp.states.shown, counter])
    names = [f"{mdp.states[s]}, {counter}={t}" for s, t in zip(origin.tolist(), step.tolist(), strict=True)]
    columns = {x: Variable.of(v.values[origin], v.defined[origin], v.words) for x, v in mdp.variables.items()}
    return {**columns, counter: Variable.of(step)}, names
