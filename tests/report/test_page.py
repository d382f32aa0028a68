"""The page as a file: safe whatever the names are, and true to the explanation."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from waypost.cases import loan
from waypost.errors import ModelError
from waypost.importance import explain, state_importance
from waypost.model import MDP, Strategy
from waypost.report import render_html
from waypost.report.coordinates import coordinates_of
from waypost.report.html import embed
from waypost.report.layout import place
from waypost.report.records import compact
from waypost.report.view import important_part


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


@given(st.recursive(st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_embedded_data_cannot_end_its_script_and_comes_back(data):
    text = embed(data)
    assert not re.search("[<>&\u2028\u2029]", text)
    text.encode("utf-8")
    assert json.loads(text) == data


def test_names_are_escaped_everywhere(hostile):
    page = render_html(hostile)
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "<svg onload" not in page
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in page
    assert data_of(page)["states"] == list(hostile.mdp.states)


def test_a_page_refers_to_nothing_outside(loan_page):
    links = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)""", loan_page)
    assert links
    assert all(link.startswith(("#", "data:")) for link in links)
    assert set(re.findall(r"https?://[^\s'\"]+", loan_page)) == {"http://www.w3.org/2000/svg"}


def test_every_witness_in_the_page_attains_its_bound(granted, loan_page):
    """P1 of the strategy that the page lists for a bound is that bound."""
    mdp, data = granted.mdp, data_of(loan_page)
    checked = 0
    for state, scopes in data["targets"][0]["witnesses"].items():
        for scope, pair in scopes.items():
            for side, packed in zip(("lower", "upper"), pair, strict=True):
                modes = []
                for listed in packed["modes"]:
                    choice = np.array(mdp.first_choice[:-1])
                    choice[mdp.choice_state[listed]] = listed
                    modes.append(Strategy.deterministic_of(mdp, choice).modes[0])
                update = np.repeat(np.arange(len(modes))[:, None], mdp.n_states, axis=1)
                for mode, changes in enumerate(packed["update"]):
                    for where, to in changes:
                        update[mode, where] = to
                strategy = Strategy(mdp, tuple(modes), update, packed["start"])
                name = mdp.states[int(state)]
                found = state_importance(mdp, target="Granted", scope=strategy, states=name)[name].upper
                assert found == pytest.approx(float(getattr(granted.scopes[scope][name], side)), abs=1e-12)
                checked += 1
    assert checked == 40


def test_numbers_are_0_and_1_only_where_exact():
    assert compact(0.0) == 0
    assert compact(5e-324) > 0
    assert compact(1 - 2**-53) < 1
    assert compact(1 / 3) == pytest.approx(1 / 3, rel=1e-11)


def test_the_page_needs_one_model():
    with pytest.raises(ModelError, match="same model"):
        render_html([explain(loan(), target="Granted"), explain(loan(), target="Rejected")])
    with pytest.raises(ModelError, match="at least one"):
        render_html([])


def test_only_the_states_asked_for_have_numbers():
    page = data_of(render_html(explain(loan(), target="Granted", states=["Error", "Rework"])))
    assert [page["states"][s] for s in page["asked"]] == ["Error", "Rework"]
    assert len(page["targets"][0]["scopes"]["all"][0]) == 2


def test_example_cases_are_shown_with_their_state(granted):
    page = data_of(render_html(granted, cases={"Error": ["case 17", "<b>"]}))
    assert page["cases"] == {str(granted.mdp.index["Error"]): ["case 17", "<b>"]}


def test_a_model_too_large_for_the_page_keeps_its_numbers(granted, monkeypatch):
    monkeypatch.setattr("waypost.report.planning.TRANSITIONS", 3)
    page = data_of(render_html(granted))
    assert page["model"] is None
    assert len(page["targets"][0]["scopes"]["all"][0]) == 10
    monkeypatch.setattr("waypost.report.planning.STATES", 9)
    page = data_of(render_html(granted))
    names = [page["states"][s] for s in page["targets"][0]["view"]["states"]]
    assert {"s0", "Granted", "Application+"} <= set(names)


# --- what is shown ---


def test_the_important_part_is_connected_and_holds_start_and_target(world):
    """Every state shown but the first is entered by an arrow, through hidden states if need be."""
    part = important_part(world, limit=12)
    assert world.mdp.initial in part.states
    assert any(world.target_states[s] for s in part.states)
    entered = {edge.target for edge in part.edges}
    reachable = {s for s in part.states if s != world.mdp.initial}
    assert reachable <= entered


@pytest.mark.parametrize("engine", ["layers", "graphviz"])
@pytest.mark.parametrize("direction", ["wide", "tall"])
def test_boxes_do_not_overlap(engine, direction):
    if engine == "graphviz":
        pytest.importorskip("pygraphviz")
    rng = np.random.default_rng(3)
    sizes = [(float(rng.integers(60, 160)), 34.0) for _ in range(25)]
    arrows = [(int(a), int(b)) for a, b in rng.integers(0, 25, (40, 2))]
    layout = place(sizes, arrows, direction=direction, engine=engine)
    for i, (x, y) in enumerate(layout.centres):
        assert 0 <= x <= layout.width
        assert 0 <= y <= layout.height
        for j in range(i):
            u, v = layout.centres[j]
            apart_x = abs(x - u) >= (sizes[i][0] + sizes[j][0]) / 2 - 1
            assert apart_x or abs(y - v) >= 34 - 1
    assert all(len(curve) % 3 == 1 for curve in layout.curves)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("x=3, y=1", "x=0, y=2"), {0: (3, 1), 1: (0, 2)}),
        (("key=1 & row=2 & col=5", "key=0 & row=0 & col=1"), {0: (5, 2), 1: (1, 0)}),
        (("4,5", "(1, 2)"), {0: (4, 5), 1: (1, 2)}),
        (("(4,1,3)", "(4,1,2)"), None),  # three numbers are no place on a grid
        (("loc=3", "loc=4"), None),
        (("max=3, my=4", "q"), None),
        (("b=1, x=0, y=0", "b=1, x=60, y=4"), None),  # clocks: places would fill more of their grid
    ],
)
def test_coordinates_are_read_off_names(names, found):
    mdp = MDP.from_dict({names[0]: {"go": names[1]}, names[1]: {}}, initial=names[0])
    assert coordinates_of(mdp) == found


def test_a_gridworld_page_has_its_map(world):
    page = data_of(render_html(world))
    assert (page["grid"]["width"], page["grid"]["height"]) == (7, 7)
    assert len(page["grid"]["cells"]) == 76


# --- the script ---


def test_the_scripts_pure_functions_hold_what_they_promise():
    """The unit tests of the page's script, run by node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node, to run the script's unit tests")
    tests = Path(__file__).parent / "page.test.mjs"
    done = subprocess.run([node, "--test", str(tests)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_what_the_page_brings_along_is_licensed():
    """The layout library's licence is in every page and beside it in the package."""
    folder = resources.files("waypost.report") / "templates" / "vendor"
    licence = (folder / "dagre.LICENSE").read_text(encoding="utf-8")
    assert "Permission is hereby granted" in licence
    assert licence.split("\n")[2] in (folder / "dagre.js").read_text(encoding="utf-8")


def test_states_that_only_say_whose_turn_it_is_come_last(loan_log):
    """A learned model's picture starts with what people gave names to."""
    by_state = loan_log.log.by_state
    part = important_part(by_state, limit=12)
    assert not any(" after " in by_state.mdp.states[state] for state in part.states)
