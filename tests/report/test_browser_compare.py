"""Two logs, and two strategies, in one page."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from waypost.cases import prepare_case
from waypost.cli import cli
from waypost.logs import EventLog
from waypost.report import render_comparison
from waypost.story import explain_log
from waypost.uncertainty import compare_logs

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def halves():
    """Two halves of a log, of which the second has fewer cases that were called."""
    log: EventLog = prepare_case("loan-log").log
    called = [("Call customer short" in names) for names in log.sequences()]
    order = np.arange(log.n_cases)
    first = (order % 2 == 0) | (np.array(called) & (order % 4 == 1))
    return log.where_cases(first), log.where_cases(~first)


def test_two_logs_are_one_page_that_says_what_changed_first(browser, halves):
    found = compare_logs(*halves)
    browser.open(render_comparison(found, ("March", "April"), tuple(explain_log(log) for log in halves)))
    assert browser.text("h1") == "What changed: March → April"
    assert "Call customer short" in browser.text(".findings")
    first = found.activities[0]
    assert first.share.real
    figures = browser.text(".figures")
    assert f"{100 * found.success.before:.1f} %" in figures
    assert browser.run("return waypost.colour") == "change"
    cases = [browser.run("return waypost.data.map.cases")]
    browser.press('#target-switch [data-key="1"]')
    cases.append(browser.run("return waypost.data.map.cases"))
    assert cases == [found.before_cases, found.after_cases]
    browser.run(
        "waypost.selectStop(waypost.data.map.stops.findIndex((s) => s.name === arguments[0]), true)", first.name
    )
    assert "March" in browser.text("#details")
    assert "points (95 % interval" in browser.text("#details")
    assert browser.run("return document.documentElement.scrollWidth") <= 1280
    assert browser.log() == []
    assert browser.requests() == []


def test_two_strategies_are_compared_with_the_command(browser, tmp_path):
    careful = {"s0": "Consult", "Consultation": "Apply", "Rework": "Submit", "Error": "Consult"}
    hasty = careful | {"s0": "Apply", "Error": "Quit"}
    for name, strategy in (("hasty", hasty), ("careful", careful)):
        rules = {state: {action: 1} for state, action in strategy.items()}
        (tmp_path / f"{name}.json").write_text(json.dumps(rules), encoding="utf-8")
    given = [part for name in ("hasty", "careful") for part in ("--strategy", str(tmp_path / f"{name}.json"))]
    page = tmp_path / "both.html"
    done = CliRunner().invoke(cli, ["compare", "loan", "--target", "Granted", *given, "-o", str(page)])
    assert done.exit_code == 0, done.output
    assert "4.9 points more are lost by hasty in Error: hasty takes Quit, careful Consult" in done.output
    browser.open(page.read_text(encoding="utf-8"))
    assert browser.text("h1") == "How hasty and careful differ in reaching 'Granted'"
    assert "under hasty" in browser.text("#compare-table")
    assert browser.run("return waypost.scope") == "strategy"
    browser.press('#target-switch [data-key="1"]')
    assert browser.run("return waypost.target.label") == "careful"
    assert browser.log() == []
