"""Where a run begins, for models that leave it open: one of several initial states, or a state of the user's."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from waypost.errors import FormatError
from waypost.formats.registry import ReadingNote
from waypost.model import MDP, StateNames, Variable

START = "start"
NAMED = 3  # states that a message names


def begun(mdp: MDP, initials: Sequence[int], *, initial: str | None = None, name: str = "the model") -> MDP:
    """Model that begins in `initial`, in its one initial state, or in a new state ``start`` that leads to each of them.

    >>> mdp = MDP.from_dict({"a": {}, "b": {}}, initial="a")
    >>> begun(mdp, [0, 1], initial="b")
    MDP(states=2, choices=2, transitions=2, initial='b')
    """
    if initial is not None:
        return beginning_in(mdp, initial, initials)
    if len(initials) == 1:
        return mdp if mdp.initial == initials[0] else replace(mdp, initial=int(initials[0]))
    if not len(initials):
        raise FormatError(f"{name} has no initial state; choose one with --initial (initial=)")
    warnings.warn(
        f"{name} has {len(initials)} initial states, so a state {START!r} is added that may choose any of them; "
        "choose one with --initial (initial=)",
        ReadingNote,
        stacklevel=2,
    )
    return _with_start(mdp, initials)


def beginning_in(mdp: MDP, initial: str, initials: Sequence[int] = ()) -> MDP:
    """Model that begins in the one state that `initial` means, or in the one of several `initials`.

    It is a name, a label or an expression.

    >>> mdp = MDP.from_dict({"x=0, y=0": {"go": "x=1, y=1"}, "x=1, y=0": {}, "x=1, y=1": {}}, initial="x=0, y=0")
    >>> beginning_in(mdp, "x=1", [0, 1]).initial
    1
    >>> beginning_in(mdp, "x=1")
    Traceback (most recent call last):
    ...
    waypost.errors.FormatError: 'x=1' means 2 states, and a run begins in exactly one; say which: 'x=1, y=0' or ...
    """
    found = np.flatnonzero(mdp.where(initial))
    if len(found) != 1 and len(among := np.intersect1d(found, initials)) == 1:
        found = among
    if len(found) != 1:
        names = " or ".join(repr(mdp.states[s]) for s in found[:NAMED]) + (" or ..." if len(found) > NAMED else "")
        raise FormatError(f"{initial!r} means {len(found)} states, and a run begins in exactly one; say which: {names}")
    return replace(mdp, initial=int(found[0]))


def _with_start(mdp: MDP, initials: Sequence[int]) -> MDP:
    n, extra = mdp.n_states, len(initials)
    start = START
    while mdp.find(start) is not None:
        start += "_"
    matrix = mdp.transitions
    valuations = None if mdp.valuations is None else {x: _longer(v) for x, v in mdp.valuations.items()}
    states: StateNames | tuple[str, ...]
    if isinstance(mdp.states, StateNames) and valuations is not None:
        states = StateNames(valuations, mdp.states.shown, unnamed=start)
    else:
        states = (*mdp.states, start)
    return MDP.from_triplets(
        np.concatenate([np.repeat(np.arange(mdp.n_choices), np.diff(matrix.indptr)), mdp.n_choices + np.arange(extra)]),
        np.concatenate([matrix.indices, initials]),
        np.concatenate([matrix.data, np.ones(extra)]),
        first_choice=np.append(mdp.first_choice, mdp.n_choices + extra),
        states=states,
        actions=[*mdp.actions, *(mdp.states[s] for s in initials)],
        initial=n,
        labels={label: np.append(mask, False) for label, mask in mdp.labels.items()},
        exact=None if mdp.exact is None else [*mdp.exact, *[Fraction(1)] * extra],
        counts=None if mdp.counts is None else np.append(mdp.counts, np.zeros(extra, np.int64)),
        valuations=valuations,
        definitions=mdp.definitions,
    )


def _longer(variable: Variable) -> Variable:
    """Column with one state more, which has no value."""
    values = np.append(variable.values, np.zeros(1, variable.values.dtype))
    return Variable.of(values, np.append(variable.defined, False), variable.words)
