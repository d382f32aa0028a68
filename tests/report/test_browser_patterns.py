"""Patterns typed into the page: its matcher and its numbers against the library's."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.report.conftest import random_paths

from waypost.cases import loan, prepare_case
from waypost.errors import NameUnknownError, PatternError
from waypost.importance import explain
from waypost.model import MDP
from waypost.patterns import parse, pattern_importance
from waypost.patterns.declare import PAIRED
from waypost.patterns.language import automaton_of
from waypost.patterns.letters import natural
from waypost.report import render_html
from waypost.solve import reachability

pytestmark = pytest.mark.xdist_group("browser")


TYPED = [
    "... A ...", "A B", "... A B ...", "A .{2,} ...", "(A | B)* D",
    "not(... A ...)", "... A ... & ... B ...", "!A* B ...",
    "... A{2,3} ...", "A? B? C? D?", ". . .", "...", "(A B)* ...", "... (A | (B C)){1,2} D", '"A" ... "B"', "A{0,} !A*",
    "not(A not(B ...))", "(... A ...) & not(... B ...)", "... !(A | B) ...", "A ... D | B ... C",
]  # fmt: skip
TEMPLATED = [
    *(f"{name}(A, B)" for name in PAIRED), "init(A)", "existence(A)", "existence(A, 2)", "absence(B)", "absence(B, 3)",
    "exactly(A, 2)", "response(A, B) & not(init(C))",
]  # fmt: skip
WRONG = ["A |", "(A", "A)", "A{2", "A{3,2}", "!(A B)", "respons(A, B)", "response(A)", '"A', "A & ", "Z", "{2}", ""]


def test_patterns_match_in_the_page_what_they_match_in_the_library(browser, loan_page):
    """The same words in the same patterns, templates included; what one refuses the other refuses."""
    rng = np.random.default_rng(5)
    words = [[int(k) for k in rng.integers(0, 4, size=int(rng.integers(0, 9)))] for _ in range(250)]
    browser.open(loan_page)
    matched = browser.run(
        "return arguments[0].map((text) => waypost.matchesOf(text, 'ABCD', arguments[1]))", [*TYPED, *TEMPLATED], words
    )
    for text, found in zip([*TYPED, *TEMPLATED], matched, strict=True):
        automaton = automaton_of(parse(text), lambda test: frozenset(["ABCD".index(test.name)]), 4)
        assert found == [bool(automaton.accepts(word)) for word in words], text
    for text in WRONG:
        with pytest.raises((PatternError, KeyError, ValueError)):
            automaton_of(parse(text), lambda test: frozenset(["ABCD".index(test.name)]), 4)
        assert isinstance(browser.run("return waypost.matchesOf(arguments[0], 'ABCD', [[0]])", text), str), text


def _reaches(mdp: MDP) -> bool:
    return bool(reachability(mdp, target="goal", optimum="max")[mdp.initial] > 0)


def assert_same_bounds(browser, mdp, target, patterns, by="state"):
    """What the page says of each pattern is what the library says, in both scopes."""
    for text in patterns:
        found = browser.run("return waypost.patternBounds(arguments[0])", text)
        assert set(found) == {"all", "optimal"}
        for scope, bounds in found.items():
            known = pattern_importance(mdp, pattern=text, target=target, scope=scope, by=by)
            assert bounds["lower"] == pytest.approx([known.lower] * 2, abs=1e-7), (text, scope)
            assert bounds["upper"] == pytest.approx([known.upper] * 2, abs=1e-7), (text, scope)
            for side, bound in (("lower", known.lower), ("upper", known.upper)):  # 0 and 1 are facts
                assert {0, 1}.intersection(bounds[side]) == {0, 1}.intersection([bound]), (text, scope, side)
            assert [bounds["never"], bounds["always"]] == [known.upper == 0, known.lower == 1], (text, scope)


def test_the_importance_of_a_typed_pattern_is_the_librarys(browser):
    """Over all and over the best strategies, with actions and without, on random models with loops and dead ends."""
    models = [(loan(), "Granted"), *((mdp, "goal") for mdp, _ in random_paths(3, 14) if _reaches(mdp))]
    assert len(models) > 8
    for mdp, target in models:
        browser.open(render_html(explain(mdp, target=target)))
        names = [s for s in mdp.states if s != target][:4]
        a, b = (f'"{names[k]}"' for k in (1, 2))
        own = {k: f'"{mdp.actions[mdp.first_choice[k]]}"' for k in (0, 1)}
        start = f'"{names[0]}"/{own[0]}'
        patterns = [f"... {a} ...", f"... {a} ... {b} ...", f"... {a} {b} ...", f"not(... {a} ...)"]
        patterns += [f"response({a}, {b})", f"... {a}/{own[1]} ...", f"{start} ...", f"... /{own[1]} ... {b} ..."]
        patterns += [f"... !{start}{{2}} ...", f"not(... {a}/{own[1]} .)", f"precedence({start}, {a})"]
        assert_same_bounds(browser, mdp, target, patterns)


def test_a_name_that_is_only_an_action_means_it_and_one_of_neither_is_refused(browser):
    mdp = loan()
    browser.open(render_html(explain(mdp, target="Granted")))
    assert_same_bounds(browser, mdp, "Granted", ["... Consult ...", "... Submit ... Granted", "... /Consult ..."])
    wrong = {"... Consult/Fly ...": "taken in no state", "... /Fly ...": "no action", "... Consult/ ...": "is missing"}
    for text, why in wrong.items():
        browser.run("waypost.builder.box.text = arguments[0]; waypost.path || waypost.builder.reset()", text)
        browser.run("waypost.builder.box.ask()")
        assert why in browser.text("#pattern-answer")
        with pytest.raises((PatternError, NameUnknownError)):
            pattern_importance(mdp, pattern=text, target="Granted", scope="all")
    assert browser.log() == []


def test_states_that_only_say_whose_turn_it_is_are_not_read(browser):
    """A model of a log is read by activity, as `waypost pattern` does."""
    mdp = prepare_case("loan-log").learn_fitting().mdp
    assert natural(mdp) == "activity"
    browser.open(render_html(explain(mdp, target="positive")))
    labels = [f'"{name}"' for name in mdp.labels if name not in {"init", "positive", "negative"}][:6]
    patterns = [f"... {a} {b} ..." for a, b in pairwise(labels)] + [
        f"... {a}{{2,}} ... /{b} ..." for a, b in _moves(mdp)
    ]
    assert_same_bounds(browser, mdp, "positive", patterns, by="activity")


def _moves(mdp: MDP) -> list[tuple[str, str]]:
    """Some labels, each with an action."""
    actions = [f'"{action}"' for action in dict.fromkeys(mdp.actions)][:3]
    return list(zip([f'"{name}"' for name in mdp.labels][:3], actions, strict=True))


def test_a_typed_pattern_is_told_in_both_scopes(browser):
    browser.open(render_html(explain(loan(), target="Granted")))
    browser.press("#path-mode")
    browser.driver.find_element("css selector", "#pattern-text").send_keys("... Error ... Application+ ...")
    browser.until("return document.querySelector('#pattern-answer [data-scope=optimal]')")
    rows = browser.text("#pattern-answer").split("\n")
    assert [row for row in rows if " to " in row] == ["0 to 0.103", "0 to 0.05"]
    browser.run("waypost.builder.box.text = '... s0 ...'; waypost.builder.box.ask()")
    browser.until("return document.querySelector('#pattern-answer').innerText.includes('Every run')")
    browser.run("waypost.builder.box.text = '... Granted Granted'; waypost.builder.box.ask()")
    browser.until("return document.querySelector('#pattern-answer').innerText.includes('No run')")
    assert browser.log() == []


def test_a_pattern_is_typed_or_clicked_together_and_counted_over_the_cases(told, loan_log):
    told.press("#path-mode")
    told.driver.find_element("css selector", "#pattern-text").send_keys('... "Ask for papers" ... "Accept offer" ...')
    names = [stop.name for stop in loan_log.log.process_map.stops]
    order = (names.index("Ask for papers"), names.index("Accept offer"))
    cases = sum(
        journey.count
        for journey in loan_log.log.process_map.journeys
        if all(k in journey.stops for k in order)
        and journey.stops.index(order[0]) < max(k for k, s in enumerate(journey.stops) if s == order[1])
    )
    assert f"{cases:,} cases match" in told.text("#pattern-count")
    told.run("document.querySelector('#pattern-text').value = ''; waypost.builder.box.text = ''")
    told.run(
        "document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click', {bubbles: true}))",
        f'.node[data-stop="{order[1]}"]',
    )
    assert told.run("return waypost.builder.box.text") == '... "Accept offer" ...'
    told.driver.find_element("css selector", "#pattern-text").send_keys(" (")
    assert "In this pattern a step is missing at the end." in told.text("#pattern-answer")
