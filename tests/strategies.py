"""Hypothesis strategies: small MDPs with end components, ties, unreachable parts and several targets."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

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
