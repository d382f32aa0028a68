"""One call for everything a report needs: what is asked for beside the bounds changes none of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from strategies import winnable
from waypost import choice_importance, decisions, explain
from waypost.cases import loan
from waypost.model import Strategy


@settings(max_examples=60)
@given(winnable())
def test_decisions_and_choices_are_there_wherever_importance_is_defined(mdp):
    goal = mdp.states[-1]
    plain = explain(mdp, target=goal)
    found = explain(mdp, target=goal, decisions=True, choices=True)
    for scope, part in plain.scopes.items():
        np.testing.assert_array_equal(part.lower, found.scopes[scope].lower)
        np.testing.assert_array_equal(part.upper, found.scopes[scope].upper)
        known = choice_importance(mdp, target=goal, scope=scope)
        assert found.insight.choices[scope].to_dict() == known.to_dict()
    alone = decisions(mdp, target=goal)
    assert (found.insight.decisions is None) == (len(alone) == 0)
    assert [d.state for d in found.insight.decisions or ()] == [d.state for d in alone]


def test_decisions_are_those_of_the_strategy_that_is_a_scope():
    coin = Strategy.uniform(loan())
    found = explain(loan(), target="Granted", scope=["all", coin], decisions=True).insight
    assert found.called == "the given strategy"
    assert found.decisions.reached == decisions(loan(), target="Granted", strategy=coin).reached


def test_only_choices_that_lose_nothing_are_conserving():
    """Without the best strategies in scope nobody asked which they are."""
    mdp = loan()
    found = explain(mdp, target="Granted")
    worse = {(mdp.states[mdp.choice_state[c]], mdp.actions[c]) for c in np.flatnonzero(~found.conserving).tolist()}
    assert worse == {("Consultation", "Angry"), ("Error", "Quit"), ("Rework", "Quit")}
    assert explain(mdp, target="Granted", scope="all").conserving is None
