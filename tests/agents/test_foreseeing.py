"""Levels of foreseen success, looked at now and then: cells for agents that no chain of clusters stands for."""

from __future__ import annotations

import numpy as np
import pytest

from waypost.agents import abstract_agent, foreseen, looks
from waypost.environments import Episode, Recording
from waypost.errors import ArgumentError


def drifting(episodes: int, seed: int) -> list[Recording]:
    """Walks with a speed that wears off slowly, between a bad end and a good one."""
    draw = np.random.default_rng(seed)
    played = []
    for _ in range(episodes):
        at, speed, seen = 0.0, 0.0, []
        while abs(at) < 1:
            seen.append(np.array([at, speed]))
            speed = 0.9 * speed + 0.3 * draw.normal()
            at += 0.1 * speed
        end = Episode(len(seen), float(at > 0), float(at > 0), terminated=True, truncated=False)
        played.append(Recording(tuple(seen), (0,) * len(seen), end, np.array([at, speed])))
    return played


def test_levels_are_ordered_by_success():
    """Law: in episodes that were not practised on, success is the likelier the higher the level."""
    level = foreseen(drifting(300, 1), levels=5)
    ends: dict[str, list[bool]] = {}
    for recording in drifting(300, 2):
        for seen in recording.observations:
            ends.setdefault(level(seen), []).append(recording.episode.total_reward > 0)
    shares = [np.mean(ends[f"foreseen={k}"]) for k in range(5)]
    assert shares == sorted(shares)
    assert shares[0] < 0.25
    assert shares[4] > 0.75


def test_looks_keep_the_episode_and_count_its_steps():
    """Law: every so many steps is a look, the first step is one, and how the episode ended stays."""
    (recording,) = drifting(1, 3)
    (once,) = looks([recording], every=1)
    assert [look["step"] for look in once.observations] == list(range(recording.episode.steps))
    (seldom,) = looks([recording], every=7)
    assert [look["step"] for look in seldom.observations] == list(range(0, recording.episode.steps, 7))
    assert len(seldom.actions) == len(seldom.observations)
    assert seldom.episode == recording.episode
    assert (seldom.last["seen"] == recording.last).all()
    with pytest.raises(ArgumentError, match="every is a number of steps, from 1 on"):
        looks([recording], every=0)


def test_nothing_is_foreseen_where_all_ends_alike():
    lost = [recording for recording in drifting(60, 4) if recording.episode.total_reward == 0]
    with pytest.raises(ArgumentError, match=r"0 of .* episodes end positive"):
        foreseen(lost)


def test_a_chain_of_levels_stands_where_one_of_clusters_is_refused():
    """Law: what drifts over the border of a cluster is remembered; between levels, every ten steps, it is forgotten."""
    level = foreseen(looks(drifting(400, 5), every=1), levels=8)
    stood = []
    for seed in (11, 12, 13):
        played = drifting(800, seed)
        clusters = abstract_agent(played, most=8).memory()
        assert clusters is not None
        assert not clusters.fits
        stood.append(abstract_agent(looks(played, every=10), features=level, most=8).stands())
    assert stood.count(True) >= 2
