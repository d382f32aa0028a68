"""How far off a chain's odds are: the interval holds, and the episodes that are asked do not choose the question."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest

import worlds
from waypost.agents import abstract_agent
from waypost.agents.calibration import cell_odds, share_between


@pytest.mark.parametrize("episodes", [1, 7, 40])
def test_the_interval_misses_once_in_twenty_times_at_most(episodes):
    """Law: whatever the true share, the chances of the numbers whose interval leaves it out add up to 0.05 at most."""
    between = [share_between(x, episodes) for x in range(episodes + 1)]
    for true in np.linspace(0, 1, 101):
        chances = [comb(episodes, x) * true**x * (1 - true) ** (episodes - x) for x in range(episodes + 1)]
        missed = sum(p for p, (low, high) in zip(chances, between, strict=True) if not low <= true <= high)
        assert missed <= 0.05 + 1e-12


def small(kind: str, episodes: int = 400):
    played = {**worlds.RIGHT, **worlds.WRONG}[kind](np.random.default_rng(3), episodes)
    return abstract_agent(played, features=lambda seen: f"at={seen}", outcome=worlds.ended, seed=3)


def test_what_is_told_is_what_the_held_out_episodes_show():
    """Law: the share told is that of the episodes held out that pass the cell, each counted once."""
    found = small("rooms")
    odds, passed = found.odds(), found.passages
    through = passed.through[:, passed.cells.index(odds.cell)] & passed.held_out
    assert odds.episodes == through.sum()
    assert odds.counted == pytest.approx((passed.outcomes[through] == "positive").mean())
    assert odds.said == pytest.approx(found.worth["positive"][passed.cells.index(odds.cell)])
    assert odds.low < odds.counted < odds.high
    assert odds.error <= odds.at_most
    assert f"At {odds.cell}, where the other episodes find its odds" in found.summary()
    assert f"off by {100 * odds.at_most:.0f} points there at most" in found.summary()


def test_the_episodes_held_out_do_not_choose_the_cell():
    """Law: if the episodes held out all ended otherwise, the same cell would be asked about."""
    found = small("coin")
    ends = np.where(found.passages.held_out, "negative", found.passages.outcomes)
    other = cell_odds(found.visits, replace(found.passages, outcomes=ends), found.said["positive"], "positive")
    assert (other.cell, other.counted) == (found.odds().cell, 0.0)


def test_a_chain_that_is_right_is_nearer_than_one_that_forgets():
    """Law: the effect tells a room with two doors, which decide, from a walk whose cells are all that matters."""
    assert small("walk", 1600).odds().at_most < 0.15 < small("rooms", 1600).odds().error + 0.1


def test_too_few_episodes_tell_nothing():
    assert small("walk", 40).odds() is None
