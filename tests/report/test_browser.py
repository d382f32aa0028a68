"""The page in a real browser: what a reader does, and what must never happen."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.conftest import in_peace, outside, random_paths

from waypost.cases import loan
from waypost.errors import WaypostError
from waypost.importance import explain, path_importance
from waypost.model import MDP, Strategy
from waypost.report import needs, render_html
from waypost.solve import reachability

pytestmark = pytest.mark.xdist_group("browser")
CONTROLS = "a[href], button, input, select, summary, [tabindex]"


@pytest.fixture
def page(browser, loan_page):
    yield from in_peace(browser, loan_page)


def test_a_clicked_state_shows_its_bounds_in_both_scopes_and_a_witness(page):
    page.press(page.node("Consultation"))
    details = page.text("#details")
    assert "Consultation" in details
    assert page.text('#details [data-scope="all"]').split("\n")[-1] == "0 to 1"
    assert page.text('#details [data-scope="optimal"]').split("\n")[-1] == "0.525 to 1"
    assert "A strategy that makes it 1 (the upper bound)" in details
    assert "in s0 take Consult" in details
    assert page.run("return document.querySelectorAll('.edge.taken').length") > 0


def test_the_bound_that_colours_is_the_bound_that_is_witnessed(page):
    page.press(page.node("Application"))
    upper = page.run("const taken = waypost.takenEdges(); return waypost.target.view.edges.map(taken)")
    page.choose("#colour", "lower")
    assert "A strategy that makes it 0 (the lower bound)" in page.text("#details")
    assert page.run("const taken = waypost.takenEdges(); return waypost.target.view.edges.map(taken)") != upper
    assert max(upper) == 1


def test_the_slider_leaves_the_most_important_and_lays_them_out_anew(page):
    shown = "return [...document.querySelectorAll('.node')].map(n => waypost.data.states[n.dataset.state])"
    assert len(page.run(shown)) == 10
    page.choose("#detail", "4")
    assert set(page.run(shown)) == {"s0", "Granted", "Application+", "Consultation"}
    assert "4 of 10 states shown" in page.text("figcaption")
    assert outside(page) == []


def test_search_finds_by_part_of_a_name(page):
    box = page.driver.find_element("css selector", "#search")
    box.send_keys("appl")
    assert page.run("return document.querySelectorAll('.node.found').length") == 2
    assert page.run("return document.querySelectorAll('#states tbody tr').length") == 2
    box.send_keys("ication+\n")
    assert page.text("#details h3") == "Application+"


def test_the_path_of_the_paper_reads_0897_and_1(page):
    page.press("#path-mode")
    page.press(page.node("Application"))
    assert page.text(".pathline") == "s0 –Apply→ Application"
    page.until("return document.querySelector('#path-importance')")
    assert page.text("#path-importance") == "0.897 to 1"
    assert "0.95" in page.text("#path-best")
    page.press(page.node("Rework"))
    assert "does not follow in one step" in page.text("#path")
    page.press("#next-steps li:first-child button")
    assert page.run("return waypost.path.states.length") == 3


def test_the_table_sorts_by_every_column(page):
    names = "return [...document.querySelectorAll('#states tbody th')].map(t => t.innerText)"
    assert page.run(names)[:3] == ["s0", "Application+", "Granted"]
    page.press('[data-column="name"]')
    assert page.run(names)[0] == "Angry"
    page.press('[data-column="name"]')
    assert page.run(names)[0] == "s0"
    page.press('[data-column="name"]')
    page.press('[data-column="optimal"]')
    assert set(page.run(names)[-2:]) == {"Angry", "Rejected"}


def test_colours_follow_scope_and_bound(page):
    value = "return document.querySelector(arguments[0]).style.getPropertyValue('--v')"
    node = page.node("Consultation")
    assert page.run(value, node) == "1.000"
    page.choose("#colour", "lower")
    assert page.run(value, node) == "0.000"
    page.press('#scope [data-key="optimal"]')
    assert page.run(value, node) == "0.525"
    page.choose("#colour", "width")
    assert page.run(value, node) == "0.475"


def test_everything_is_reachable_by_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    page.run("document.querySelector(arguments[0]).focus()", page.node("Error"))
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.text("#details h3") == "Error"
    page.run("document.querySelector('#scope [aria-checked=true]').focus()")
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert page.run("return waypost.scope") == "optimal"
    unnamed = (
        "return [...document.querySelectorAll('button, input, select')].filter(e => e.offsetParent && "
        "!(e.innerText || e.ariaLabel || (e.labels && e.labels.length))).length"
    )
    assert page.run(unnamed) == 0


@pytest.mark.parametrize("name", ["loan_page", "log_page", "world_page"])
def test_tab_comes_to_every_control(browser, request, name):
    """Of a group of radio buttons to the chosen one; whatever has the focus shows it."""
    from selenium.webdriver.common.keys import Keys

    browser.open(request.getfixturevalue(name))
    browser.press("#path-mode")
    browser.run(
        "window.controls = [...document.querySelectorAll(arguments[0])].filter((e) => !e.disabled && e.tabIndex >= 0"
        "  && e.checkVisibility({visibilityProperty: true})); document.activeElement.blur()",
        CONTROLS,
    )
    count = browser.run("return window.controls.length")
    assert count > 15
    seen = set()
    for _ in range(count + 40):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        at, visible, what = browser.run(
            "const e = document.activeElement, look = (x, key) => x && getComputedStyle(x)[key];"
            "return [window.controls.indexOf(e), look(e, 'outlineStyle') !== 'none'"
            "  || look(e.querySelector('.body'), 'strokeWidth') === '3px', e.outerHTML.slice(0, 120)]"
        )
        assert visible or at < 0, what
        seen.add(at)
    left = [k for k in range(count) if k not in seen]
    assert browser.run("return arguments[0].map((k) => window.controls[k].outerHTML.slice(0, 120))", left) == []


def test_a_phone_shows_everything_without_scrolling_sideways(browser, loan_page):
    browser.open(loan_page, width=360, height=740)
    assert browser.run("return document.documentElement.scrollWidth") <= 360
    assert browser.run("return document.querySelectorAll('.node').length") >= 6
    assert outside(browser) == []


def test_hostile_names_are_shown_as_text_and_nothing_runs(browser, hostile):
    browser.open(render_html(hostile))
    browser.run("window.alert = () => { window.harmed = true }")
    for state in range(hostile.mdp.n_states):
        browser.run("waypost.select(arguments[0])", state)
        assert browser.run("return waypost.data.states[waypost.selected]") == hostile.mdp.states[state]
    browser.press("#path-mode")
    for _ in range(2):
        browser.run("document.querySelector('#next-steps li:last-child button').click()")
    browser.until("return document.querySelector('#path-importance')")
    assert browser.run("return document.querySelectorAll('img, iframe, object, embed, svg [onload]').length") == 0
    assert browser.run("return document.scripts.length") == 2
    assert not browser.run("return window.harmed")
    assert browser.log() == []
    assert browser.requests() == []


def test_two_targets_are_compared(browser):
    mdp = loan()
    browser.open(render_html([explain(mdp, target="Granted"), explain(mdp, target="Rejected")]))
    assert "Two targets side by side" in browser.text("#compare")
    assert "Angry" in browser.text("#compare-table")
    browser.press('#target-switch [data-key="1"]')
    visible = "return [...document.querySelectorAll('h1')].filter(h => h.offsetParent).map(h => h.innerText)"
    assert browser.run(visible) == ["Which steps matter for reaching 'Rejected'?"]
    assert browser.log() == []


def test_a_state_names_cases_of_the_log_that_passed_it(browser, granted):
    browser.open(render_html(granted, cases={"Error": ["case 17", "<b>case 18</b>"]}))
    browser.press(browser.node("Error"))
    assert "Example cases\ncase 17, <b>case 18</b>" in browser.text("#details").replace("\n\n", "\n")


def test_a_state_that_is_not_in_the_picture_is_shown_with_its_neighbours(browser, world, monkeypatch):
    monkeypatch.setattr("waypost.report.view.important_part.__defaults__", (6,))
    browser.open(render_html(world))
    browser.press('#view [data-key="overview"]')
    browser.run("waypost.select(waypost.data.states.indexOf('6,6 with the key'), true)")
    assert browser.run("return waypost.view") == "around"
    shown = browser.run("return [...document.querySelectorAll('.node')].map(n => waypost.data.states[n.dataset.state])")
    assert set(shown) == {f"{place} with the key" for place in ("6,6", "5,6", "7,6", "6,5", "6,7")}
    assert outside(browser) == []
    assert browser.log() == []


@pytest.mark.parametrize("exact", [False, True])
def test_a_given_strategy_and_exact_numbers_have_a_page_too(browser, exact):
    mdp = loan()
    half = {"s0": {"Apply": 0.5, "Consult": 0.5}, "Consultation": "Apply", "Rework": "Submit", "Error": "Quit"}
    strategy = Strategy.from_dict(mdp, half)
    scope = ["all", strategy] if exact else strategy
    browser.open(render_html(explain(mdp, target="Granted", scope=scope, exact=exact, **needs(mdp, ".html"))))
    browser.press(browser.node("Rework"))
    if exact:
        browser.press('#scope [data-key="strategy"]')
    details = browser.text("#details")
    assert ("4/49" if exact else "0.082") in details
    assert "in s0 take Apply (0.5)" in details
    assert "in s0 take Consult (0.5)" in details
    assert browser.log() == []


def test_without_javascript_text_and_table_are_there(browser, loan_page):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(loan_page)
        body = browser.driver.find_element("css selector", "body").text
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert "of the runs that reach 'Granted' pass Application+, whatever is done." in body
    assert "Every run that reaches 'Granted' passes these" in body
    assert "0.525 to 1" in body
    assert "Paths and patterns" not in body


def test_escape_and_an_empty_click_deselect(page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    page.press(page.node("Error"))
    assert page.run("return waypost.selected") is not None
    page.driver.find_element("css selector", "body").send_keys(Keys.ESCAPE)
    assert page.run("return waypost.selected") is None
    page.press(page.node("Error"))
    svg = page.driver.find_element("css selector", "#graph")
    page.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", svg)
    corner = (4 - svg.size["width"] // 2, 4 - svg.size["height"] // 2)
    ActionChains(page.driver).move_to_element_with_offset(svg, *corner).click().perform()
    assert page.run("return waypost.selected") is None
    assert page.run("return document.querySelector('#details').classList.contains('idle')")


def test_on_a_phone_the_details_come_up_over_the_map(browser, loan_page):
    browser.open(loan_page, width=390, height=844)
    browser.press(browser.node("Consultation"))
    box = browser.run(
        "const r = document.querySelector('#details').getBoundingClientRect(); return [r.top, r.bottom, innerHeight]"
    )
    assert 0 < box[0] < box[1] <= box[2] + 1
    browser.press("#details .close")
    assert browser.run("return document.querySelector('#details').offsetParent") is None


def test_paper_is_white_and_has_every_row(browser, world_page):
    """Printing from dark mode prints dark ink on white paper, and the table whole."""
    browser.scheme("dark")
    try:
        browser.open(world_page)
        assert browser.run("return document.querySelectorAll('#states tbody tr').length") == 60
        browser.run("dispatchEvent(new Event('beforeprint'))")
        features = [{"name": "prefers-color-scheme", "value": "dark"}]
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
        assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert browser.run("return getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        assert browser.run("return document.querySelectorAll('#states tbody tr').length") == 76
        assert browser.run("return document.querySelector('#zoom-fit').offsetParent") is None
        browser.run("dispatchEvent(new Event('afterprint'))")
        assert browser.run("return document.querySelectorAll('#states tbody tr').length") == 60
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_a_given_strategy_is_drawn_beside_the_best_on_a_grid(browser):
    """Where a strategy goes another way than a best one, both arrows are there, and the best one is dashed."""
    steps = {
        "x=0, y=0": {"right": {"x=1, y=0": 1.0}, "down": {"x=0, y=1": 1.0}},
        "x=1, y=0": {"down": {"x=1, y=1": 0.5, "x=0, y=0": 0.5}, "left": {"x=0, y=0": 1.0}},
        "x=0, y=1": {"right": {"x=1, y=1": 0.5, "x=2, y=1": 0.5}, "up": {"x=0, y=0": 1.0}},
        "x=1, y=1": {},
        "x=2, y=1": {},
    }
    mdp = MDP.from_dict(steps, initial="x=0, y=0", labels={"goal": ["x=1, y=1"], "hole": ["x=2, y=1"]})
    agent = Strategy.from_dict(mdp, {"x=0, y=0": "down", "x=1, y=0": "down", "x=0, y=1": "right"})
    browser.open(render_html(explain(mdp, target="goal", scope=["all", "optimal", agent], **needs(mdp, ".html"))))
    start = browser.node("x=0, y=0")
    assert browser.run("return document.querySelector(arguments[0]).querySelectorAll('.heading').length", start) == 2
    assert browser.run("return document.querySelectorAll('.heading.other').length") == 2
    hole = browser.run("return document.querySelector(arguments[0]).textContent", browser.node("x=2, y=1"))
    assert "hole" in hole
    assert browser.log() == []


def test_what_a_choice_is_worth_is_what_the_library_says(browser):
    """After a choice the target is reached with its successors' least to greatest probability, averaged."""
    mdp, page = loan(), browser
    page.open(render_html(explain(mdp, target="Granted")))
    page.press(page.node("Error"))
    page.until("return document.querySelector('#details .worth')")
    shown = page.run("return waypost.worthOf(waypost.selected).map((w) => [waypost.action(w.choice), ...w.bounds])")
    least, most = (reachability(mdp, target="Granted", optimum=side) for side in ("min", "max"))
    state = mdp.index["Error"]
    for action, low, high in shown:
        row = mdp.transitions[[mdp.choice(state, action)]].toarray()[0]
        assert [low, high] == pytest.approx([row @ least, row @ most], abs=1e-9)
    assert [action for action, *_ in shown] == ["Consult", "Quit"]


def test_paths_in_the_page_equal_the_library(browser, loan_page):
    """The page's own computation gives the library's bounds, in both scopes, or both say that there are none."""
    browser.open(loan_page)
    undefined = 0
    for mdp, path in random_paths(7, 150):
        packed = {
            "choices": np.diff(mdp.first_choice).tolist(),
            "rows": np.diff(mdp.transitions.indptr).tolist(),
            "succ": mdp.transitions.indices.tolist(),
            "prob": mdp.transitions.data.tolist(),
        }
        states = [mdp.index[name] for name in path[::2]]
        steps = [mdp.choice(s, a) for s, a in zip(states, path[1::2], strict=False)]
        given = {"states": states, "choices": steps}
        found = browser.run("return waypost.importanceOf(...arguments)", packed, [mdp.n_states - 1], given)
        try:
            every = path_importance(mdp, path=path, target="goal", scope="all")
        except WaypostError:
            assert found.get("undefined"), path
            undefined += 1
            continue
        best = path_importance(mdp, path=path, target="goal", scope="optimal")
        assert found["lower"] == pytest.approx([every.lower] * 2, abs=1e-9), (path, mdp.transitions.toarray())
        assert found["upper"] == pytest.approx([every.upper] * 2, abs=1e-9)
        assert found["following"] == pytest.approx([float(every.reachability_following)] * 2, abs=1e-9)
        assert found["best"] == pytest.approx([best.upper] * 2, abs=1e-9)
    assert undefined < 75
