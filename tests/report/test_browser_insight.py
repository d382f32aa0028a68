"""Decisions, what-ifs, usual ways and segments in the page, in a real browser."""

from __future__ import annotations

from itertools import pairwise

import pytest

from waypost.cases import prepare_case
from waypost.report import render_html
from waypost.story import explain_log, with_insight

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="session")
def deep(granted):
    """The loan example with what follows from it."""
    return with_insight(granted)


def test_a_clicked_state_tells_what_its_choices_are_worth_and_what_forbidding_it_leaves(browser, deep):
    browser.open(render_html(deep))
    browser.press(browser.node("Consultation"))
    details = browser.text("#details")
    assert "After it\n0 to 0.98" in details.replace("\n\n", "\n")
    assert "Forbidding it leaves 0.465 at best, instead of 0.98." in details
    assert "The choice in Consultation" in details
    rows = browser.run("return [...document.querySelectorAll('#details .choice')].map((r) => r.innerText.split('\\n'))")
    known = deep.insight.decisions["Consultation"].values
    assert [[row[0], row[-1]] for row in rows] == [["Apply", "98 %"], ["Angry", "0 %"]]
    assert known == pytest.approx({"Apply": 0.98, "Angry": 0})
    assert browser.log() == []


def test_a_usual_way_is_drawn_in_the_picture_and_taken_away_again(browser, deep):
    browser.open(render_html(deep))
    assert browser.text(".trails li").split("\n")[0].strip().startswith("43.6 %")
    browser.press('[data-trail="routes 1"]')
    on = "return waypost.graph.edges.filter(({made}) => made.classList.contains('onpath')).map(({edge}) => "
    on += "waypost.data.states[edge.s] + ' ' + waypost.data.states[edge.t])"
    taken = deep.insight.routes[1]
    steps = [name for block in taken.blocks for name in block.steps]
    assert sorted(browser.run(on)) == sorted(" ".join(pair) for pair in pairwise(steps))
    browser.press('[data-trail="routes 1"]')
    assert browser.run(on) == []
    assert browser.log() == []


def test_an_activity_tells_of_the_choices_after_it_with_intervals(browser):
    found = explain_log(prepare_case("loan-log"), resamples=20)
    browser.open(render_html(found))
    browser.run("waypost.selectStop(waypost.data.map.stops.findIndex((s) => s.name === 'Make offer1'), true)")
    details = browser.text("#details")
    assert "The choice by customer after Make offer1" in details
    assert "9.2 points of success are lost." in details
    assert "Usual ways through here" in details
    score = found.log.of("Make offer1")
    low, high = (round(100 * x) for x in score.intervals["bad_share"])
    assert f"({low} to {high} %)" in details
    assert browser.log() == []
