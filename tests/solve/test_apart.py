"""Protocols: many choices, most of which lead to one state; settled strategy by strategy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import waypost
from protocols import coin
from waypost.graph.compiled import eagerly
from waypost.importance import question
from waypost.importance.question import Question
from waypost.model import MDP
from waypost.solve import optimiser
from waypost.solve.rewards import rewards_in


@pytest.fixture(scope="module")
def protocol() -> MDP:
    """243 states, all of which lead to one another, and two ends."""
    return coin(3, 4, Fraction(2, 5))


def test_a_protocol_is_settled_strategy_by_strategy(protocol):
    """It is large, offers many choices, and these lead to hardly more than a state each."""
    reach = Question.of(protocol, target="heads", scope="all").reach
    arena = reach.arena
    nowhere = np.zeros(protocol.n_states, bool)
    rewards = rewards_in(arena, reach.target, nowhere, arena.graph.everything)
    block = np.flatnonzero(~protocol.where(["heads", "tails"]))
    place = np.where(protocol.where(["heads", "tails"]), -1, np.cumsum(np.ones(protocol.n_states, np.int64)) - 1)
    ways = optimiser.arrows(block, *rewards[:3], rewards.enabled, place)
    assert optimiser._fork(block, rewards, len(ways[0]))


@pytest.mark.parametrize("target", ["heads", ["heads", "tails"]], ids=["heads", "any end"])
def test_bounds_of_a_protocol_are_those_of_fractions(protocol, target, monkeypatch):
    """Both bounds, in both scopes, of states everywhere, each by itself."""
    monkeypatch.setattr(question, "track_of", lambda *_given, **_more: None)
    monkeypatch.setattr("waypost.solve.elimination.MOST_KEPT", -1)
    asked = ["4uuu", "-4ttd", "0tud", "2dtt", "-1uuu"]
    with eagerly():
        for scope in ("all", "optimal"):
            found = waypost.state_importance(protocol, target=target, scope=scope, states=asked)
            right = waypost.state_importance(protocol, target=target, scope=scope, states=asked, exact=True)
            for state in asked:
                for number, fraction in zip(found[state], right[state], strict=True):
                    assert abs(number - float(fraction)) <= 1e-11 * float(fraction)
                    assert (number in (0, 1)) == (fraction in (0, 1))
