"""Groups of states: passing any state of a label, an expression, or a list of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from waypost.errors import ArgumentError
from waypost.importance.between import attaining
from waypost.importance.passing import Side, bounds, witness
from waypost.importance.question import Question, plain
from waypost.importance.results import Bounds, Explanation, Number, present
from waypost.model import MDP, Strategy, Target
from waypost.model.checking import names_of

Groups = Mapping[str, Target] | Literal["labels"]


def with_groups(explanation: Explanation, groups: Mapping[str, Target]) -> Explanation:
    """Explanation that also tells of groups of states, each in every part: scopes, and without normalisation.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> found = with_groups(explain(loan(), target="Granted", states=()), {"trouble": ["Error", "Rework"]})
    >>> found.told_groups, found.groups["trouble"]["all"].upper.__round__(6)
    ({'trouble': 2}, 0.169096)
    """
    members = {name: explanation.mdp.where(names_of("groups", names)) for name, names in groups.items()}
    found = {
        name: {
            part: Bounds(*map(plain, bounds(present(known.question), states, absolute=known.problem == "absolute")))
            for part, known in explanation.parts.items()
        }
        for name, states in members.items()
    }
    told = {name: int(states.sum()) for name, states in members.items()}
    return replace(explanation, groups={**explanation.groups, **found}, told_groups={**explanation.told_groups, **told})


def states_and_groups(mdp: MDP, names: Iterable[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Tell names apart: those that mean one state, by its full name, and those that mean a set of states.

    >>> mdp = MDP.from_dict({"x=0": {"up": "x=1"}, "x=1": {"up": "x=2"}, "x=2": {}}, initial="x=0")
    >>> states_and_groups(mdp, ["x=1", "x>1", "x<2"])
    (('x=1', 'x=2'), {'x<2': 'x<2'})
    """
    single: list[str] = []
    groups: dict[str, str] = {}
    for name in names:
        found = np.flatnonzero(mdp.where(name))
        if len(found) == 1:
            single.append(mdp.states[int(found[0])])
        else:
            groups[name] = name
    return tuple(single), groups


def ask_groups(question: Question, groups: Groups) -> dict[str, Bounds]:
    """Bounds of passing any state of each group."""
    mdp = question.mdp
    if isinstance(groups, str) and groups == "labels":
        groups = {name: name for name, holds in mdp.labels.items() if holds.sum() > 1}
    if not isinstance(groups, Mapping):
        raise ArgumentError(f"groups are given as {{name: names of states}}, or as 'labels', not {groups!r}")
    members = {str(name): mdp.where(names_of("groups", names)) for name, names in groups.items()}
    return {name: Bounds(*map(plain, bounds(question, states))) for name, states in members.items()}


def group_witness(
    question: Question, states: Target, side: Side | None = None, *, value: Number | None = None
) -> tuple[Bounds, Strategy]:
    """Bounds of passing any of some states, and a strategy in scope that attains one, or a value between them.

    Its memory is whether one of the states was seen, as in `StateImportance.witness`.

    >>> from waypost.cases import loan
    >>> question = Question.of(loan(), target="Granted", scope="all", exact=True)
    >>> both, witness = group_witness(question, ["Error", "Rework"], "upper")
    >>> [str(bound) for bound in both], witness.memory
    (['0', '58/343'], 2)
    """
    members = question.mdp.where(names_of("states", states))
    both = Bounds(*map(plain, bounds(question, members)))
    return both, attaining(question, both, partial(witness, question, members), side, value)
