"""What a page says first is true of everything it speaks of, and tells something."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from strategies import winnable
from waypost import explain, explain_log
from waypost.cases import gridworld, loan
from waypost.importance.results import Kind
from waypost.logs import EventLog
from waypost.model import MDP
from waypost.report.findings import findings
from waypost.report.wording import percent


def line(shares):
    """A way to the goal on which each step in turn is skipped with a probability of its own."""
    steps = {"start": {"go": "a0"}}
    for k, share in enumerate(shares):
        last = "goal" if k == len(shares) - 1 else f"a{k + 1}"
        steps[f"a{k}"] = {"go": {f"b{k}": share, last: round(1 - share, 12)}}
        steps[f"b{k}"] = {"go": last}
    return MDP.from_dict({**steps, "goal": {}}, initial="start")


def test_a_share_holds_for_the_steps_that_are_only_counted():
    """Three of five steps are named; the least share is that of a step behind "and 2 more"."""
    told = findings(explain(line([0.9, 0.8, 0.7, 0.6, 0.55]), target="goal"))
    [important] = [finding for finding in told if finding.kind == "important"]
    assert "2 more" in str(important)
    assert important.figure == percent(0.55)


@settings(max_examples=40)
@given(winnable())
def test_the_share_of_what_is_important_is_a_lower_bound_of_all_of_it(mdp):
    explanation = explain(mdp, target=mdp.states[-1])
    told = {finding.kind: finding for finding in findings(explanation)}
    lower = [
        explanation.scopes["all"].at(k).lower for k, kind in enumerate(explanation.kinds) if kind is Kind.IMPORTANT
    ]
    assert ("important" in told) == bool(lower)
    if lower:
        assert told["important"].figure == percent(min(lower))


@pytest.mark.parametrize("mdp", [loan(), gridworld()], ids=["loan", "gridworld"])
def test_no_finding_says_what_holds_anyway(mdp):
    target = "Granted" if "Granted" in mdp.index else "goal"
    for finding in findings(explain(mdp, target=target)):
        assert not (finding.figure == "0 to 100 %" and "otherwise 0 to 100 %" in str(finding))


def test_a_decision_is_told_where_something_is_at_stake():
    """Of two ways on and giving up, the last costs all; a choice between two outcomes decides nothing new."""
    ends = {"positive": {}, "negative": {}}
    steps = {"ask": {"call": "call", "mail": "mail", "negative": "negative"}, "call": {"go": "positive"}}
    steps |= {"mail": {"go": "positive", "negative": "negative"}, **ends}
    mdp = MDP.from_dict(steps, initial="ask")
    first = findings(explain(mdp, target="positive", decisions=True))[0]
    assert first.figure == "100 or 0 %"
    assert str(first) == (
        "of the runs that come to ask reach 'positive': 100 % by call or mail, 0 % by negative. 100 % of the best runs "
        "come there."
    )
    only = MDP.from_dict({"ask": {"positive": "positive", "negative": "negative"}, **ends}, initial="ask")
    assert not any("come to" in str(finding) for finding in findings(explain(only, target="positive", decisions=True)))


def told(cases):
    return {
        str(finding): finding.figure
        for finding in findings(explain_log(EventLog.from_sequences(cases), positive="pay"))
    }


def test_steps_that_every_good_case_passes_are_told_by_where_bad_ones_are_lost():
    """60 of 80 bad cases never get to `form`, 10 more never to `check`; twins are not told twice."""
    good = [["ask", "form", "stamp", "check", "call", "pay"]] * 40
    bad = (
        [["ask", "leave"]] * 60
        + [["ask", "form", "stamp", "leave"]] * 10
        + [["ask", "form", "stamp", "check", "leave"]] * 10
    )
    found = told(good + bad)
    first = next(iter(found))
    assert found[first] == "75 %"
    assert first.startswith("of the bad cases are lost before form, which every good case passes: 60 cases get there")
    assert sum("stamp" in sentence for sentence in found) == 0


def test_where_nothing_separates_that_is_said():
    found = told([["ask", "pay"], ["ask", "leave"]] * 50)
    assert found.popitem()[1] == "100 %"
    assert "no step separates" in found.popitem()[0]


def test_what_can_never_be_has_its_place_beside_decisions_and_what_is_open():
    """Law: of six findings, the second open step is left out, and not the fact that nobody wins from the mud."""
    steps = {
        "start": {"go": "gate"},
        "gate": {"go": {"hill": 0.8, "ford": 0.2}},
        "hill": {"careful": "path", "rash": {"slope": 0.5, "mud": 0.5}},
        "path": {"go": {"goal": 0.9, "mud": 0.1}, "rest": "hut"},
        "slope": {"go": "goal"},
        "hut": {"go": {"goal": 0.95, "mud": 0.05}},
        "ford": {"go": "goal"},
        "mud": {"sink": "deep"},
        "deep": {},
        "goal": {},
    }
    found = findings(explain(MDP.from_dict(steps, initial="start"), target="goal", decisions=True))
    assert [finding.kind for finding in found] == ["best", "indispensable", "important", "optional", "detrimental"]
