"""What the names of a pattern mean in a model, and the letters that its steps spell.

A letter is the set of named steps that a step of the model fits; only those that occur get a number, so an automaton
never has more letters than the model has kinds of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from waypost.errors import NameUnknownError, PatternError, unknown_name
from waypost.model import FINAL, MDP, SILENT, Automaton, Letters
from waypost.model.arrays import Mask
from waypost.model.traces import ENVIRONMENT
from waypost.patterns.language import automaton_of
from waypost.patterns.tree import Pattern, Step

By = Literal["state", "activity"]
NEARLY_ALL = 0.9  # of the states
UNTELLING = ("init", "deadlock")  # labels that tools add


def silent_states(mdp: MDP, by: By) -> Mask:
    """(S,) states that are no steps of their own.

    By activity, these are the states in which a model that was learned from a log has only decided who moves next:
    every choice that leads there is called ``env``. By state there are none, nor in a model in which nobody chooses:
    there every step is called so.

    >>> steps = {"start": {"env": "ask"}, "ask": {"env": "pay"}, "pay": {}}
    >>> silent_states(MDP.from_dict(steps, initial="start"), "activity").any()
    np.False_
    """
    if by == "state":
        return np.zeros(mdp.n_states, bool)
    if set(mdp.actions) <= {ENVIRONMENT, FINAL}:
        return np.zeros(mdp.n_states, bool)
    named = np.array([action == ENVIRONMENT for action in mdp.actions])
    entry = np.repeat(np.arange(mdp.n_choices), np.diff(mdp.transitions.indptr))
    moved = mdp.transitions.indices != mdp.choice_state[entry]
    by_chance, otherwise = (
        np.bincount(mdp.transitions.indices[moved & kind[entry]], minlength=mdp.n_states) > 0
        for kind in (named, ~named)
    )
    silent = by_chance & ~otherwise
    silent[mdp.initial] = False
    return np.asarray(silent)


def natural(mdp: MDP) -> By:
    """How a person reads the runs of a model: by activity if it comes from a log, or labels name nearly all states.

    >>> from waypost.cases import loan
    >>> natural(loan())
    'state'
    """
    if silent_states(mdp, "activity").any():
        return "activity"
    named = np.zeros(mdp.n_states, bool)
    for label, holds in mdp.labels.items():
        if label not in UNTELLING:
            named |= holds
    return "activity" if named.mean() > NEARLY_ALL else "state"


def activities(mdp: MDP, by: By) -> Sequence[str]:
    """(S,) what a person calls being in each state: its name, or by activity its first label if it has one."""
    if by == "state":
        return mdp.states
    found = list(mdp.states)
    for label, holds in reversed([item for item in mdp.labels.items() if item[0] not in UNTELLING]):
        for s in np.flatnonzero(holds).tolist():
            found[s] = label
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Meaning:
    """The steps of a model that a named step fits."""

    states: Mask  # (S,) on entering; false where an action is asked for
    choices: Mask  # (C,)
    by_action: bool


def meaning(mdp: MDP, test: Step) -> Meaning:
    """States with that name or label, or where an action is asked for, choices.

    A name that is no label, no state and no expression is taken for an action.
    """
    actions = np.array(mdp.actions, object)
    name, action = test.name, test.action
    if name is not None and action is None:
        try:
            states = mdp.where(name)
        except NameUnknownError:
            if name not in mdp.actions:
                known = dict.fromkeys([*mdp.labels, *mdp.actions, *islice(mdp.states, 20_000)])
                raise unknown_name("step", name, known) from None
            return meaning(mdp, Step(None, name))
        return Meaning(states, states[mdp.choice_state], by_action=False)
    taken = np.asarray(actions == action, bool)
    if not taken.any():
        raise unknown_name("action", str(action), dict.fromkeys(mdp.actions))
    if name is not None:
        taken &= mdp.where(name)[mdp.choice_state]
        if not taken.any():
            raise PatternError(f"action {action!r} is taken in no state {name!r}, so {str(test)!r} cannot happen")
    return Meaning(np.zeros(mdp.n_states, bool), taken, by_action=True)


def spelled(mdp: MDP, pattern: Pattern, target: Mask, by: By) -> tuple[Automaton, Letters]:
    """Minimal automaton of a pattern, and the letter of every step of the model."""
    tests = list(dict.fromkeys(pattern.tests()))
    meanings = [meaning(mdp, test) for test in tests]
    silent = silent_states(mdp, by)
    by_action = any(found.by_action for found in meanings)
    states = np.array([found.states for found in meanings], bool).reshape(len(tests), mdp.n_states).T
    read = ~silent
    if not by_action:
        kinds, letter = _kinds(states, read)
        letters = Letters(letter)
    else:
        choices = np.array([found.choices for found in meanings], bool).T
        kinds, letter = _kinds(
            np.concatenate([states, choices]),
            np.concatenate([read & target, (read & ~target)[mdp.choice_state]]),
        )
        letters = Letters(letter[: mdp.n_states], letter[mdp.n_states :])

    def letters_of(test: Step) -> frozenset[int]:
        return frozenset(np.flatnonzero(kinds[:, tests.index(test)]).tolist())

    return automaton_of(pattern, letters_of, len(kinds)), letters


def _kinds(fits: Mask, read: Mask) -> tuple[Mask, NDArray[np.int64]]:
    """Distinct rows among those that are read, and the number of each row's kind, or SILENT."""
    rows = fits[read]
    kinds, number = np.unique(rows, axis=0, return_inverse=True) if rows.shape[1] else (rows[:1], np.zeros(len(rows)))
    letter = np.full(len(fits), SILENT)
    letter[read] = number.reshape(-1)
    return kinds, letter
