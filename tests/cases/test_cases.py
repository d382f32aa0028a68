"""The case studies: their sizes, their scores, and what they ask for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import hypergeom

from waypost import group_importance, state_importance
from waypost.cases import CASES, case, epidemic, find_case, gridworld, is_case, prepare_case, recipe, recipe_text
from waypost.errors import LogError, ModelError, NameUnknownError
from waypost.importance import Bounds
from waypost.model import MDP


@pytest.mark.parametrize(
    ("n", "states", "transitions"),
    [(4, 227, 898), (5, 398, 1816), (6, 639, 3364), (7, 962, 5644), (8, 1379, 9029), (9, 1902, 13_600)],
)
def test_epidemics_have_the_papers_sizes(n, states, transitions):
    mdp = case(f"epidemic:{n}")
    assert (mdp.n_states, mdp.transitions.nnz) == (states, transitions)


def infections(mdp: MDP) -> Iterator[tuple[tuple[int, ...], str, tuple[int, ...], float]]:
    """State, action, successor and probability of every day of an epidemic."""
    for choice, action in enumerate(mdp.actions):
        if action in ("NIL", "V_I", "V_S"):
            state = eval(mdp.states[mdp.choice_state[choice]])  # noqa: S307  "(4,1,3)"
            for k in range(mdp.transitions.indptr[choice], mdp.transitions.indptr[choice + 1]):
                yield state, action, eval(mdp.states[mdp.transitions.indices[k]]), mdp.transitions.data[k]  # noqa: S307


def test_infections_are_hypergeometric():
    """Population, successes and draws of each action, within the population, normalised: as scipy computes them."""
    n = 5
    checked = 0
    for (s, i, v), action, (s2, i2, v2), probability in infections(epidemic(n)):
        ill, left, used = {"NIL": (i, s, 0), "V_I": (i - 1, s, 1), "V_S": (i, s - 1, 1)}[action]
        inside = range(n - ill + 1)
        pmf = hypergeom.pmf(inside, left + ill, min(left, ill), left) if left + ill else np.array([1.0])
        k = left - s2
        assert (s2, i2, v2) == (left - k, ill + k, v - used)
        assert probability == pytest.approx(pmf[k] / pmf.sum(), rel=1e-12)
        checked += 1
    assert checked == epidemic(n).transitions.nnz - 2 * 11 - 1  # the start, the end and the goal apart


def test_exact_epidemics_have_fractions_that_sum_to_one():
    mdp = epidemic(3, exact=True)
    assert mdp.exact is not None
    for low, high in zip(mdp.transitions.indptr[:-1], mdp.transitions.indptr[1:], strict=True):
        assert sum(mdp.exact[low:high], Fraction(0)) == 1


@pytest.mark.parametrize("n", [3, 4, 6])
def test_an_epidemic_is_won_with_more_vaccines_than_people(n):
    """Scope optimal: (0, 0) up to as many vaccines as people, (0, 1) above."""
    mdp = epidemic(n)
    asked = [f"({n},1,{v})" for v in range(2 * n + 1)]
    found = state_importance(mdp, target="positive", scope="optimal", states=asked)
    for v, name in enumerate(asked):
        assert found[name] == (Bounds(0.0, 0.0) if v <= n else Bounds(0.0, 1.0)), name


def test_a_large_epidemic_is_built_in_under_a_minute():
    start = time.process_time()
    mdp = epidemic(40)
    assert time.process_time() - start < 60
    assert mdp.n_states == 41 * 41 * 81 + 2
    assert np.abs(mdp.transitions.sum(axis=1) - 1).max() < 1e-12


def test_the_gridworld_is_the_papers_heat_map():
    """Start, key, goal and the crossing with its two banks are indispensable, lava to be avoided, all else optional."""
    mdp = gridworld()
    groups = {label: label for label in mdp.labels if label.startswith("field ")}
    assert len(groups) == 49
    found = group_importance(mdp, target="goal", scope="all", groups=groups)
    needed = {"field 1,1", "field 1,7", "field 7,1", "field 3,4", "field 4,4", "field 5,4"}
    lava = {f"field 4,{row}" for row in (1, 2, 3, 5, 6, 7)}
    for field, bounds in found.items():
        expected = Bounds(1.0, 1.0) if field in needed else Bounds(0.0, 0.0) if field in lava else Bounds(0.0, 1.0)
        assert bounds == expected, field


def test_cases_are_found_by_name():
    assert case("loan").states[0] == "s0"
    assert is_case("epidemic:9")
    assert not is_case("epidemics")
    for name, message in {
        "epidemic": "epidemic needs a population: epidemic:9",
        "epidemic:x": "the population is a whole number from 1 on",
        "epidemic:0": "the population is a whole number from 1 on",
        "loan:3": "loan takes no number",
        "bpic": "no case 'bpic' in Waypost; did you mean 'bpic1",
    }.items():
        with pytest.raises(NameUnknownError, match=message):
            find_case(name)
    with pytest.raises(ModelError, match="population of at least 1"):
        epidemic(0)


def test_cases_that_need_data_say_where_it_is_to_be_had():
    for name, found in CASES.items():
        if found.data:
            with pytest.raises(
                LogError, match=rf"{name} needs your copy of the data: .*give it with data= \(--data FILE\)"
            ):
                case(name)
    with pytest.raises(LogError, match="takes no data"):
        case("loan", "some.csv")
    with pytest.raises(LogError, match="makes its own data"):
        case("loan-log", "some.csv")
    with pytest.raises(LogError, match="not learned from traces"):
        prepare_case("loan")


def test_recipes_are_files_to_be_copied():
    for name in ("greps", "bpic12", "bpic17", "loan-log"):
        assert recipe(name).title in recipe_text(name)
    with pytest.raises(NameUnknownError, match="no recipe 'loan' in Waypost"):
        recipe("loan")
