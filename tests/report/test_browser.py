"""The page in a real browser: what a reader does, and what must never happen."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.report.conftest import in_peace, random_paths

from waypost.cases import loan
from waypost.errors import WaypostError
from waypost.formats import read_mdp
from waypost.importance import Bounds, Explanation, StateImportance, Witnesses, explain, path_importance
from waypost.importance.reading import kinds, ranking
from waypost.logs import EventLog, read_log
from waypost.model import MDP, Strategy
from waypost.report import needs, render_html
from waypost.solve import reachability
from waypost.story import explain_log, with_insight

pytestmark = pytest.mark.xdist_group("browser")


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
    assert _outside(page) == []


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


CONTROLS = "a[href], button, input, select, summary, [tabindex]"


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
    assert _outside(browser) == []


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
    assert _outside(browser) == []
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


def _outside(browser) -> list[str]:
    """Boxes that are not inside the frame of the picture."""
    return browser.run(
        "const frame = document.querySelector('#graph').getBoundingClientRect();"
        "return [...document.querySelectorAll('.node .body, .number')].filter((n) => {"
        "  const r = n.getBoundingClientRect();"
        "  return r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 1"
        "    || r.bottom > frame.bottom + 1; }).map((n) => n.parentNode.dataset.label || n.textContent)"
    )


def _smallest_text(browser) -> float:
    """Size of the smallest text in the picture, in pixels of the screen."""
    return browser.run(
        "const scale = document.querySelector('#graph').clientWidth / waypost.graph.box.w;"
        "return Math.min(...[...document.querySelectorAll('#graph text')].map("
        "  (t) => scale * parseFloat(getComputedStyle(t).fontSize)))"
    )


def _small_words(browser) -> list[str]:
    """Words outside the picture that are smaller than 11 px."""
    return browser.run(
        "return [...document.querySelectorAll('body *:not(script, style, svg, svg *)')].filter((e) => "
        "  e.offsetParent && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())"
        "  && parseFloat(getComputedStyle(e).fontSize) < 11).map((e) => e.textContent.slice(0, 40))"
    )


def _overlapping(browser) -> list[str]:
    """Pairs of boxes, of numbers, and of a box and a number, that cover each other."""
    return browser.run(
        "const found = [...document.querySelectorAll('.node .body, .number')].map((n) => ({"
        "  n, r: n.getBoundingClientRect(), name: n.textContent || n.parentNode.dataset.label }));"
        "const meet = ({ n, r: a }, { n: m, r: b }) => { const air = n.matches('.body') || m.matches('.body') ? 2 : -1;"
        "  return a.left < b.right - air && b.left < a.right - air && a.top < b.bottom - 3 && b.top < a.bottom - 3; };"
        "return found.flatMap((a, i) => found.slice(i + 1).filter((b) => meet(a, b)).map((b) => `${a.name} ${b.name}`))"
    )


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "name",
    [
        "loan_page",
        "log_page",
        "hostile_page",
        "world_page",
        "hospital_page",
        "loops_page",
        "lending_page",
        "bpic12_page",
        "spotify_page",
    ],
)
def test_a_page_opens_on_something_readable(browser, request, name, width):
    """Everything drawn is inside the frame, at least 11 px high and not covered; nothing scrolls sideways."""
    browser.open(request.getfixturevalue(name), width=width, height=844 if width == 390 else 800)
    assert _outside(browser) == []
    assert _smallest_text(browser) >= 11
    assert _small_words(browser) == []
    assert _overlapping(browser) == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.run("return document.querySelectorAll('.node').length") >= 3
    assert browser.log() == []
    assert browser.requests() == []


@pytest.fixture(scope="session")
def bpic12_page(shared_data):
    """The model of the paper's case study, with all that its page can say."""
    mdp = read_mdp(shared_data / "models/paper/bpic12.prism")
    return render_html(with_insight(explain(mdp, target="positive", **needs(mdp, ".html"))))


@pytest.fixture(scope="session")
def spotify_page(shared_data):
    """A model of 14,860 states."""
    return render_html(_numbers(read_mdp(shared_data / "models/learned/spotify10000.drn")))


@pytest.fixture(scope="session")
def hostile_page(hostile):
    return render_html(hostile)


@pytest.fixture(scope="session")
def world_page(world):
    return render_html(world)


@pytest.fixture(scope="session")
def hospital_page():
    """A log as hospitals have them: sixteen activities, every one repeated, few cases alike."""
    rng = np.random.default_rng(16)
    names = ["Registration", "Triage", "Blood test", "X-ray", "Ultrasound of the upper abdomen", "Consultation"]
    names += ["Antibiotics", "Fluids", "Surgery", "Ward round", "Physiotherapy", "Second opinion", "Intensive care"]
    names += ["Letter to the family doctor", "Discharge", "Readmission"]
    cases = []
    for _ in range(300):
        middle = [names[int(k)] for k in rng.choice(np.arange(1, 14), size=int(rng.integers(4, 14)))]
        cases.append(["Registration", "Triage", *middle, "Discharge" if rng.random() < 0.6 else "Readmission"])
    return render_html(explain_log(EventLog.from_sequences(cases), positive="Discharge", eps=0.9))


@pytest.fixture(scope="session")
def loops_page():
    """Steps that are repeated very often, with large numbers beside each other."""
    cases = [["ask", *["wait for an answer"] * n, *["check"] * (n % 7), "pay"] for n in range(1, 60)]
    cases += [["ask", *["check"] * n, *["wait for an answer"] * (n % 5), "go"] for n in range(1, 60)]
    return render_html(explain_log(EventLog.from_sequences(cases * 20), positive="pay", eps=0.9))


@pytest.fixture(scope="session")
def lending_page(shared_data):
    """A log of ten thousand cases."""
    found = next((shared_data / "logs" / "synthetic").glob("lending*"))
    log = read_log(found)
    last = max(log.activities(), key=lambda name: sum(case[-1] == name for case in log.sequences()[:2000]))
    return render_html(explain_log(log, positive=last, eps=0.9))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "does"),
    [
        ("loan_page", "select(3, true)"),
        ("log_page", "selectStop(4, true)"),
        ("world_page", "select(3, true)"),
        ("hospital_page", "selectStop(4, true)"),
        ("bpic12_page", "select(9, true)"),
    ],
)
def test_axe_finds_nothing_to_complain_of(browser, request, name, does, scheme):
    """WCAG A and AA and what axe calls best practice, with and without something selected, in both colour schemes."""
    axe = Path(__file__).parent / "vendor" / "axe.min.js"
    browser.scheme(scheme)
    try:
        browser.open(request.getfixturevalue(name))
        browser.driver.execute_script(axe.read_text(encoding="utf-8"))
        rules = "{resultTypes: ['violations']}"
        for step in ("", f"waypost.{does};"):
            script = f"const done = arguments[0]; {step} axe.run(document, {rules}).then((r) => done(r.violations.map("
            script += "(v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html + n.failureSummary).join(' | '))))"
            assert browser.driver.execute_async_script(script) == []
    finally:
        browser.scheme("light")


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


# --- the process map ---


def test_the_map_shows_activities_with_counts_and_no_bookkeeping(told, loan_log):
    """An arrow counts what comes next among the steps shown, over all cases; nothing only says whose turn it is."""
    process = loan_log.log.process_map
    shown = set(told.run("return [...waypost.graph.nodes.keys()].map((key) => key - 1e9)"))
    known: Counter[tuple[int, int]] = Counter()
    for course in process.courses:
        for pair in pairwise([0, *(stop for stop in course.stops if stop in shown)]):
            known[pair] += course.count
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
    assert _outside(told) == []


def test_an_activity_tells_its_shares_its_success_and_its_cases(told):
    told.press('.node[data-label^="Accept offer"]')
    details = told.text("#details")
    assert "489 cases of 1,000 have it" in details
    for told_share in ("100 %", "5 %", "94.5 %", "0 %"):
        assert told_share in details
    assert "application 1, <b>" in details
    assert "Pay out" in details


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
    """At most 5 MB; a click, measured until the next frame is painted, within 200 ms.

    The fastest of nine counts: what other work on the machine adds to one of them is not the page's doing.
    """
    html = render_html(explanation)
    assert len(html.encode()) <= 5_000_000
    browser.open(html)
    click = (
        "const done = arguments[arguments.length - 1], nodes = document.querySelectorAll('.node');"
        "const node = nodes[arguments[0] % nodes.length];"
        "const start = performance.now(); node.dispatchEvent(new MouseEvent('click', {bubbles: true}));"
        "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)))"
    )
    times = [browser.driver.execute_async_script(click, k) for k in range(3, 12)]
    assert min(times) <= 200, times
    assert browser.run("return document.querySelectorAll('.node').length") <= 80
    assert browser.log() == []


def test_a_page_of_fifteen_thousand_states_is_small_and_answers_at_once(browser, shared_data):
    """The size and the model are real, the bounds are made up: full-length digits for every state."""
    _measure(browser, _numbers(read_mdp(shared_data / "models/learned/spotify10000.drn")))


@pytest.mark.slow
def test_so_is_the_page_with_the_real_bounds(browser, shared_data):
    mdp = read_mdp(shared_data / "models/learned/spotify10000.drn")
    _measure(browser, explain(mdp, target="positive", **needs(mdp, ".html")))
