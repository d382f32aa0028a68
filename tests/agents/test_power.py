"""How often right chains are refused, and wrong ones found out: made-up worlds, each drawn anew.

``pytest -m slow -s tests/agents/test_power.py`` prints what it counts.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import worlds
from waypost.agents import abstract_agent

WORLDS = 50  # of a kind
SEED = 50_000


def refusals(kind, episodes):
    """How many worlds of a kind are refused, by each check and by any."""
    found = Counter()
    for seed in range(SEED, SEED + WORLDS):
        played = kind(np.random.default_rng(seed), episodes)
        small = abstract_agent(played, features=lambda seen: f"at={seen}", outcome=worlds.ended, seed=seed)
        checks = {"odds": small.fit, "passing": small.passing(), "memory": small.memory()}
        refused = [name for name, check in checks.items() if check is not None and not check.fits]
        assert small.stands() == (not refused)
        found.update(refused + ["any"] * bool(refused))
    print(f"{kind.__name__:8} {episodes:5} episodes, refused of {WORLDS}:", dict(found))  # noqa: T201
    return found["any"]


@pytest.mark.slow
@pytest.mark.parametrize("episodes", [400, 1600])
def test_right_chains_are_refused_once_in_eight_times_at_most(episodes):
    """Law: where cells are all that matters, the checks let a chain pass."""
    assert sum(refusals(kind, episodes) for kind in worlds.RIGHT.values()) <= len(worlds.RIGHT) * WORLDS / 8


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*worlds.RIGHT.values(), *worlds.WRONG.values()])
def test_the_agents_own_share_is_in_the_interval_nine_times_in_ten(kind):
    """Law: right chain or wrong, the share of success at the cell asked about is where it is said to be.

    The truth is counted in 4,000 more episodes of the same world. Of 20 worlds, 4 or more are missed once in sixty
    times if one in twenty is.
    """
    missed = 0
    for seed in range(SEED, SEED + 20):
        played = kind(np.random.default_rng(seed), 4_400)
        small = abstract_agent(played[:400], features=lambda seen: f"at={seen}", outcome=worlds.ended, seed=seed)
        odds = small.odds()
        if odds is None:
            continue
        won = [
            worlds.ended(each.episode) == "positive"
            for each in played[400:]
            if odds.cell in {f"at={seen}" for seen in (*each.observations, each.last)}
        ]
        missed += not odds.low <= np.mean(won) <= odds.high
    print(f"{kind.__name__:8} the interval missed {missed} of 20")  # noqa: T201
    assert missed < 4


@pytest.mark.slow
def test_wrong_chains_are_refused_four_times_in_five():
    """Law: with 1,600 episodes, a memory that decides is found out, whatever it is of."""
    assert sum(refusals(kind, 1600) for kind in worlds.WRONG.values()) >= len(worlds.WRONG) * WORLDS * 4 / 5


@pytest.mark.slow
def test_wrong_chains_are_refused_every_other_time_with_few_episodes():
    """Law: 400 episodes are enough for half of them."""
    assert sum(refusals(kind, 400) for kind in worlds.WRONG.values()) >= len(worlds.WRONG) * WORLDS / 2
