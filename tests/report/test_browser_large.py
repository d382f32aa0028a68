"""A page of fifteen thousand states in a real browser."""

from __future__ import annotations

import pytest
from tests.report.conftest import plain_numbers

from waypost.formats import read_mdp
from waypost.importance import Explanation, explain
from waypost.report import needs, render_html

pytestmark = pytest.mark.xdist_group("browser")


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
    _measure(browser, plain_numbers(read_mdp(shared_data / "models/learned/spotify10000.drn")))


@pytest.mark.slow
def test_so_is_the_page_with_the_real_bounds(browser, shared_data):
    mdp = read_mdp(shared_data / "models/learned/spotify10000.drn")
    _measure(browser, explain(mdp, target="positive", **needs(mdp, ".html")))
