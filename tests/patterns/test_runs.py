"""Finding patterns and ways: every fast number equals a slow one, and counts on a log."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
import waypost
from pattern_oracles import holds, patterns, tree_of
from strategies import mdps
from waypost.cases import loan
from waypost.learn import prepare
from waypost.logs import EventLog
from waypost.logs.steps.outcome import set_outcome
from waypost.patterns import parse, runs, step
from waypost.patterns.declare import PAIRED
from waypost.patterns.language import automaton_of
from waypost.patterns.letters import silent_states
from waypost.patterns.matching import _template, in_a_row
from waypost.patterns.runs import Runs
from waypost.patterns.search import Search
from waypost.patterns.ways import folded, walks

CASES = st.lists(st.sampled_from("ABC"), min_size=0, max_size=5)


@st.composite
def logs(draw):
    """Cases with their outcome; at least one is a success."""
    cases = draw(st.lists(st.tuples(CASES, st.booleans()), min_size=1, max_size=12))
    log = [[*case, "positive" if good else "negative"] for case, good in cases]
    return [*log, [*draw(CASES), "positive"]]


def shares(runs: Runs, pattern) -> np.ndarray:
    names = {name: frozenset([k]) for k, name in enumerate(runs.names)}
    nowhere = frozenset()
    automaton = automaton_of(pattern, lambda test: names.get(test.name, nowhere), len(names) + 1)
    return runs.shares(automaton, np.arange(len(names)))


@given(logs(), st.sampled_from(sorted(PAIRED)))
def test_a_declare_template_holds_in_as_many_cases_as_counting_says(log, template):
    """Among the successful cases by importance, among all by the shares of the runs."""
    mdp = tree_of(log)
    for name in "AB":
        assume(name in mdp.labels)
    pattern = parse(f"{template}(A, B)")
    good = [case for case in log if case[-1] == "positive"]
    bad = [case for case in log if case[-1] != "positive"]
    found = waypost.pattern_importance(mdp, pattern=pattern, target="positive", scope="all", exact=True)
    fulfilled = sum(holds(template, "A", "B", case) for case in good)
    assert found.lower == found.upper
    assert found.lower * len(good) == fulfilled
    runs = Runs.of(mdp, waypost.Strategy.uniform(mdp), mdp.where("positive"), "activity")
    counted = [fulfilled / len(log), sum(holds(template, "A", "B", case) for case in bad) / len(log)]
    assert shares(runs, pattern) == pytest.approx(counted, abs=1e-12)


@st.composite
def played(draw):
    mdp = draw(mdps())
    strategy = waypost.Strategy.uniform(mdp)
    chain = [
        {y: sum(row.get(y, 0) for row in mine) / len(mine) for y in {y for row in mine for y in row}}
        for mine in oracles.rows(mdp)
    ]
    goal = {int(t): 1 for t in np.flatnonzero(mdp.where("goal"))}
    reached = oracles.expected(chain, goal)[mdp.initial]
    assume(reached > 0)
    return mdp, strategy, float(reached)


@given(played(), patterns(["q0", "q1", "q2"]))
def test_the_share_of_runs_is_the_importance_under_the_strategy(drawn, pattern):
    mdp, strategy, reached = drawn
    assume({test.name for test in pattern.tests()} <= set(mdp.states))
    runs = Runs.of(mdp, strategy, mdp.where("goal"), "state")
    assert runs.totals == pytest.approx([reached, 1 - reached], abs=1e-9)
    right = waypost.pattern_importance(mdp, pattern=pattern, target="goal", scope=strategy).upper
    assert shares(runs, pattern)[0] / runs.totals[0] == pytest.approx(right, abs=1e-9)


@given(played())
def test_all_pairs_at_once_are_the_pairs_one_by_one(drawn):
    """Directly and eventually follows, from the matrix of visits; templates on the watched states."""
    mdp, strategy, _ = drawn
    runs = Runs.of(mdp, strategy, mdp.where("goal"), "state")
    search = Search(runs, 1000, None)
    found = [*search._direct(), *search._eventual()]
    for candidate in found:
        one = shares(runs, in_a_row([step(runs.names[k]) for k in candidate.steps], candidate.gaps))
        assert candidate.match == pytest.approx(tuple(one), abs=1e-9)
    for a in search.usable:
        for b in search.usable:
            if a != b:
                watched = runs.watched(np.concatenate([search.states[a], search.states[b]]))
                for kind in ("alternate_precedence", "not_coexistence"):
                    one = shares(runs, PAIRED[kind](step(runs.names[a]), step(runs.names[b])))
                    assert watched.shares(_template(kind), np.array([0, 1])) == pytest.approx(one, abs=1e-9)


def test_what_decides_the_outcome_is_found_first():
    """B directly after A is what makes cases succeed; nothing else tells as much."""
    rng = np.random.default_rng(1)
    log = []
    for _ in range(100):
        case = rng.choice(list("ABC"), size=4).tolist()
        good = any(x + y == "AB" for x, y in pairwise(case))
        log.append([*case, "positive" if good else "negative"])
    mdp = tree_of(log)
    tried: list[int] = []
    told = []
    result = waypost.find_patterns(
        mdp, target="positive", strategy=waypost.Strategy.uniform(mdp), by="activity", top=5, effort=300,
        progress=lambda done, _: tried.append(done), telling=told.append,
    )  # fmt: skip
    first = result[0]
    assert str(first.pattern) == "... A B ..."
    assert (first.importance, first.contrast) == pytest.approx((1.0, 0.0), abs=1e-9)
    assert first.support == pytest.approx(result.reached)
    assert first.bounds("all", exact=True).lower == 1
    assert [t.information for t in result] == sorted((t.information for t in result), reverse=True)
    assert tried == sorted(tried)
    assert any(str(t.pattern) == "... A B ..." for t in told)


def test_no_segment_restates_another():
    """Of two that always come together one is left."""
    log = [["A", "B", "C", "positive"]] * 5 + [["B", "A", "D", "negative"]] * 5 + [["A", "C", "negative"]]
    mdp = tree_of(log)
    result = waypost.find_patterns(mdp, target="positive", strategy=waypost.Strategy.uniform(mdp), by="activity")
    runs = Runs.of(mdp, waypost.Strategy.uniform(mdp), mdp.where("positive"), "activity")
    for one in result:
        for other in result:
            if one is not other:
                p, q, both = (shares(runs, x).sum() for x in (one.pattern, other.pattern, one.pattern & other.pattern))
                assert abs(both - p * q) < 0.9 * np.sqrt(p * (1 - p) * q * (1 - q))


@given(logs())
def test_the_usual_ways_are_the_variants_of_the_log(log):
    """Each has the share of the successful cases that its pattern matches, and folded ways are what they say."""
    mdp = tree_of(log)
    good = [case[:-1] for case in log if case[-1] == "positive"]
    ways = waypost.usual_ways(mdp, target="positive", strategy=waypost.Strategy.uniform(mdp), top=50, by="activity")
    assert sum(way.share for way in ways) >= 1 - 1e-9
    for way in ways:
        found = waypost.pattern_importance(mdp, pattern=way.pattern, target="positive", scope="all")
        assert way.share == pytest.approx(found.upper, abs=1e-12)
        blocks = [(part.steps, part.least, part.most) for part in way.parts]
        fitting = [
            case
            for case in good
            if [steps for steps, _ in folded(["start", *case, "positive"])] == [steps for steps, _, _ in blocks]
        ]
        assert way.share * len(good) >= len(fitting) - 1e-9
        assert way.simple
        if len(way.run) > 3:
            assert way.importance("all").upper == pytest.approx(
                path_share(good, [mdp.states[0], *way.run[2::2]]), abs=1e-12
            )


def path_share(good: list[list[str]], states: list[str]) -> float:
    begin = [name.partition(": ")[2] for name in states[1:-1]]
    return sum(case[: len(begin)] == begin for case in good) / len(good)


@given(played())
def test_walks_come_with_the_most_probable_first(drawn):
    mdp, strategy, reached = drawn
    seen, total, last = set(), 0.0, 1.0
    for _, (likely, walk) in zip(range(50), walks(strategy, mdp.where("goal")), strict=False):
        assert likely <= last + 1e-12
        assert tuple(walk) not in seen
        seen.add(tuple(walk))
        total, last = total + likely, likely
    assert total <= reached + 1e-9


def test_loops_are_folded_and_counted():
    log = [["ask", *["call"] * n, "positive"] for n in (2, 3, 3, 5)] + [["ask", "negative"]]
    mdp = tree_of(log)
    ways = waypost.usual_ways(mdp, target="positive", strategy=waypost.Strategy.uniform(mdp), by="activity")
    assert [str(way) for way in ways] == ["start, ask, call (2 to 5 times), positive"]
    assert ways[0].share == pytest.approx(1)


def test_a_log_in_which_nobody_chooses_is_read_step_by_step():
    """Every step of its model is chance, and still a step."""
    log = EventLog.from_sequences([["ask", "help", "pay"]] * 30 + [["ask", "pay"]] * 10 + [["ask", "go"]] * 20)
    mdp = prepare(set_outcome(log, positive="pay"), eps=0.0).learn_fitting().mdp
    assert set(mdp.actions) == {"env", "(final)"}
    assert not silent_states(mdp, "activity").any()
    ways = waypost.usual_ways(mdp, target="positive", by="activity")
    assert {str(way): round(way.share, 9) for way in ways} == {
        "start, ask, help, pay, positive": 0.75,
        "start, ask, pay, positive": 0.25,
    }


def test_the_ways_of_a_model_too_large_for_a_dense_matrix_are_found(monkeypatch):
    monkeypatch.setattr(runs, "MOST_STEPS", 3)
    ways = waypost.usual_ways(loan(), target="Granted", top=3)
    assert [round(way.share, 4) for way in ways] == [0.4362, 0.4362, 0.0459]


def test_one_way_round_a_loop_is_one_way_and_the_search_ends():
    """Fewer ways than asked for: the runs that are left grow rarer for ever, and nobody waits for them."""
    mdp = waypost.MDP.from_dict({"s": {"a": {"s": 0.5, "t": 0.5}}, "t": {}}, initial="s")
    (way,) = waypost.usual_ways(mdp, target="t", top=3)
    assert way.parts[0].steps == ("s",)
    assert way.share > 1 - 1e-5


def test_a_step_after_which_all_is_decided_is_no_part_of_a_segment():
    """It is the outcome under another name, unless there is nothing else to tell of."""
    log = [["A", "B", "pay", "positive"]] * 4 + [["B", "A", "pay", "positive"], ["A", "B", "quit", "negative"]]
    log += [["B", "A", "quit", "negative"]] * 4
    mdp = tree_of(log)
    result = waypost.find_patterns(mdp, target="positive", strategy=waypost.Strategy.uniform(mdp), by="activity")
    assert len(result) > 0
    assert not any(test.name in ("pay", "quit") for one in result for test in one.pattern.tests())
