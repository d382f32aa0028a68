"""Groups of departures: what the places in which most is lost have in common, and where one of two agents is better."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import mdps
from waypost import MDP, Strategy, explain
from waypost.agents import explain_agent
from waypost.errors import WaypostError
from waypost.report.agents import SAME
from waypost.report.strategies import strategy_findings
from waypost.story import with_insight


def rooms(*, width: int = 12) -> MDP:
    """Two corridors, with a key and without: who leaves the first without the key is lost."""
    steps: dict = {}
    for key in ("no", "yes"):
        for x in range(width):
            on = f"x={x + 1}, key={key}"
            steps[f"x={x}, key={key}"] = {"on": on, "trap": {"lost": 0.5, on: 0.5}, "wait": f"x={x}, key={key}"}
    steps["x=0, key=no"]["take"] = "x=0, key=yes"
    steps[f"x={width}, key=yes"] = {}
    steps[f"x={width}, key=no"] = {"back": "x=0, key=no"}
    return MDP.from_dict({**steps, "lost": {}}, initial="x=0, key=no", labels={"won": [f"x={width}, key=yes"]})


def careless(mdp: MDP) -> dict:
    """An agent that takes the key, and with it runs into a trap one time in ten beyond the middle."""
    wrong = {"on": 0.9, "trap": 0.1}
    late = {name: wrong for name in mdp.states if "key=yes" in name and int(name.split(",")[0][2:]) in range(6, 12)}
    usual = {name: {"on": 0.999, "trap": 0.001} for k, name in enumerate(mdp.states) if "on" in mdp.actions_of(k)}
    return {**usual, **late, "x=0, key=no": "take"}


@pytest.mark.parametrize("within", [None, 40])
def test_what_was_planted_is_found(within):
    """Law: places that were made alike, and worse than the others, are told as one group, by what they share."""
    mdp = rooms()
    found = explain_agent(mdp, careless(mdp), target="won", within=within)
    first = found.groups[0]
    assert (first.where, first.places) == ("x>=6", 6)
    assert list(first.taken) == ["trap"]
    assert list(first.best) == ["on"]
    assert first.cost == pytest.approx(sum(p.cost for p in found.places if found.mdp.where("x>=6")[mdp.state(p.state)]))
    words = found.summary(top=2)
    assert "where x>=6, 6 places met" in words
    assert "by trap, where on is best" in words


def test_a_few_places_that_hold_most_are_told_one_by_one():
    """Law: groups stand in only where the places that are told hold less than half of what is lost."""
    mdp = rooms()
    found = explain_agent(mdp, careless(mdp), target="won")
    assert "6 places" not in found.summary(top=6)
    assert found.departures[0].state in found.summary(top=6)


@given(mdps(), st.integers(0, 2**16), st.none() | st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_groups_hold_no_more_than_is_lost_and_what_they_say(mdp, seed, within):
    """Law: no loss is in two groups, and each lies in states in which its condition holds."""
    weights = np.random.default_rng(seed).integers(0, 3, mdp.n_choices) + 1e-3
    strategy = Strategy.memoryless(mdp, weights / np.bincount(mdp.choice_state, weights=weights)[mdp.choice_state])
    try:
        found = explain_agent(mdp, strategy, target=mdp.states[-1], within=within)
    except WaypostError:
        return
    lost = found.conduct.lost(found.mdp)
    assert sum(group.cost for group in found.groups) <= lost.sum() * (1 + 1e-9)
    for group in found.groups:
        assert group.cost == pytest.approx(sum(group.taken.values())) == pytest.approx(sum(group.best.values()))
        if group.where and "no " not in group.where:
            assert group.cost <= lost[mdp.where(group.where)].sum() * (1 + 1e-9)


@given(mdps(), st.integers(0, 2**16), st.none() | st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_what_one_agent_gains_and_gives_up_is_how_much_better_it_is(mdp, seed, within):
    """Law: what this agent loses more, less what the other does, is the difference of their successes."""
    draw = np.random.default_rng(seed)

    def drawn() -> Strategy:
        weights = draw.integers(0, 3, mdp.n_choices) + 1e-3
        if draw.random() < 0.5:  # it takes one action, and may go round for ever
            weights *= weights == np.maximum.reduceat(weights, mdp.first_choice[:-1])[mdp.choice_state]
        return Strategy.memoryless(mdp, weights / np.bincount(mdp.choice_state, weights=weights)[mdp.choice_state])

    try:
        found = explain_agent(mdp, drawn(), target=mdp.states[-1], against=drawn(), within=within)
    except WaypostError:
        return
    margin = found.behind.cost - found.ahead.cost
    assert margin == pytest.approx(found.against.success - found.success, abs=1e-8)
    better = found.against.success - found.success > SAME * max(found.against.success, found.success)
    assert ("The other agent is better" in found.summary()) == better


def test_agents_that_lose_nothing_are_told_apart_by_their_steps():
    """Law: of two that always arrive it is said how long each takes, and that where they differ nothing is lost."""
    mdp = rooms()
    straight = {name: "on" for k, name in enumerate(mdp.states) if "on" in mdp.actions_of(k)} | {"x=0, key=no": "take"}
    idling = {**straight, "x=3, key=yes": {"on": 0.1, "wait": 0.9}}
    words = explain_agent(mdp, idling, target="won", against=straight).summary()
    assert "The other agent reaches it just as often, after 13.0 steps on average; this one after 22.0." in words
    assert "They differ in 1 place that either meets, and neither loses anything there." in words
    same = explain_agent(mdp, straight, target="won", against=straight).summary()
    assert "The other agent reaches it just as often." in same


def test_where_both_do_the_same_one_may_come_more_often():
    """Law: what one agent loses more in a place where they do the same is told, with the reason."""
    mdp = MDP.from_dict(
        {
            "s": {"safe": {"won": 0.5, "edge": 0.5}, "bold": {"edge": 1.0}},
            "edge": {"jump": {"won": 0.5, "lost": 0.5}, "walk": "won"},
            "won": {},
            "lost": {},
        },
        initial="s",
    )
    agents = [Strategy.from_dict(mdp, {"s": first, "edge": "jump"}) for first in ("safe", "bold")]
    found = explain_agent(mdp, agents[0], target="won", against=agents[1])
    assert found.ahead.places == {"edge": 0.25}
    assert "gives up 0.25: in edge, where both do the same, but the other comes more often." in found.summary()
    told = [with_insight(explain(mdp, target="won", scope=["all", "optimal", agent])) for agent in agents]
    page = [f"{finding.figure} {finding}" for finding in strategy_findings(told, ["safe", "bold"])]
    assert (
        page[0] == "25 points more of the runs reach 'won' with safe than with bold: 75 % and 50 %; 100 % is possible."
    )
    assert page[1].endswith("lost by bold in edge: both take jump, and bold comes there more often; walk is best.")


def test_what_is_lost_by_going_round_is_lost_where_what_leads_on_is_never_done():
    """Law: an agent that only has to go on is told where, and what leads on; so is one that is put beside another."""
    mdp = rooms()
    straight = {name: "on" for k, name in enumerate(mdp.states) if "on" in mdp.actions_of(k)} | {"x=0, key=no": "take"}
    found = explain_agent(mdp, {**straight, "x=3, key=yes": "wait"}, target="won", against=straight)
    assert (found.behind.cost, found.ahead.cost) == (1.0, 0.0)
    assert [(d.state, d.best, d.cost) for d in found.departures] == [("x=3, key=yes", ("on",), 1.0)]
    assert "1 in x=3, key=yes, in which it goes round for ever, where wait is taken and on is best." in found.summary()
    assert "The other gains 1: in x=3, key=yes." in found.summary()


@given(mdps(), st.integers(0, 2**16), st.booleans())
@settings(max_examples=120, deadline=None)
def test_all_that_is_lost_is_lost_in_some_place_though_agents_go_round(mdp, seed, tossing):
    """Law: costs of places add up to what is lost, and where an agent goes round it never does what leads on."""
    draw = np.random.default_rng(seed)
    picked = [int(draw.integers(low, high)) for low, high in pairwise(mdp.first_choice.tolist())]
    weights = np.isin(np.arange(mdp.n_choices), picked) + (0.5 * draw.integers(0, 2, mdp.n_choices) if tossing else 0.0)
    strategy = Strategy.memoryless(mdp, weights / np.bincount(mdp.choice_state, weights=weights)[mdp.choice_state])
    try:
        found = explain_agent(mdp, strategy, target=mdp.states[-1])
    except WaypostError:
        return
    assert sum(d.cost for d in found.departures) == pytest.approx(found.best - found.success, abs=1e-8)
    for place in found.departures:
        if np.isinf(place.visits) and place.cost > 0:
            assert not {*place.best} & {*place.taken}


def test_what_to_change_first_is_how_often_the_changed_agent_succeeds():
    """Law: an agent that does the best in the places mended so far succeeds as often as is told."""
    mdp = rooms()
    straight = {name: "on" for k, name in enumerate(mdp.states) if "on" in mdp.actions_of(k)} | {"x=0, key=no": "take"}
    astray = {**straight, "x=3, key=yes": "wait", "x=5, key=yes": "wait"}
    found = explain_agent(mdp, astray, target="won")
    assert [(m.state, m.action, m.success) for m in found.mending] == [
        ("x=3, key=yes", "on", 0.0),
        ("x=5, key=yes", "on", 1.0),
    ]
    assert "makes it 0 (on in x=3, key=yes), then 1 (on in x=5, key=yes)." in found.summary()
    assert explain_agent(mdp, straight, target="won").mending == ()


@given(mdps(), st.integers(0, 2**16), st.none() | st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_every_change_is_told_as_it_turns_out(mdp, seed, within):
    """Law: success after each change is that of the agent so changed, explained by itself."""
    weights = np.random.default_rng(seed).integers(0, 3, mdp.n_choices) + 1e-3
    strategy = Strategy.memoryless(mdp, weights / np.bincount(mdp.choice_state, weights=weights)[mdp.choice_state])
    try:
        found = explain_agent(mdp, strategy, target=mdp.states[-1], within=within)
    except WaypostError:
        return
    rules = strategy.to_dict()
    for step in found.mending:
        rules[step.state] = {step.action: 1.0}
        changed = explain_agent(mdp, rules, target=mdp.states[-1], within=within)
        assert step.success == pytest.approx(changed.success, abs=1e-12)
    if found.departures and found.departures[0].cost > 1e-9:
        assert found.mending[0].state == found.departures[0].state
