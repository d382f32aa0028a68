"""Factors of eight chains: made anew where strategies change, they are what they would be from the start."""

from __future__ import annotations

import numpy as np
import pytest

from waypost.importance.question import Question
from waypost.paper.bench.lakes import lake
from waypost.solve.factors import DECIDED, STOP, blank_factors, factorise, put_back

SIZE = 9


@pytest.fixture(scope="module", params=[True, False], ids=["slippery", "firm"])
def track(request):
    """On firm ice, strategies often go round for ever."""
    return Question.of(lake(SIZE, slippery=request.param, seed=4), target="goal", scope="all").track


def _draw(draw, course, pattern):
    """Any choices, with some states decided and what is earned there."""
    n = len(course.most)
    choice = np.full((n, 8), DECIDED, np.int64)
    for x in pattern.order:
        choice[x] = draw.integers(course.first_choice[x], course.first_choice[x + 1], 8)
    choice[draw.random((n, 8)) < 0.05] = DECIDED
    choice[(draw.random((n, 8)) < 0.02) & (choice >= 0)] = STOP
    gain = np.where(choice == DECIDED, draw.random((n, 8)), 0.0)
    return choice, gain, gain[::-1].copy()


def _changed(draw, choice, course, pattern):
    """Other choices of a few states, in some lanes; most often in none."""
    for x in draw.choice(pattern.order, draw.integers(0, 4)):
        lanes = draw.random(8) < 0.4
        choice[x, lanes] = draw.integers(course.first_choice[x], course.first_choice[x + 1], lanes.sum())


@pytest.mark.parametrize("machine_code", [False, True])
def test_factors_made_anew_in_part_are_those_made_at_once(track, machine_code):
    course, pattern = track.course, track.pattern
    assert pattern.four.any()
    made, begun = (k.compiled if machine_code else k.plain for k in (factorise, blank_factors))
    draw = np.random.default_rng(7)
    kept = begun(pattern)
    choice, gain, loss = _draw(draw, course, pattern)
    renewed = []
    for _ in range(12):
        again, mine, taken = begun(pattern), choice.copy(), choice.copy()  # who goes round for ever stops
        for low, high in zip(pattern.blocks[:-1], pattern.blocks[1:], strict=True):
            made(low, high, 2, mine, gain, loss, course, pattern, kept)
            made(low, high, 2, taken, gain, loss, course, pattern, again)
        renewed.append(kept.stale.mean())
        assert (mine == taken).all()
        for name in ("ahead", "back", "leads", "returns", "leaving", "scale", "sides"):
            assert np.array_equal(getattr(kept, name), getattr(again, name)), name
        _changed(draw, choice, course, pattern)
    assert renewed[0] == 1.0
    if np.diff(course.indptr).max() > 1:  # on slippery ice hardly anybody goes round for ever
        assert min(renewed) < 0.8  # or nothing was saved


def test_what_strategies_earn_solves_their_equations(track):
    course, pattern = track.course, track.pattern
    draw = np.random.default_rng(8)
    factors = blank_factors(pattern)
    m, n = len(pattern.order), len(course.most)
    choice, gain, loss = _draw(draw, course, pattern)
    for _ in range(6):
        before = gain.copy(), loss.copy()
        for low, high in zip(pattern.blocks[:-1], pattern.blocks[1:], strict=True):
            factorise(low, high, 2, choice, gain, loss, course, pattern, factors)
            put_back(low, high, 2, pattern, factors)
            for i in range(low, high):
                gain[pattern.order[i]], loss[pattern.order[i]] = factors.sides[i], factors.sides[m + i]
        for w in range(8):
            system = np.eye(n)
            for x in range(n):
                for e in (
                    range(course.indptr[choice[x, w]], course.indptr[choice[x, w] + 1]) if choice[x, w] >= 0 else ()
                ):
                    system[x, course.indices[e]] -= course.data[e]
            for found, given in zip((gain, loss), before, strict=True):
                earned = np.where(choice[:, w] == DECIDED, given[:, w], 0.0)
                assert found[:, w] == pytest.approx(np.linalg.solve(system, earned), abs=1e-9)
        gain, loss = (np.where(choice == DECIDED, old, 0.0) for old in before)
        _changed(draw, choice, course, pattern)
        choice[choice < 0] = DECIDED  # who stopped earns nothing, and stays
