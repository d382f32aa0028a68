"""Models for the tests of formats: random, with names nobody should use."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from waypost.model import MDP

hostile = st.one_of(
    st.sampled_from(
        ["it's", "a b", "</script><b>", "=1+1", "x=1", "ünï", "🦊", "a\nb", "a\\nb", "0", "mdp", "init", "{"]
    ),
    st.sampled_from(['quo"te', "deadlock", "(final)", "//", "a;b", "\t", " "]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
)
plain_names = st.text("abcdefgh_", min_size=1, max_size=6)


@st.composite
def mdps(draw: st.DrawFn, names: st.SearchStrategy[str] = hostile) -> MDP:
    n = draw(st.integers(1, 6))
    kind = draw(st.sampled_from(["names", "valuations"]))
    if kind == "names":
        states = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    else:
        values = draw(st.lists(st.tuples(st.integers(-3, 9), st.booleans()), min_size=n, max_size=n, unique=True))
        states = [f"x={x}, up={str(up).lower()}" for x, up in values]
    exact, counts = draw(st.booleans()), draw(st.booleans())
    choice, successor, weight, first, actions = [], [], [], [0], []
    for _ in range(n):
        enabled = draw(st.lists(names, max_size=3, unique=True))
        for action in enabled:
            targets = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
            weights = draw(st.lists(st.integers(1, 9), min_size=len(targets), max_size=len(targets)))
            choice += [len(actions)] * len(targets)
            successor += targets
            weight += [Fraction(w, sum(weights)) for w in weights]
            actions.append(action)
        first.append(len(actions))
    labels = draw(st.dictionaries(names, st.lists(st.booleans(), min_size=n, max_size=n), max_size=2))
    return MDP.from_triplets(
        choice,
        successor,
        [float(w) for w in weight],
        first_choice=first,
        states=states,
        actions=actions,
        initial=draw(st.integers(0, n - 1)),
        labels=labels,
        exact=weight if exact else None,
        counts=np.arange(1, len(weight) + 1) if counts else None,
    )


def assert_same(a: MDP, b: MDP, *, counts: bool = True) -> None:
    """Identity: names, order, numbers to the last bit."""
    assert a.states == b.states
    assert a.actions == b.actions
    assert a.initial == b.initial
    assert a.first_choice.tolist() == b.first_choice.tolist()
    assert a.transitions.indptr.tolist() == b.transitions.indptr.tolist()
    assert a.transitions.indices.tolist() == b.transitions.indices.tolist()
    assert a.transitions.data.tolist() == b.transitions.data.tolist()
    assert {k: v.tolist() for k, v in a.labels.items()} == {k: v.tolist() for k, v in b.labels.items()}
    if a.exact is not None:
        assert a.exact.tolist() == b.rationals().tolist()
    if counts:
        assert (a.counts is None) == (b.counts is None)
        assert a.counts is None or a.counts.tolist() == b.counts.tolist()
