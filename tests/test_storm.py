"""Engine equals Storm: conditional queries for all strategies, until queries on the conserving choices for the best."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import waypost
from waypost.formats import drn
from waypost.formats.properties import asked, parse_property
from waypost.model import MDP
from waypost.solve import Reach

pytest.importorskip("stormpy", reason="comparisons with Storm need stormpy")

PAPER = ["greps", "bpic12", "bpic17"]
CLOSE = 1e-6  # Storm's own precision

# Storm does not listen to signals: it answers from a process of its own, one line per query, so that a query that does
# not come back costs only itself.
ASK = """
import json, sys
import stormpy
stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
path, queries = sys.argv[1], json.load(sys.stdin)
model = stormpy.build_model_from_drn(path)
start = model.initial_states[0]
for query in queries:
    formula = stormpy.parse_properties(query)[0]
    answer = stormpy.model_checking(model, formula, only_initial_states=True)
    print(repr(answer.get_value(start)), flush=True)
"""


def ask_storm(mdp: MDP, queries: list[str], seconds: float = 100.0) -> list[float]:
    """Storm's answers in the initial state; fewer than asked for if it runs out of time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.drn")
        path.write_text(drn.dumps(mdp), encoding="utf-8")
        child = subprocess.Popen(
            [sys.executable, "-c", ASK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            out, _ = child.communicate(json.dumps(queries), timeout=seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            out, _ = child.communicate()
            return [float(line) for line in out.splitlines()]
    assert child.returncode == 0, "Storm broke down"
    return [float(line) for line in out.splitlines()]


@pytest.mark.parametrize("seed", range(6))
def test_conditional_properties_are_answered_in_either_order(seed):
    """Law: Pmax and Pmin of [ F a || F b ] are Storm's, whichever comes first."""
    rng = np.random.default_rng(seed)
    names = [f"s{k}" for k in range(7)]
    choices = {
        name: {
            f"a{c}": dict(zip(rng.choice(names, 3, replace=False).tolist(), ("1/2", "1/4", "1/4"), strict=True))
            for c in range(rng.integers(1, 4))
        }
        for name in names[:-2]
    }
    mdp = MDP.from_dict({**choices, "s5": {}, "s6": {}}, initial="s0", labels={"a": ["s2", "s5"], "b": ["s3", "s4"]})
    queries = [f'P{optimum}=? [ F "a" || F "b" ]' for optimum in ("max", "min")]
    storm = ask_storm(mdp, queries)
    assert storm
    for query, expected in zip(queries, storm, strict=False):
        question = parse_property(query)
        model, target, states = asked(mdp, question)
        found = waypost.group_importance(model, target=target, scope="all", groups={"a": states}, exact=True)["a"]
        assert float(found.upper if question.optimum == "max" else found.lower) == pytest.approx(expected, abs=CLOSE)


def for_storm(mdp: MDP, target: str, kept: np.ndarray | None = None) -> MDP:
    """The model with an absorbing target labelled t, a label q0, q1, ... per state, and the kept choices only."""
    goal = mdp.where(target)
    kept = np.ones(mdp.n_choices, bool) if kept is None else kept
    choices = np.flatnonzero(kept & ~goal[mdp.choice_state])
    rows = mdp.transitions[choices].tocoo()
    owned = np.bincount(mdp.choice_state[choices], minlength=mdp.n_states)
    labels = {f"q{s}": np.arange(mdp.n_states) == s for s in range(mdp.n_states)}
    return MDP.from_triplets(
        rows.coords[0],
        rows.coords[1],
        rows.data,
        first_choice=np.concatenate([[0], np.cumsum(owned)]),
        states=mdp.states,
        actions=[mdp.actions[c] for c in choices],
        initial=mdp.initial,
        labels={**labels, "t": goal},
    )


def assert_bounds_equal(found: waypost.StateImportance, lower, upper) -> None:
    np.testing.assert_allclose(found.lower, lower, rtol=0, atol=CLOSE)
    np.testing.assert_allclose(found.upper, upper, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("name", PAPER)
def test_over_all_strategies_importance_is_storms_conditional_probability(shared_data, name):
    """imp(s) = Pr(F s | F t) with an absorbing target; every state, both bounds."""
    mdp = waypost.read_mdp(shared_data / f"models/paper/{name}.prism")
    queries = [f'P{o}=? [F "q{s}" || F "t"]' for o in ("min", "max") for s in range(mdp.n_states)]
    answers = ask_storm(for_storm(mdp, "positive"), queries)
    assert len(answers) == 2 * mdp.n_states
    found = waypost.state_importance(mdp, target="positive", scope="all")
    assert_bounds_equal(found, answers[: mdp.n_states], answers[mdp.n_states :])


@pytest.mark.parametrize("name", PAPER)
def test_over_the_best_strategies_importance_is_a_ratio_of_storms_probabilities(shared_data, name):
    """max = vmax(s) Pr*max(not t U s) / p*, min = (p* - Pr*max(not s U t)) / p*, with conserving choices only."""
    mdp = waypost.read_mdp(shared_data / f"models/paper/{name}.prism")
    n = mdp.n_states
    whole, best = for_storm(mdp, "positive"), Reach.of(mdp, mdp.where("positive"), exact=False).max.values
    conserving = mdp.transitions @ best >= best[mdp.choice_state] * (1 - 1e-11)
    (p,) = ask_storm(whole, ['Pmax=? [F "t"]'])
    assert p == pytest.approx(best[mdp.initial], abs=CLOSE)
    queries = [f'Pmax=? [!"t" U "q{s}"]' for s in range(n)] + [f'Pmax=? [!"q{s}" U ("t" & !"q{s}")]' for s in range(n)]
    answers = np.array(ask_storm(for_storm(mdp, "positive", conserving), queries))
    lower, upper = (p - answers[n:]) / p, best * answers[:n] / p
    found = waypost.state_importance(mdp, target="positive", scope="optimal")
    assert_bounds_equal(found, lower, upper)


def test_where_storm_does_not_answer_the_upper_bound_is_one(shared_data):
    """Eight states with end components: every other bound equals Storm's, this one Storm leaves open."""
    mdp = waypost.read_mdp(shared_data / "models/random/storm-does-not-answer.drn")
    asked = [(s, side) for s in range(mdp.n_states) for side in ("lower", "upper") if (s, side) != (3, "upper")]
    queries = [f'P{"min" if side == "lower" else "max"}=? [F "q{s}" || F "t"]' for s, side in asked]
    answers = ask_storm(for_storm(mdp, "t"), queries, seconds=30)
    assert len(answers) == len(asked)
    every = waypost.state_importance(mdp, target="t", scope="all")
    assert [getattr(every[str(s)], side) for s, side in asked] == pytest.approx(answers, abs=CLOSE)
    for exact in (False, True):
        found = waypost.state_importance(mdp, target="t", scope="all", states="3", exact=exact)
        assert found["3"].upper == 1
    witness = found.witness("3", "upper")
    assert waypost.state_importance(mdp, target="t", scope=witness, states="3", exact=True)["3"].lower == 1


def small_models() -> dict[str, MDP]:
    """Least conditional probabilities that a wrong reduction to greatest ones gets wrong."""
    return {
        "the state may be passed on the way only": MDP.from_dict(
            {"x=0": {"": {"x=1": "0.7", "x=2": "0.3"}}, "x=1": {}, "x=2": {"": "x=1"}}, initial="x=0"
        ),
        "a choice behind the state": MDP.from_dict(
            {
                "x=0": {"a": {"x=1": "0.7", "x=2": "0.3"}},
                "x=1": {},
                "x=2": {"on": "x=1", "try": {"x=1": "1/4", "x=3": "3/4"}},
                "x=3": {},
            },
            initial="x=0",
        ),
        "an end component before it": MDP.from_dict(
            {
                "x=0": {"wait": "x=3", "a": {"x=1": "0.7", "x=2": "0.3"}},
                "x=1": {},
                "x=2": {"on": "x=1", "try": {"x=1": "1/4", "x=0": "3/4"}},
                "x=3": {"back": "x=0", "stay": "x=3"},
            },
            initial="x=0",
        ),
    }


@pytest.mark.parametrize("name", small_models())
def test_least_conditional_probabilities_are_right(name):
    """Floats equal rationals equal Storm, and rationals equal what a person computes."""
    mdp = small_models()[name]
    by_hand = {"the state may be passed on the way only": "3/10", "a choice behind the state": "3/31"}
    exact = waypost.state_importance(mdp, target="x=1", scope="all", exact=True)
    floats = waypost.state_importance(mdp, target="x=1", scope="all")
    if name in by_hand:
        assert str(exact["x=2"].lower) == by_hand[name]
    queries = [f'P{o}=? [F "q{s}" || F "t"]' for o in ("min", "max") for s in range(mdp.n_states)]
    answers = ask_storm(for_storm(mdp, "x=1"), queries, seconds=30)
    assert len(answers) == len(queries)
    for s, state in enumerate(mdp.states):
        for answer, side in ((answers[s], "lower"), (answers[mdp.n_states + s], "upper")):
            right = getattr(exact[state], side)
            assert getattr(floats[state], side) == pytest.approx(float(right), abs=1e-14)
            assert answer == pytest.approx(float(right), abs=CLOSE)
