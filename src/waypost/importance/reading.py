"""How bounds are read: what kind of step each state is, and which states come first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.graph import Mask
from waypost.importance.question import Question, plain
from waypost.importance.results import Bounds, Explanation, Kind, StateImportance

IMPORTANT = 0.5  # a lower bound from here on: most runs that succeed pass the state, whatever is done
MARGINAL = 0.05  # an upper bound up to here: few runs that succeed pass the state, whatever is done
DIGITS = 12  # of a score that count for its rank


def kind_of(bounds: Bounds, *, reachable: bool = True) -> Kind:
    """Kind of a state that is neither start nor target.

    >>> [kind_of(Bounds(*b)).value for b in ((1, 1), (0.7, 1), (0, 1), (0, 0.01), (0, 0))]
    ['indispensable', 'important', 'optional', 'marginal', 'detrimental']
    >>> kind_of(Bounds(0, 0), reachable=False).value
    'unreachable'
    """
    if bounds.lower == 1:
        return Kind.INDISPENSABLE
    if bounds.upper == 0:
        return Kind.DETRIMENTAL if reachable else Kind.UNREACHABLE
    if bounds.lower >= IMPORTANT:
        return Kind.IMPORTANT
    if bounds.upper <= MARGINAL:
        return Kind.MARGINAL
    return Kind.OPTIONAL


def kinds(result: StateImportance, target: Mask, reachable: Mask) -> tuple[Kind, ...]:
    """Kind of every state asked for: `target` are the target's states, `reachable` those visited before it.

    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> [kind.value for kind in explain(loan(), target="Granted").kinds][:3]
    ['start', 'optional', 'optional']
    """
    found = []
    for position, state in enumerate(result.asked.tolist()):
        if target[state]:
            found.append(Kind.TARGET)
        elif state == result.mdp.initial:
            found.append(Kind.START)
        else:
            found.append(kind_of(result.at(position), reachable=bool(reachable[state])))
    return tuple(found)


def ranking(results: Iterable[StateImportance]) -> NDArray[np.int64]:
    """Positions of the states asked for, most important first: by the mean of a state's bounds over the scopes.

    Equal means keep the order asked for, so that the same explanation always reads the same.
    """
    mean = sum(result.lower.astype(float) + result.upper.astype(float) for result in results)
    return np.argsort(-np.round(np.asarray(mean), DIGITS), kind="stable")


def explanation_of(question: Question, scores: Mapping[str, StateImportance], **parts: Any) -> Explanation:
    """Explanation that is made of the scores in each scope, read; `parts` are further fields of it."""
    base = question if question.scope == "all" else question.within("all")
    least, most = (plain(optimum.values[base.start]) for optimum in (base.model.min, base.model.max))
    main = scores.get("all", next(iter(scores.values())))
    return Explanation(
        mdp=base.mdp,
        target=base.name,
        targets=base.target,
        target_states=base.target_states,
        reachability=Bounds(least, most),
        scopes=scores,
        kinds=kinds(main, base.target_states, (main.question or base).entered),
        ranking=ranking(scores.values()),
        **parts,
    )
