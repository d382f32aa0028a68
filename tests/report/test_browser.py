"""The page in a real browser: what a reader does, and what must never happen."""

from __future__ import annotations

import numpy as np
import pytest

from waypost.cases import loan
from waypost.errors import WaypostError
from waypost.formats import read_mdp
from waypost.importance import Bounds, Explanation, StateImportance, Witnesses, explain, path_importance
from waypost.importance.reading import kinds, ranking
from waypost.model import MDP, Strategy
from waypost.report import needs, render_html

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def page(browser, loan_page):
    browser.open(loan_page)
    yield browser
    assert browser.log() == []
    assert browser.requests() == []


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
    page.press('#bound [data-key="lower"]')
    assert "A strategy that makes it 0 (the lower bound)" in page.text("#details")
    assert page.run("const taken = waypost.takenEdges(); return waypost.target.view.edges.map(taken)") != upper
    assert max(upper) == 1


def test_the_slider_hides_the_unimportant(page):
    shown = "return [...document.querySelectorAll('.node')].filter(n => n.style.display !== 'none').length"
    assert page.run(shown) == 10
    page.run("const s = document.querySelector('#threshold'); s.value = 0.5; s.dispatchEvent(new Event('input'))")
    assert page.run(shown) == 5  # s0, Application, Consultation, Application+, Granted
    assert "5 of 10 states shown" in page.text("figcaption")
    page.until("return document.querySelectorAll('#states tbody tr').length === 5")


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
    assert page.run(value, node) == "100.0%"
    page.press('#bound [data-key="lower"]')
    assert page.run(value, node) == "0.0%"
    page.press('#scope [data-key="optimal"]')
    assert page.run(value, node) == "52.5%"
    page.press('#bound [data-key="width"]')
    assert page.run(value, node) == "47.5%"


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


def test_a_phone_shows_everything_without_scrolling_sideways(browser, loan_page):
    browser.open(loan_page, width=360, height=740)
    assert browser.run("return document.documentElement.scrollWidth") <= 360
    assert browser.run("return document.querySelectorAll('.node').length") == 10


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
    assert browser.log() == []


@pytest.mark.parametrize("exact", [False, True])
def test_a_given_strategy_and_exact_numbers_have_a_page_too(browser, exact):
    mdp = loan()
    half = {"s0": {"Apply": 0.5, "Consult": 0.5}, "Consultation": "Apply", "Rework": "Submit", "Error": "Quit"}
    strategy = Strategy.from_dict(mdp, half)
    scope = ["all", strategy] if exact else strategy
    browser.open(render_html(explain(mdp, target="Granted", scope=scope, exact=exact, **needs(mdp, ".html"))))
    browser.press(browser.node("Rework"))
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
    assert "Every run that reaches 'Granted' passes these" in body
    assert "0.525 to 1" in body
    assert "Explore" not in body


def _random_paths(seed: int, n_models: int) -> list[tuple[MDP, list[str]]]:
    """Random models with end components and dead ends, each with a simple path that avoids the goal."""
    rng = np.random.default_rng(seed)
    cases = []
    while len(cases) < n_models:
        n = int(rng.integers(4, 9))
        names = [f"q{i}" for i in range(n)]
        choices: dict[str, dict[str, dict[str, float]]] = {}
        for name in names[:-1]:
            choices[name] = {}
            for a in range(int(rng.integers(1, 4))):
                support = rng.choice(n, size=int(rng.integers(1, 4)), replace=False)
                weights = rng.integers(1, 5, len(support))
                choices[name][f"a{a}"] = {
                    names[y]: float(w / weights.sum()) for y, w in zip(support, weights, strict=True)
                }
        choices[names[-1]] = {}
        mdp = MDP.from_dict(choices, initial="q0", labels={"goal": [names[-1]]})
        path = ["q0"]
        for _ in range(int(rng.integers(1, 4))):
            action = str(rng.choice(list(choices[path[-1]])))
            onward = [y for y in choices[path[-1]][action] if y not in path[::2] and y != names[-1]]
            if not onward:
                break
            path += [action, str(rng.choice(onward))]
        if len(path) > 1:
            cases.append((mdp, path))
    return cases


def test_paths_in_the_page_equal_the_library(browser, loan_page):
    """The page's own computation gives the library's bounds, in both scopes, or both say that there are none."""
    browser.open(loan_page)
    undefined = 0
    for mdp, path in _random_paths(7, 150):
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


def _numbers(mdp: MDP) -> Explanation:
    """Full-length numbers for every state, and cheap witnesses: what a page of this size has to carry."""
    n, rng = mdp.n_states, np.random.default_rng(1)
    target = mdp.where("positive")
    upper = np.where(target, 1.0, rng.random(n) ** 6)
    lower = np.where(target, 1.0, upper * rng.random(n) * (rng.random(n) < 0.5))
    first = Strategy.deterministic_of(mdp, np.array(mdp.first_choice[:-1]))

    witnesses = dict.fromkeys([mdp.states[s] for s in np.argsort(-upper)[:60]], Witnesses(first, first))

    def part(scope: str, problem: str = "importance") -> StateImportance:
        asked = np.arange(n)
        return StateImportance(mdp, "'positive'", problem, scope, asked, lower, upper)

    return Explanation(
        mdp=mdp,
        kinds=kinds(part("all"), target, np.ones(n, bool)),
        ranking=ranking([part("all"), part("optimal")]),
        witnesses={"all": witnesses, "optimal": witnesses},
        target="'positive'",
        targets=("positive",),
        target_states=target,
        reachability=Bounds(0.1, 0.9),
        scopes={"all": part("all"), "optimal": part("optimal")},
        absolute=part("all", "absolute"),
    )


def _measure(browser, explanation: Explanation) -> None:
    """At most 5 MB; a click, measured until the next frame is painted, within 200 ms (median of nine)."""
    html = render_html(explanation)
    assert len(html.encode()) <= 5_000_000
    browser.open(html)
    click = (
        "const done = arguments[arguments.length - 1], node = document.querySelectorAll('.node')[arguments[0]];"
        "const start = performance.now(); node.dispatchEvent(new MouseEvent('click', {bubbles: true}));"
        "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)))"
    )
    times = [browser.driver.execute_async_script(click, k) for k in range(3, 12)]
    assert np.median(times) <= 200, times
    assert browser.run("return document.querySelectorAll('.node').length") <= 80
    assert browser.log() == []


def test_a_page_of_fifteen_thousand_states_is_small_and_answers_at_once(browser, shared_data):
    """The size and the model are real, the bounds are made up: full-length digits for every state."""
    _measure(browser, _numbers(read_mdp(shared_data / "models/learned/spotify10000.drn")))


@pytest.mark.slow
def test_so_is_the_page_with_the_real_bounds(browser, shared_data):
    mdp = read_mdp(shared_data / "models/learned/spotify10000.drn")
    _measure(browser, explain(mdp, target="positive", **needs(mdp, ".html")))
