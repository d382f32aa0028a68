"""The page of an agent: what it says, how it is used, and that no name does harm in it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.report.conftest import HOSTILE, in_peace
from tests.report.test_page import data_of

from waypost import Strategy, explain_agent
from waypost.cases import loan
from waypost.model import MDP
from waypost.report import render_agent

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.xdist_group("browser")


def slippery(wide: int = 5) -> MDP:
    """A field of ice with a hole in the middle: a step goes astray one time in five."""
    ways = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
    end, hole = (wide - 1, wide - 1), (wide // 2, wide // 2)

    def at(x: int, y: int) -> str:
        return f"x={min(max(x, 0), wide - 1)}, y={min(max(y, 0), wide - 1)}"

    steps: dict[str, dict[str, dict[str, float]]] = {}
    for x in range(wide):
        for y in range(wide):
            steps[at(x, y)] = {}
            for name, (dx, dy) in ways.items() if (x, y) not in (end, hole) else ():
                arrows: dict[str, float] = {}
                for p, (u, v) in ((0.8, (dx, dy)), (0.1, (dy, dx)), (0.1, (-dy, -dx))):
                    arrows[at(x + u, y + v)] = arrows.get(at(x + u, y + v), 0.0) + p
                steps[at(x, y)][name] = arrows
    labels = {"goal": [at(*end)], "hole": [at(*hole)]}
    return MDP.from_dict(steps, initial=at(0, 0), labels=labels)


@pytest.fixture(scope="module")
def tossing():
    ice = slippery()
    return explain_agent(ice, Strategy.uniform(ice), target="goal")


@pytest.fixture(scope="module")
def two():
    ice = slippery()
    right = Strategy.from_dict(ice, {s: {"right": 1.0} for s in ice.states if "right" in ice.actions_of(ice.state(s))})
    return explain_agent(ice, right, target="goal", against=Strategy.uniform(ice), within=12)


@pytest.fixture
def opened(browser, tossing):
    yield from in_peace(browser, tossing.to_html())


def test_the_page_says_how_good_the_agent_is_and_where_it_loses_first(opened, tossing):
    """The numbers are those of the explanation; the costliest place comes first in words and in the table."""
    assert opened.text("h1") == "Where the agent loses 'goal'"
    assert f"{tossing.success:.3f}" in opened.text(".figures")
    worst = tossing.departures[0]
    assert f"{worst.cost:.3f}" in opened.text("#places tbody tr")
    assert opened.text("#places tbody th") == worst.state
    assert worst.state in opened.text(".findings") or tossing.groups[0].where in opened.text(".findings")
    assert opened.run("return document.querySelectorAll('#places tbody tr').length") == len(tossing.departures)
    first = tossing.mending[0]
    assert f"{first.action} in {first.state}" in opened.text(".side .card")
    assert f"{first.success:.3f}".rstrip("0") in opened.text(".side .card")


def test_a_click_on_a_field_or_a_row_tells_what_each_action_is_worth(opened, tossing):
    worst, next_worst = tossing.departures[:2]
    x, y = re.findall(r"\d+", worst.state)
    opened.press(f"#field-0-{x}-{y}")
    assert opened.text("#details h3") == worst.state
    worth = next(d for d in tossing.decisions if d.state == worst.state).values
    said = opened.text("#details")
    assert all(f"{value:.3f}".rstrip("0") in said for value in worth.values())
    assert opened.run("return document.querySelectorAll('.map .chosen').length") == 1
    opened.press("#places tbody tr:nth-child(2) .link")
    assert opened.text("#details h3") == next_worst.state
    opened.driver.find_element("css selector", "body").send_keys("\ue00c")  # escape
    assert opened.run("return document.getElementById('details').hidden")


def test_places_are_sorted_and_found(opened, tossing):
    """By every column, both ways, and back; the search looks at places and actions."""
    opened.press('#places [data-column="3"]')
    visits = sorted((d.visits for d in tossing.departures), reverse=True)
    cells = opened.run("return [...document.querySelectorAll('#places tbody td:nth-child(4)')].map((c) => c.innerText)")
    assert cells == [f"{v:.2f}" for v in visits]
    opened.press('#places [data-column="0"]')
    assert opened.text("#places tbody th") == min(d.state for d in tossing.departures)
    opened.choose("#search", tossing.departures[1].state.upper())
    assert opened.run("return document.querySelectorAll('#places tbody tr').length") == 1
    assert opened.text("#places caption").startswith("1 place")
    opened.choose("#search", "nothing like that")
    assert opened.text("#places caption").startswith("0 places")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_agents_stand_side_by_side_on_every_screen(browser, two, width, scheme):
    browser.scheme(scheme)
    browser.open(two.to_html(names=("right.npy", "uniform")), width=width, height=844)
    assert "The agent is right.npy, the other is uniform." in browser.text(".lead")
    assert "within 12 steps" in browser.text(".lead")
    assert browser.run("return document.querySelectorAll('.map svg').length") == 2
    assert "The other" in browser.text(".cards")
    assert browser.run("return document.documentElement.scrollWidth") <= width
    small = browser.run(
        "return [...document.querySelectorAll('.map svg:not(.far) text')].filter((t) => "
        "t.getBoundingClientRect().height < 8).length"
    )
    assert small == 0
    browser.run("waypost.select(0)")
    assert "other" in browser.text("#details")
    assert browser.log() == []
    assert browser.requests() == []
    browser.scheme("light")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_of_in_the_page_of_an_agent(browser, two, scheme):
    """WCAG A and AA and what axe calls best practice, with and without a place selected."""
    axe = Path(__file__).parent / "vendor" / "axe.min.js"
    browser.scheme(scheme)
    try:
        browser.open(two.to_html(notes=["explored from one start"]))
        browser.driver.execute_script(axe.read_text(encoding="utf-8"))
        for step in ("", "waypost.select(0);"):
            script = f"const done = arguments[0]; {step} axe.run(document, {{resultTypes: ['violations']}})"
            script += ".then((r) => done(r.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map("
            script += "(n) => n.html + n.failureSummary).join(' | '))))"
            assert browser.driver.execute_async_script(script) == []
    finally:
        browser.scheme("light")


def test_every_name_is_shown_as_text_and_nothing_runs(browser):
    """Names of states, actions, labels and files, on the map too."""
    names = [HOSTILE, "$\\frac{1}{0}$ 💥", "\x1b[31mred\u202e\u2028", "{{ 7*7 }} & <b>"]
    steps = {
        f"x={x}, y=0: {name}": {names[x - 1]: f"x={x + 1}, y=0: {names[x + 1]}", name: "x=9, y=0: lost"}
        for x, name in enumerate(names[:3])
    }
    steps |= {f"x=3, y=0: {names[3]}": {}, "x=9, y=0: lost": {}}
    mdp = MDP.from_dict(steps, initial=f"x=0, y=0: {HOSTILE}", labels={HOSTILE: [f"x=3, y=0: {names[3]}"]})
    found = explain_agent(mdp, Strategy.uniform(mdp), target=HOSTILE)
    page = render_agent(found, names=[HOSTILE], notes=[HOSTILE])
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert "\x1b" not in re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    browser.open(page)
    for k in range(len(found.departures)):
        browser.run("waypost.select(arguments[0])", k)
        assert "x=" in browser.text("#details h3")
    assert browser.run("return document.querySelectorAll('img, b[onload]').length") == 0
    assert browser.log() == []
    assert browser.requests() == []


def test_an_agent_without_a_map_has_its_table_beside_what_is_found(browser):
    browser.open(explain_agent(loan(), Strategy.uniform(loan()), target="Granted").to_html())
    assert browser.run("return document.querySelectorAll('.map').length") == 0
    assert browser.text("#places tbody th") == "Consultation"
    assert browser.log() == []


def test_without_matplotlib_the_page_says_how_to_get_a_map(tossing, monkeypatch):
    monkeypatch.setattr("waypost.report.agentpage.find_spec", lambda _: None)
    page = render_agent(tossing)
    assert "waypost[plot]" in page
    assert "field-0-" not in page.split("<script")[0]
    assert tossing.departures[0].state in page


def test_places_can_be_gone_through_with_the_keyboard_alone(opened, tossing):
    """Tab leads to the names, enter selects, escape comes back to where one was; a slash goes to the search."""
    keys = opened.driver.find_element("css selector", "#places tbody tr:nth-child(3) .link").send_keys
    keys("\ue007")  # enter
    assert opened.text("#details h3") == tossing.departures[2].state
    opened.driver.switch_to.active_element.send_keys("\ue00c")  # escape
    assert opened.run("return document.activeElement.textContent") == tossing.departures[2].state
    name = opened.run("return document.querySelector('.findings a').textContent")
    opened.driver.find_element("css selector", ".findings a").send_keys("\ue007")
    assert opened.text("#details h3") == name
    opened.driver.find_element("css selector", "body").send_keys("/")
    assert opened.run("return document.activeElement.id") == "search"


def test_an_agent_that_loses_nothing_is_told_so(browser):
    best = {"s0": "Apply", "Error": "Consult", "Consultation": "Apply", "Rework": "Submit"}
    browser.open(explain_agent(loan(), best, target="Granted").to_html())
    assert "No place to mend" in browser.text(".states")
    assert "does the best wherever it comes" in browser.text(".findings")
    assert browser.log() == []


def test_of_ten_thousand_places_the_page_keeps_the_costly_ones():
    """A page stays small: the part of the map in which most is lost, and the most costly places."""
    ice = slippery(101)
    found = explain_agent(ice, Strategy.uniform(ice), target="goal", within=300)
    page = render_agent(found)
    data = data_of(page)
    assert len(page) < 4_000_000
    assert data["all"] == len(found.departures) > len(data["rows"]) == 2_000
    kept = [row["numbers"][1] for row in data["rows"]]
    assert kept == sorted(kept, reverse=True)
    assert "30 x 30 of 101 x 101 fields, where most is lost" in page
    fields = {tuple(map(int, at)) for at in re.findall(r'id="field-0-(\d+)-(\d+)"', page)}
    lost = np.zeros((101, 101))
    for place in found.departures:
        x, y = map(int, re.findall(r"\d+", place.state))
        lost[x, y] = place.cost
    best = max(lost[x : x + 30, y : y + 30].sum() for x in range(72) for y in range(72))
    assert sum(lost[at] for at in fields) == pytest.approx(best)
