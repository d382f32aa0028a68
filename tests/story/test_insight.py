"""Ways, orders, decisions and performers that reports show: counted again, slowly."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from waypost import decisions, explain, group_importance, pattern_importance, without
from waypost.cases import loan, prepare_case
from waypost.errors import UndefinedImportanceError
from waypost.learn import observed_strategy
from waypost.logs import EventLog, process_map
from waypost.logs.steps.outcome import set_outcome
from waypost.model import Strategy
from waypost.patterns import parse
from waypost.patterns.language import automaton_of
from waypost.story import explain_log, with_insight
from waypost.story.counting import telling_orders, usual_routes


@pytest.fixture(scope="module")
def ordered() -> EventLog:
    """A log in which the order of two steps decides, and nothing else does."""
    rng = np.random.default_rng(3)
    cases = []
    for _ in range(400):
        steps = list(rng.permutation(["call", "mail", "visit", "wait"]))
        good = steps.index("call") < steps.index("mail") if rng.random() < 0.9 else rng.random() < 0.5
        cases.append([*map(str, steps), "pay" if good else "go"])
    return set_outcome(EventLog.from_sequences(cases), positive="pay")


def test_courses_are_the_cases_and_their_arrows_are_those_of_the_map(ordered):
    found = process_map(ordered)
    assert sum(journey.count for journey in found.journeys) == ordered.n_cases
    arrows: Counter[tuple[int, int]] = Counter()
    for journey in found.journeys:
        for pair in pairwise([0, *journey.stops]):
            arrows[pair] += journey.count
    assert arrows == {(a.source, a.target): a.count for a in found.arrows}


def test_a_telling_order_has_the_shares_its_pattern_has(ordered):
    """The order that decides comes first, and every share is that of the pattern, counted case by case."""
    process = process_map(ordered)
    found = telling_orders(process, ["pay", "go"])
    assert found[0].pattern == "... call ... mail ..."
    names = [stop.name for stop in process.stops]
    for segment in found:
        automaton = automaton_of(parse(segment.pattern), lambda test: frozenset([names.index(test.name)]), len(names))
        counts: Counter[tuple[str, bool]] = Counter()
        for journey in process.journeys:
            role = process.stops[journey.stops[-1]].role
            counts[role, bool(automaton.accepts(list(journey.stops)))] += journey.count
        shares = [counts[role, True] / (counts[role, True] + counts[role, False]) for role in ("good", "bad")]
        assert [segment.good, segment.bad] == pytest.approx(shares)
        assert segment.cases == counts["good", True] + counts["bad", True]


def test_where_nothing_but_chance_orders_steps_no_order_is_told():
    rng = np.random.default_rng(4)
    steps = ["call", "mail", "visit", "wait", "ask"]
    cases = [[*map(str, rng.permutation(steps)), "pay" if rng.random() < 0.5 else "go"] for _ in range(300)]
    process = process_map(set_outcome(EventLog.from_sequences(cases), positive="pay"))
    assert telling_orders(process, ["pay", "go"]) == ()
    assert usual_routes(process)[0].share < 0.1


def test_decisions_of_an_explanation_are_those_of_the_strategy_it_was_given():
    mdp = loan()
    coin = Strategy.uniform(mdp)
    found = with_insight(explain(mdp, target="Granted", scope=["all", coin])).insight
    known = decisions(mdp, target="Granted", strategy=coin)
    assert found.called == "the given strategy"
    assert found.decisions.reached == known.reached
    assert [d.cost for d in found.decisions] == [d.cost for d in known]
    for segment in found.segments:
        again = pattern_importance(mdp, pattern=segment.pattern, target="Granted", scope=coin)
        assert segment.good == pytest.approx(again.lower)


def test_a_log_has_the_decisions_of_its_model_as_observed():
    prepared = prepare_case("loan-log")
    found = explain_log(prepared)
    mdp = found.insight.decisions.mdp
    known = decisions(mdp, target="positive", strategy=observed_strategy(mdp))
    assert [d.state for d in found.insight.decisions] == [d.state for d in known]
    assert found.insight.decisions.reached == pytest.approx(found.log.success, abs=0.02)


def test_a_log_without_an_activity_is_told_by_activity():
    """Its bounds are those of the model in which it is forbidden; what was counted, and decided, stays."""
    prepared = prepare_case("loan-log")
    found, whole = (explain_log(prepared, without=names) for names in ("Ask for another offer", ()))
    assert found.log.of("Ask for another offer").bounds["all"] == (0, 0)
    left = without(prepared.learn_fitting().mdp, "Ask for another offer")
    known = group_importance(left, target="positive", scope="optimal", groups={"call": "Call customer short"})
    assert found.log.of("Call customer short").bounds["optimal"] == pytest.approx(known["call"])
    assert [a.good_share for a in found.log.activities] == [a.good_share for a in whole.log.activities]
    assert [d.cost for d in found.insight.decisions] == [d.cost for d in whole.insight.decisions]
    assert found.log.notes[0].startswith("without 'Ask for another offer': bounds")
    with pytest.raises(UndefinedImportanceError, match="no strategy reaches 'positive'"):
        explain_log(prepared, without="Accept offer")
