"""Hypothesis strategies: small MDPs with end components, ties, unreachable parts and several targets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from waypost.errors import WaypostError
from waypost.graph import Graph, reachable
from waypost.importance import Question
from waypost.importance.question import Scope
from waypost.model import MDP


@st.composite
def mdps(draw, max_states: int = 5, max_choices: int = 3, max_strategies: int = 300) -> MDP:
    """Small MDPs; the label "goal" holds in one or two states. Few distinct probabilities make ties likely."""
    n = draw(st.integers(2, max_states))
    names = [f"q{i}" for i in range(n)]
    goals = draw(st.sets(st.sampled_from(names), min_size=1, max_size=2))
    budget = max_strategies
    choices: dict[str, dict[str, dict[str, Fraction]]] = {}
    for name in names:
        k = draw(st.integers(0, min(max_choices, budget)))
        budget = budget // max(k, 1)
        choices[name] = {}
        for a in range(k):
            support = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
            weights = [draw(st.sampled_from([1, 1, 2, 3])) for _ in support]
            choices[name][f"a{a}"] = {y: Fraction(w, sum(weights)) for y, w in zip(support, weights, strict=True)}
    return MDP.from_dict(choices, initial="q0", labels={"goal": sorted(goals)})


def winnable() -> st.SearchStrategy[MDP]:
    """Small MDPs whose last state can be reached, so that its importance is defined."""
    return mdps().filter(lambda mdp: reachable(Graph.of(mdp), np.arange(mdp.n_states) == mdp.initial)[-1])


@st.composite
def models_with_paths(draw) -> tuple[MDP, list[int], list[int]]:
    """A small MDP, and a simple path from its initial state that avoids the goal: its states, and its choices."""
    mdp = draw(mdps())
    target = mdp.where("goal")
    assume(not target[mdp.initial])
    path, choices = [mdp.initial], []
    for _ in range(draw(st.integers(0, 3))):
        c = draw(st.sampled_from(list(mdp.choices(path[-1]))))
        onward = [y for y in mdp.successors(choice=c).tolist() if y not in path and not target[y]]
        if not onward:
            break
        choices.append(c)
        path.append(draw(st.sampled_from(onward)))
    return mdp, path, choices


def path_names(mdp: MDP, path: list[int], choices: list[int]) -> list[str]:
    """States and actions in turn."""
    names = [mdp.states[path[0]]]
    for c, s in zip(choices, path[1:], strict=True):
        names += [mdp.actions[c], mdp.states[s]]
    return names


def question(mdp: MDP, scope: Scope) -> Question:
    """What is asked of a drawn model; one whose goal cannot be reached, or is too rare, is drawn again."""
    try:
        return Question.of(mdp, target="goal", scope=scope)
    except WaypostError:
        assume(condition=False)
        raise
