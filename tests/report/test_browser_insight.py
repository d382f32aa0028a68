"""Decisions, what-ifs, usual ways and segments in the page, in a real browser."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from waypost.cases import prepare_case
from waypost.importance import choice_importance, explain, without
from waypost.report import render_html
from waypost.report.wording import number, span
from waypost.story import explain_log, with_insight
from waypost.uncertainty import bootstrap, with_resampled

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
    assert [[row[0], row[2]] for row in rows] == [["Apply", "98 %"], ["Angry", "0 %"]]
    assert known == pytest.approx({"Apply": 0.98, "Angry": 0})
    assert browser.log() == []


def test_a_choice_has_its_importance_beside_its_worth_in_the_scope_that_is_shown(browser, deep):
    """The bounds are those of `choice_importance`; a page that was not told them says how to have them."""
    mdp = deep.mdp
    browser.open(render_html(deep))
    browser.press(browser.node("Consultation"))
    last = "return [...document.querySelectorAll('#details .choice')].map((r) => r.innerText.split('\\n').pop())"
    for scope in ("all", "optimal"):
        browser.press(f'#scope [data-key="{scope}"]')
        known = choice_importance(mdp, target="Granted", scope=scope)
        assert browser.run(last) == [span(known["Consultation", action]) for action in ("Apply", "Angry")]
    browser.open(render_html(with_insight(explain(mdp, target="Granted"))))
    browser.press(browser.node("Consultation"))
    assert "waypost decisions --importance all" in browser.text("#details")
    assert browser.log() == []


def test_the_choices_of_a_log_have_their_importance_too(browser):
    found = explain_log(prepare_case("loan-log"), by_state=True, choices=True)
    mdp = found.insight.decisions.mdp
    known = choice_importance(mdp, target="positive", scope="all")
    browser.open(render_html(found))
    rows = browser.run("return waypost.target.insight.decisions")
    assert rows
    for row, decision in zip(rows, found.insight.decisions, strict=True):
        for (action, *_), bounds in zip(row["actions"], row["importance"]["all"], strict=True):
            assert bounds == pytest.approx(known[decision.state, action], abs=1e-9)
        assert browser.run("return waypost.data.states[arguments[0]]", row["state"]) == decision.state
    browser.run("waypost.select(arguments[0], true)", rows[0]["state"])
    assert f"The choice {rows[0]['where']}" in browser.text("#details")
    assert browser.text("#details").count("The choice") == 1
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


def test_a_state_tells_where_its_bounds_lie_when_cases_are_drawn_again(browser):
    """Where it has an interval it says it, with how many draws; where no draw has the state it says that."""
    prepared = prepare_case("loan-log")
    mdp = prepared.learn_fitting().mdp
    drawn = bootstrap(prepared.traces, target="positive", resamples=8, seed=3, eps=prepared.eps, workers=1)
    found = with_resampled(explain(mdp, target="positive"), drawn)
    browser.open(render_html(found))
    named = drawn["optimal"].names
    moved = np.flatnonzero(drawn["optimal"].known).tolist()
    assert moved
    for k in moved[1:12:3]:
        browser.run("waypost.select(waypost.data.states.indexOf(arguments[0]), true)", named[k])
        row = browser.text('#details [data-scope="optimal"]').replace("\n", " ")
        ends = number(float(drawn["optimal"].lower[k][0])), number(float(drawn["optimal"].upper[k][1]))
        assert row.endswith(f"({ends[0]} to {ends[1]})")
        assert "in 95 % of 8 draws of the cases" in browser.text("#details")
    lost = sorted(set(range(mdp.n_states)) - set(moved))
    for k in lost[:1]:
        browser.run("waypost.select(waypost.data.states.indexOf(arguments[0]), true)", named[k])
        assert "rests on a handful of cases" in browser.text("#details")
    assert browser.log() == []


def test_intervals_of_another_model_are_not_attached():
    """Bounds after forbidding something are not those that were drawn again."""
    prepared = prepare_case("loan-log")
    mdp = prepared.learn_fitting().mdp
    drawn = bootstrap(prepared.traces, target="positive", resamples=3, seed=3, eps=prepared.eps, workers=1)
    whole, less = (explain(m, target="positive") for m in (mdp, without(mdp, ["Make offer2"])))
    told = with_resampled(less, drawn).intervals.states["all"]
    changed = {name for name in less.names if less[name]["all"] != pytest.approx(whole[name]["all"])}
    assert changed
    assert not changed & set(told)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_against_ways_patterns_and_the_small_map(browser, deep, scheme):
    axe = Path(__file__).parent / "vendor" / "axe.min.js"
    browser.scheme(scheme)
    try:
        browser.open(render_html(deep))
        browser.driver.execute_script(axe.read_text(encoding="utf-8"))
        for step in (
            "waypost.follow('routes', 0); waypost.graph.zoom(2)",
            "document.querySelector('#path-mode').click()",
        ):
            script = (
                f"const done = arguments[0]; {step}; axe.run(document, {{resultTypes: ['violations']}}).then((r) => "
            )
            script += "done(r.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html).join(' | '))))"
            assert browser.driver.execute_async_script(script) == []
    finally:
        browser.scheme("light")


def test_a_small_map_says_where_one_is_and_leads_elsewhere(browser, deep):
    browser.open(render_html(deep))
    hidden = "return document.querySelector('#minimap').hasAttribute('hidden')"
    assert browser.run(hidden)
    browser.run("waypost.graph.zoom(3)")
    assert not browser.run(hidden)
    before = browser.run("return waypost.graph.box.y")
    browser.run(
        "const map = document.querySelector('#minimap'), r = map.getBoundingClientRect();"
        "map.dispatchEvent(new PointerEvent('pointerdown', {clientX: r.left + r.width / 2, clientY: r.bottom - 4}))"
    )
    assert browser.run("return waypost.graph.box.y") > before
    browser.press("#zoom-fit")
    assert browser.run(hidden)


def test_steps_are_marked_with_who_performs_them(told, loan_log):
    performers = loan_log.log.performers
    assert performers["Withdraw"].actor == "customer"
    assert performers["Withdraw"].chooses
    assert not performers["Make offer1"].chooses
    assert told.text("#actors").split("\n") == ["Performed by", "customer (chooses)", "bank"]
    strokes = "return [...document.querySelectorAll('#actors .actor')].map((x) => getComputedStyle(x).strokeDasharray)"
    assert len(set(told.run(strokes))) == 2  # told apart without colours, too
    marked = told.run("return [...document.querySelectorAll('.node .actor')].length")
    assert marked == told.run("return document.querySelectorAll('.node[data-role=activity]').length")


def test_on_a_phone_a_name_in_a_finding_brings_the_map_with_the_details_over_it(browser, log_page):
    browser.open(log_page, width=390, height=844)
    browser.run("document.documentElement.style.scrollBehavior = 'auto'")
    box = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"
    assert browser.run(box, ".findings")["bottom"] <= browser.run(box, ".graph")["top"]
    browser.press(".findings .link")
    browser.until("return document.querySelector('.graph').getBoundingClientRect().top < 60")
    sheet = browser.run(
        "const r = document.querySelector('#details').getBoundingClientRect(); return [r.top, r.bottom]"
    )
    assert sheet[0] >= 844 * 0.45
    assert sheet[1] == 844
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    assert browser.log() == []
