"""A learned model says what its log says, or it is told that it does not."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from waypost import group_importance
from waypost.learn import activity_states, learn_fitting, learn_mdp, observed_activities, observed_strategy, prepare
from waypost.learn.fit import fit
from waypost.learn.tree import prefix_tree, weighted
from waypost.logs import EVERY_EVENT_CHANCE, Actors, EventLog, Recipe, RecipeStep, io_traces, read_log
from waypost.logs.steps.outcome import set_outcome

pytestmark = pytest.mark.filterwarnings("ignore::waypost.learn.ThinDataWarning")

CASES = st.lists(
    st.tuples(st.lists(st.sampled_from("abc"), max_size=6), st.sampled_from("+-")), min_size=2, max_size=40
)
WHO = st.sampled_from([EVERY_EVENT_CHANCE, Actors({"a": "customer", "*": "company"})])


def outcome_log(cases) -> EventLog:
    assume(len({end for _, end in cases}) == 2)
    return set_outcome(EventLog.from_sequences([[*names, end] for names, end in cases]), positive="+")


@given(CASES, WHO)
def test_unmerged_the_model_says_exactly_what_the_log_says(cases, who):
    """Every activity, among good and bad cases, and the success after and without it: counted with sets."""
    log = outcome_log(cases)
    mdp = learn_mdp(log, actors=who, eps="none")
    found = observed_activities(mdp, mdp.labels["positive"], activity_states(mdp, log))
    good = [set(names) | {end} for names, end in cases if end == "+"]
    bad = [set(names) | {end} for names, end in cases if end == "-"]
    for name, observed in found.items():
        with_good, with_bad = sum(name in s for s in good), sum(name in s for s in bad)
        assert observed.good_share == pytest.approx(with_good / len(good), abs=1e-9)
        assert observed.bad_share == pytest.approx(with_bad / len(bad), abs=1e-9)
        assert observed.success_after == pytest.approx(with_good / (with_good + with_bad), abs=1e-9)
        without = len(cases) - with_good - with_bad
        expected = pytest.approx((len(good) - with_good) / without, abs=1e-9) if without else None
        assert observed.success_without == expected


@given(CASES, WHO, st.sampled_from([0.05, 0.9]))
def test_the_observed_number_is_the_importance_of_the_activity_under_the_observed_strategy(cases, who, eps):
    """Whatever is merged: one sparse solve says what the engine says."""
    log = outcome_log(cases)
    mdp = learn_mdp(log, actors=who, eps=eps)
    groups = activity_states(mdp, log)
    found = observed_activities(mdp, mdp.labels["positive"], groups)
    named = {name: [mdp.states[s] for s in np.flatnonzero(states)] for name, states in groups.items()}
    bounds = group_importance(mdp, target="positive", scope=observed_strategy(mdp), groups=named)
    for name, observed in found.items():
        assert observed.good_share == pytest.approx(bounds[name].upper, abs=1e-9)


def test_merging_that_forgets_is_told_and_auto_avoids_it():
    """Whether help was given early decides what happens five steps later; merged states do not remember that."""
    middle = ["wait", "call", "wait", "call"]
    cases = [["ask", "help", *middle, "pay"]] * 40 + [["ask", *middle, "go"]] * 40
    cases += [["ask", "help", *middle, "go"]] * 3 + [["ask", *middle, "pay"]] * 3
    log = set_outcome(EventLog.from_sequences(cases), positive="pay")
    traces = io_traces(log, EVERY_EVENT_CHANCE)
    merged, chosen = learn_fitting(traces, eps=1e-9), learn_fitting(traces)
    assert merged.fit.far
    assert "points off the log (at 'help'); learn again with less merging" in merged.fit.sentence()
    assert chosen.fit.worst <= 0.02
    assert chosen.fit.observed["help"].good_share == pytest.approx(40 / 43, abs=0.02)


def test_auto_merges_where_nothing_is_lost():
    """Steps that do not depend on what was before: a small model explains new cases better than a tree."""
    random = np.random.default_rng(1)
    cases = [
        [*random.choice(list("abc"), size=random.geometric(0.3)), random.choice(["pay", "go"])] for _ in range(600)
    ]
    traces = io_traces(set_outcome(EventLog.from_sequences(cases), positive="pay"), EVERY_EVENT_CHANCE)
    found = learn_fitting(traces)
    tree = next(t for t in found.tried if t.eps == 0)
    assert tree.worst == 0
    if found.eps:
        assert found.held_out > tree.held_out
        assert found.mdp.n_states < tree.states
    assert all(t.held_out is None or t.held_out <= found.held_out for t in found.tried)


def test_no_merging_is_the_prefix_tree():
    traces = [["start", ("env", "a"), ("env", "x")]] * 3 + [["start", ("env", "b"), ("env", "x")]]
    mdp = learn_mdp(traces, eps=0)
    assert mdp.states == ("q0: start", "q1: a", "q2: b", "q3: x", "q4: x")
    assert len(prefix_tree(weighted(traces))) == 5
    assert fit(mdp, weighted(traces)).worst == 0


def test_bpic12_raw_is_explained_as_it_was_run(shared_data):
    """Defaults only, approved against the rest: observed is within 0.02 of the share counted with plain Python."""
    log = read_log(shared_data / "logs/bpic2012/BPI_Challenge_2012.xes.gz")
    prepared = prepare(log, Recipe(steps=(RecipeStep("set_outcome", {"positive": "A_APPROVED"}),)))
    having = defaultdict(set)
    for case, name in zip(log.events["case:concept:name"], log.events["concept:name"], strict=True):
        having[name].add(case)
    good = having["A_APPROVED"]
    found = prepared.learn_fitting()
    assert found.fit.worst <= 0.02
    frequent = [name for name, cases in having.items() if len(cases) >= 0.01 * 13_087]
    assert len(frequent) > 15
    for name in frequent:
        assert found.fit.observed[name].good_share == pytest.approx(len(having[name] & good) / len(good), abs=0.02)
