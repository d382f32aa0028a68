"""The page of a log in a real browser: its map, its activities, what is behind them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from pandas import DataFrame
from tests.report.conftest import outside

from waypost import explain_log
from waypost.report import render_html

pytestmark = pytest.mark.xdist_group("browser")


def test_the_map_shows_activities_with_counts_and_no_bookkeeping(told, loan_log):
    """An arrow counts what comes next among the steps shown, over all cases; nothing only says whose turn it is."""
    process = loan_log.log.process_map
    shown = set(told.run("return [...waypost.graph.nodes.keys()].map((key) => key - 1e9)"))
    known: Counter[tuple[int, int]] = Counter()
    for journey in process.journeys:
        for pair in pairwise([0, *(stop for stop in journey.stops if stop in shown)]):
            known[pair] += journey.count
    drawn = told.run("return waypost.graph.edges.map(({edge}) => [edge.s - 1e9, edge.t - 1e9, edge.label])")
    assert 8 <= len(drawn) <= len(known)
    for source, target, label in drawn:
        assert label == f"{known[source, target]:,}"
    names = told.run("return [...document.querySelectorAll('.node')].map((n) => n.dataset.label)")
    assert not any(" after " in name for name in names)
    assert any(name.startswith("Accept offer: ") for name in names)


def test_the_sliders_show_more_steps_and_more_arrows(told, loan_log):
    nodes = "return document.querySelectorAll('.node').length"
    arrows = "return document.querySelectorAll('.edge').length"
    told.choose("#ways", "0")
    fewest = told.run(arrows)
    told.choose("#detail", "14")
    assert told.run(nodes) == 14 + 3
    told.choose("#ways", "1")
    assert told.run(arrows) == len(loan_log.log.process_map.arrows) > fewest
    assert outside(told) == []


def test_an_activity_tells_its_shares_its_success_and_its_cases(told):
    told.press('.node[data-label^="Accept offer"]')
    details = told.text("#details")
    assert "489 cases of 1,000 have it" in details
    for told_share in ("100 %", "5 %", "94.5 %", "0 %"):
        assert told_share in details
    assert "application 1, <b>" in details
    assert "Pay out" in details


def test_a_step_that_comes_only_after_another_is_told_among_the_cases_that_pass_it(told):
    """Its shares among all cases would say what the step before it does; colour and words follow."""
    note = "Send papers: 131 cases, 58 % well · 0 % without"
    assert told.run(f"return !!document.querySelector('.node[data-label^=\"{note}\"]')")
    told.press('.node[data-label^="Send papers"]')
    assert "Of the 239 cases that pass Ask for papers, 58 % end well with it, 0 % without it." in told.text("#details")
    assert "to begin with" not in told.text("body")


def test_an_activity_tells_by_what_its_cases_differ_to_begin_with(browser):
    rows = []
    for kind, called, pays in (("rich", 160, 0.7), ("poor", 40, 0.3)):
        for case in range(200):
            group, of = (called, case) if case < called else (200 - called, case - called)
            path = [*(["call"] if case < called else []), "pay" if of < pays * group else "go"]
            rows += [(f"{kind} {case}", name, kind) for name in ["ask", *path]]
    found = explain_log(DataFrame(rows, columns=["case", "activity", "kind"]), positive="pay")
    browser.open(render_html(found))
    browser.press('.node[data-label^="call"]')
    assert "But cases with it differ in kind to begin with: of cases alike in that, 62 %" in browser.text("#details")
    assert browser.log() == []


def test_a_finding_leads_to_its_activity_even_if_it_was_not_shown(told):
    told.choose("#detail", "2")
    told.press(".findings .link")
    name = told.text("#details h3")
    assert told.run("return !!document.querySelector('.node.selected')")
    assert told.run("return document.querySelector('.node.selected').dataset.label").startswith(name)


def test_the_states_behind_an_activity_are_there_on_request(told):
    told.press('.node[data-label^="Call customer short"]')
    told.press("#details details summary")
    told.press("#details details .link")
    assert told.run("return waypost.view") == "around"
    assert "Call customer short" in told.text("#details h3")


def test_colours_of_the_map_say_which_number_they_show(told):
    for colour, word in (("success", "succeed"), ("cases", "cases"), ("contrast", "good")):
        told.choose("#colour", colour)
        assert word in told.run("return document.querySelector('.node[data-label^=\"Accept\"] .note').textContent")


def test_waiting_times_are_there_on_demand(told):
    told.choose("#arrow-text", "waiting")
    numbers = told.run("return [...document.querySelectorAll('.number')].map((n) => n.textContent)")
    assert any("hour" in text or "day" in text for text in numbers)
