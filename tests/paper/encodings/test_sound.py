"""The two sound linear programs equal brute force, and their strategies attain what they claim."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracles
import waypost
from strategies import mdps
from waypost.cases import ex1, loan
from waypost.graph import Graph, can_reach
from waypost.model import Strategy
from waypost.paper.encodings import Limits, Options, Solvers, attained, claim, state_product
from waypost.paper.encodings.contraction import contracted_product

FINE = Limits(seconds=20, tolerance=1e-10)


@pytest.fixture(scope="module")
def solvers():
    with Solvers() as running:
        yield running


def hopeful(mdp) -> bool:
    return bool(can_reach(Graph.of(mdp), mdp.where("goal"))[mdp.initial])


def agrees_with_enumeration(mdp, solvers) -> None:
    target = mdp.where("goal")
    for scope, s in product(("all", "optimal"), range(mdp.n_states)):
        exact = oracles.importance(mdp, target, s, scope)
        for sense, truth in zip(("min", "max"), exact, strict=True):
            found = claim(
                mdp,
                f"LP-{scope}",
                target="goal",
                state=mdp.states[s],
                sense=sense,
                solvers=solvers,
                limits=FINE,
                exact=True,
            )
            assert found.claimed == pytest.approx(float(truth), abs=1e-7)
            assert found.attained.importance == truth, (scope, mdp.states[s], sense)
            assert found.verdict(truth) == "right"
            if found.strategy is not None:
                played = found.product.strategy(found.strategy)
                again = waypost.state_importance(mdp, target="goal", scope=played, states=[mdp.states[s]])
                assert again[mdp.states[s]].lower == pytest.approx(float(truth), abs=1e-9)


@given(mdps(max_strategies=60))
@settings(max_examples=20)
def test_the_sound_programs_equal_enumeration(solvers, mdp):
    """LP = brute force over one-bit strategies, and the strategy read off attains it exactly, end components or not."""
    assume(hopeful(mdp))
    agrees_with_enumeration(mdp, solvers)


@pytest.mark.slow
def test_the_sound_programs_equal_the_engine_on_a_thousand_random_models(solvers):
    rng = np.random.default_rng(7)
    checked = 0
    worst = 0.0
    while checked < 1000:
        mdp = random_model(rng)
        if not hopeful(mdp):
            continue
        checked += 1
        for scope in ("all", "optimal"):
            exact = waypost.state_importance(mdp, target="goal", scope=scope, exact=True)
            for name, sense in product(mdp.states, ("min", "max")):
                found = claim(mdp, f"LP-{scope}", target="goal", state=name, sense=sense, solvers=solvers, limits=FINE)
                truth = exact[name].lower if sense == "min" else exact[name].upper
                assert found.status == "optimal"
                worst = max(worst, abs(found.claimed - float(truth)))
    assert worst <= 1e-7


def random_model(rng):
    n = int(rng.integers(3, 9))
    names = [f"q{i}" for i in range(n)]
    choices = {}
    for name in names:
        choices[name] = {}
        for a in range(int(rng.integers(0, 4))):
            support = rng.choice(n, size=int(rng.integers(1, min(n, 3) + 1)), replace=False)
            weights = rng.integers(1, 5, size=len(support))
            choices[name][f"a{a}"] = {
                names[y]: f"{w}/{weights.sum()}" for y, w in zip(support.tolist(), weights.tolist(), strict=True)
            }
    return waypost.MDP.from_dict(choices, initial="q0", labels={"goal": [names[int(rng.integers(1, n))]]})


@pytest.mark.parametrize("scope", ["all", "optimal"])
@pytest.mark.parametrize(
    ("model", "target", "path"),
    [
        (loan, "Granted", ["s0", "Apply", "Application"]),
        (loan, "Granted", ["s0", "Consult", "Consultation", "Apply", "Application+"]),
        (loan, "Granted", ["s0"]),
        (ex1, "t", ["s0", "a", "s2", "b", "s1"]),
    ],
)
def test_paths_have_the_engines_importance(solvers, model, target, path, scope):
    mdp = model()
    exact = waypost.path_importance(mdp, path=path, target=target, scope=scope, exact=True)
    for sense, truth in (("min", exact.lower), ("max", exact.upper)):
        found = claim(
            mdp, f"LP-{scope}", target=target, path=path, sense=sense, solvers=solvers, limits=FINE, exact=True
        )
        assert found.claimed == pytest.approx(float(truth), abs=1e-9)
        assert found.attained.importance == truth


@given(mdps(max_states=4), st.data())
@settings(max_examples=30)
def test_the_judge_equals_the_engine_under_a_fixed_strategy(mdp, data):
    """Evaluating a memoryless strategy on the product is P1."""
    assume(hopeful(mdp))
    strategy = Strategy.uniform(mdp)
    name = data.draw(st.sampled_from(mdp.states))
    truth = waypost.state_importance(mdp, target="goal", scope=strategy, states=[name])[name].lower
    whole = state_product(mdp, mdp.where("goal"), mdp.where([name]))
    everywhere = np.where(whole.origin >= 0, strategy.modes[0][whole.origin], 1.0)
    for exact in (False, True):
        assert float(attained(whole, everywhere, exact=exact).importance) == pytest.approx(truth, abs=1e-9)


@given(mdps(max_states=5))
@settings(max_examples=30)
def test_contraction_keeps_what_a_strategy_attains(mdp):
    """A strategy of the contracted product attains the same on the whole product."""
    assume(hopeful(mdp))
    whole = state_product(mdp, mdp.where("goal"), mdp.where([mdp.states[-1]]))
    assume(not whole.target[whole.mdp.initial])
    small = contracted_product(whole)
    uniform = 1.0 / np.diff(small.product.mdp.first_choice)[small.product.mdp.choice_state]
    less, more = attained(small.product, uniform), attained(whole, small.expanded(uniform))
    assert float(less.via) == pytest.approx(float(more.via), abs=1e-9)
    assert float(less.bypass) == pytest.approx(float(more.bypass), abs=1e-9)


@pytest.mark.parametrize("form", ["letter", "ours"])
@pytest.mark.parametrize("encoding", ["QP", "QP*", "LP*"])
def test_the_papers_encodings_are_right_on_the_papers_example(solvers, encoding, form):
    mdp = loan()
    scope = "all" if encoding == "QP" else "optimal"
    exact = waypost.state_importance(mdp, target="Granted", scope=scope, exact=True)
    for name, sense in product(("Application", "Consultation", "Angry", "s0", "Granted"), ("min", "max")):
        solver = "highs" if (encoding, form) == ("LP*", "ours") else "gurobi"
        found = claim(
            mdp, encoding, target="Granted", state=name, sense=sense, solver=solver, solvers=solvers,
            limits=Limits(seconds=20, tolerance=1e-9), options=Options(form),
        )  # fmt: skip
        truth = exact[name].lower if sense == "min" else exact[name].upper
        assert found.verdict(truth) == "right", (name, sense, found.claimed, truth)


@pytest.mark.parametrize("encoding", ["QP", "QP*", "LP*"])
@pytest.mark.parametrize(
    "path", [["s0", "Apply", "Application"], ["s0", "Apply", "Error", "Consult", "Consultation"], ["s0"]]
)
def test_the_papers_encodings_are_right_on_paths(solvers, encoding, path):
    """P4 by its definition: Example 2's (0.897..., 1) over all strategies, 0.95 over the best that follow the path."""
    mdp = loan()
    scope = "all" if encoding == "QP" else "optimal"
    exact = waypost.path_importance(mdp, path=path, target="Granted", scope=scope, exact=True)
    for sense, truth in (("min", exact.lower), ("max", exact.upper)):
        found = claim(
            mdp, encoding, target="Granted", path=path, sense=sense, solvers=solvers,
            limits=Limits(seconds=20, tolerance=1e-9),
        )  # fmt: skip
        assert found.verdict(truth) == "right", (sense, found.claimed, truth)
        assert float(found.attained.importance) == pytest.approx(float(truth), abs=1e-5)


def test_a_wrong_path_is_told(solvers):
    for path, words in (
        (["Error"], "starts in"),
        (["s0", "Apply"], "odd number"),
        (["s0", "Apply", "Rework"], "does not lead"),
        (["s0", "Consult", "Consultation", "Apply", "Application+", "Provider", "Granted"], "through the target"),
    ):
        with pytest.raises(waypost.errors.PathError, match=words):
            claim(loan(), "LP-all", target="Granted", path=path, sense="max", solvers=solvers)
    with pytest.raises(waypost.WaypostError, match="either a state or a path"):
        claim(loan(), "LP-all", target="Granted", sense="max", solvers=solvers)
