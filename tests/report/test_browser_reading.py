"""Every page can be read as it opens, on a phone and on a desk, and by those who use a screen reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.report.conftest import outside, plain_numbers

from waypost.formats import read_mdp
from waypost.importance import explain
from waypost.logs import EventLog, read_log
from waypost.report import needs, render_html
from waypost.story import explain_log, with_insight

pytestmark = pytest.mark.xdist_group("browser")


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
    assert outside(browser) == []
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
    return render_html(plain_numbers(read_mdp(shared_data / "models/learned/spotify10000.drn")))


@pytest.fixture(scope="session")
def hostile_page(hostile):
    return render_html(hostile)


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
