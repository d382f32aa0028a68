"""Strategies use only what was seen often enough, and it is told what was left out."""

from __future__ import annotations

import numpy as np
import pytest

from waypost import absolute_importance
from waypost.errors import WaypostError
from waypost.learn import learn_mdp, observed_strategy
from waypost.learn.mdp import choice_counts
from waypost.logs import Actors, EventLog
from waypost.logs.steps.outcome import set_outcome
from waypost.model import Strategy
from waypost.uncertainty.support import best_with_and_without, share_resting_on_few, supported

pytestmark = pytest.mark.filterwarnings("ignore::waypost.learn.ThinDataWarning")

WHO = Actors({"help": "customer", "luck": "customer", "wait": "customer", "*": "company"})


def lucky(n: int):
    """A log in which waiting ends well in 30 %, help in 60 %, and one lucky case of another kind did end well."""
    cases = [["ask", "wait", "pay"]] * 3 * n + [["ask", "wait", "go"]] * 7 * n
    cases += [["ask", "help", "pay"]] * 6 * n + [["ask", "help", "go"]] * 4 * n + [["ask", "luck", "pay"]]
    return learn_mdp(set_outcome(EventLog.from_sequences(cases), positive="pay"), actors=WHO, eps=0)


def test_a_lucky_branch_is_not_advised_and_is_named():
    """The best is help, as often seen, and not the branch of one case; with it the best would have been 1."""
    mdp = lucky(10)
    found = supported(mdp, 5)
    assert [(c.action, c.seen) for c in found.left_out] == [("luck", 1)]
    best, otherwise = best_with_and_without(mdp, found, "positive")
    assert best == pytest.approx(0.6)
    assert otherwise == pytest.approx(1.0)
    assert "luck" in found.sentence(best, otherwise)
    assert "would reach 1.000 instead of 0.600" in found.sentence(best, otherwise)


def test_once_is_enough_where_it_is_asked_for():
    mdp = lucky(10)
    found = supported(mdp, 1)
    assert found.mdp is mdp
    assert found.sentence(1, 1) is None


def test_where_every_choice_is_rare_what_was_observed_happens():
    """Six cases: nothing was seen ten times, so every strategy is the observed one."""
    cases = [["ask", "help", "pay"]] * 2 + [["ask", "help", "go"]] + [["ask", "wait", "go"]] * 3
    mdp = learn_mdp(set_outcome(EventLog.from_sequences(cases), positive="pay"), actors=WHO, eps=0)
    found = supported(mdp, 10)
    best, otherwise = best_with_and_without(mdp, found, "positive")
    assert best == pytest.approx(2 / 6)
    assert otherwise == pytest.approx(2 / 3)
    assert found.mdp.counts.sum() == mdp.counts.sum()
    assert choice_counts(found.mdp).max() == 6


def test_the_observed_strategy_reaches_as_much_as_in_the_log_where_nothing_was_left_out():
    cases = [["ask", "help", "pay"]] * 2 + [["ask", "help", "go"]] + [["ask", "wait", "go"]] * 3
    mdp = learn_mdp(set_outcome(EventLog.from_sequences(cases), positive="pay"), actors=WHO, eps=0)
    for model in (mdp, supported(mdp, 10).mdp):
        found = absolute_importance(model, target="positive", scope=observed_strategy(model), states=["q0: start"])
        assert found["q0: start"].upper == pytest.approx(2 / 6)


def test_how_much_of_a_bound_rests_on_few_cases_is_told():
    mdp = lucky(10)
    positive = mdp.labels["positive"]
    for action, share in (("luck", 1.0), ("help", 0.0)):
        choice = next(c for c in range(mdp.n_choices) if mdp.actions[c] == action)
        taken = np.array(mdp.first_choice[:-1])
        taken[mdp.choice_state[choice]] = choice
        strategy = Strategy.deterministic_of(mdp, taken)
        assert share_resting_on_few(strategy, positive) == pytest.approx(share)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True])
def test_what_is_no_number_of_times_is_refused(wrong):
    with pytest.raises(WaypostError, match="--min-seen"):
        supported(lucky(1), wrong)
