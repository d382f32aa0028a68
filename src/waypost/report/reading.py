"""How an explanation is read: what kind of step each state is, and which states come first."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.importance.results import Bounds, Explanation, Number
from waypost.model import MDP

IMPORTANT = 0.5  # a lower bound from here on: most runs that succeed pass the state, whatever is done
MARGINAL = 0.05  # an upper bound up to here: few runs that succeed pass the state, whatever is done


class Kind(Enum):
    """What kind of step a state is, from its bounds."""

    START = "start"  # where every run begins
    TARGET = "target"  # where every successful run ends
    INDISPENSABLE = "indispensable"  # lower bound 1
    IMPORTANT = "important"  # lower bound at least `IMPORTANT`
    OPTIONAL = "optional"  # anything else: it depends on the choices
    MARGINAL = "marginal"  # upper bound at most `MARGINAL`
    DETRIMENTAL = "detrimental"  # upper bound 0


def kind_of(bounds: Bounds) -> Kind:
    """Kind of a state that is neither start nor target.

    >>> [kind_of(Bounds(*b)).value for b in ((1, 1), (0.7, 1), (0, 1), (0, 0.01), (0, 0))]
    ['indispensable', 'important', 'optional', 'marginal', 'detrimental']
    """
    if bounds.lower == 1:
        return Kind.INDISPENSABLE
    if bounds.upper == 0:
        return Kind.DETRIMENTAL
    if bounds.lower >= IMPORTANT:
        return Kind.IMPORTANT
    if bounds.upper <= MARGINAL:
        return Kind.MARGINAL
    return Kind.OPTIONAL


def main_scope(explanation: Explanation) -> str:
    """Scope that decides the kinds: the first one asked for, "all" where it was."""
    return "all" if "all" in explanation.scopes else next(iter(explanation.scopes))


def bounds_at(explanation: Explanation, scope: str, position: int) -> Bounds:
    """Bounds of the state at a position of `Explanation.asked`."""
    result = explanation.absolute if scope == "absolute" else explanation.scopes[scope]
    if result is None:
        raise KeyError(scope)
    return Bounds(_plain(result.lower[position]), _plain(result.upper[position]))


def kinds(explanation: Explanation) -> tuple[Kind, ...]:
    """Kind of every state explained, in the order asked for.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> read = kinds(explain(loan(), target="Granted"))
    >>> [kind.value for kind in read][:3]
    ['start', 'optional', 'optional']
    """
    scope = main_scope(explanation)
    found = []
    for position, state in enumerate(explanation.asked.tolist()):
        bounds = bounds_at(explanation, scope, position)
        if explanation.target_states[state]:
            found.append(Kind.TARGET)
        elif state == explanation.mdp.initial:
            found.append(Kind.START)
        else:
            found.append(kind_of(bounds))
    return tuple(found)


def ranking(explanation: Explanation) -> NDArray[np.int64]:
    """Positions of `Explanation.asked`, most important first: by the mean of a state's bounds over the scopes.

    Equal means keep the order asked for, so that the same explanation always reads the same.
    """
    results = explanation.scopes.values()
    mean = sum(result.lower.astype(float) + result.upper.astype(float) for result in results)
    return np.argsort(-np.round(np.asarray(mean), 12), kind="stable")


def labels_by_state(mdp: MDP) -> list[list[str]]:
    """(S,) the labels that hold in each state, in the model's order."""
    found: list[list[str]] = [[] for _ in range(mdp.n_states)]
    for name, holds in mdp.labels.items():
        for state in np.flatnonzero(holds).tolist():
            found[state].append(name)
    return found


def captions(mdp: MDP) -> list[str]:
    """(S,) what to call each state: the label that fewest states share with it, or else its name.

    ``init``, ``deadlock`` and ``target`` tell nothing that the report does not say anyway.

    >>> mdp = MDP.from_dict({"q0": {"go": "q1"}, "q1": {}}, initial="q0", labels={"O_CANCELLED": ["q1"]})
    >>> captions(mdp)
    ['q0', 'O_CANCELLED']
    """
    called = list(mdp.states)
    telling = [(name, holds) for name, holds in mdp.labels.items() if name not in {"init", "deadlock", "target"}]
    for name, holds in sorted(telling, key=lambda item: -int(item[1].sum())):
        for state in np.flatnonzero(holds).tolist():
            called[state] = name
    return called


def addition(called: str, name: str) -> str:
    """What a state's name adds to what the state is called.

    >>> addition("O_SENT", "q7: O_SENT"), addition("O_SENT", "loc=7"), addition("O_SENT", "O_SENT")
    ('q7', 'loc=7', '')
    """
    return name.replace(called, "").strip(" :;,-()[]") if called in name else name


def group_by_label(explanation: Explanation, positions: Iterable[int]) -> list[tuple[str, list[int]]]:
    """Group positions whose states are called by the same label; a state without one stands alone.

    The order of first appearance is kept.
    """
    called = captions(explanation.mdp)
    groups: dict[tuple[str, int], list[int]] = {}
    for position in positions:
        state = int(explanation.asked[position])
        alone = called[state] not in explanation.mdp.labels
        groups.setdefault((called[state], state if alone else -1), []).append(position)
    return [(name, members) for (name, _), members in groups.items()]


def _plain(value: Any) -> Number:
    return value if isinstance(value, Fraction) else float(value)
