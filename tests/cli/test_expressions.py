"""States, groups and what is forbidden, said in PRISM's own language on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from waypost.cli import cli
from waypost.errors import PrecisionError, WaypostError
from waypost.formats import write_mdp
from waypost.importance import group_importance, variables
from waypost.model import MDP

WALK = MDP.from_dict(
    {
        "x=0, y=0": {"up": {"x=1, y=0": "1/2", "x=0, y=1": "1/2"}, "down": "x=0, y=1"},
        "x=1, y=0": {"go": {"x=2, y=0": "1/3", "x=0, y=0": "2/3"}, "leave": "x=0, y=1"},
        "x=0, y=1": {"go": {"x=2, y=0": "1/4", "x=3, y=1": "3/4"}, "wait": {"x=1, y=1": "1/2", "x=3, y=1": "1/2"}},
        "x=1, y=1": {"go": "x=2, y=0"},
        "x=2, y=0": {},
        "x=3, y=1": {},
    },
    initial="x=0, y=0",
    labels={"won": ["x=2, y=0"], "high": ["x=0, y=1", "x=1, y=1", "x=3, y=1"]},
)


@pytest.fixture
def model(tmp_path):
    write_mdp(WALK, tmp_path / "walk.drn")
    return str(tmp_path / "walk.drn")


def ran(*words):
    done = CliRunner().invoke(cli, [*words], catch_exceptions=True)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def answer(*words):
    return json.loads(ran("explain", *words, "--format", "json"))


@pytest.mark.parametrize("scope", ["all", "optimal"])
@pytest.mark.parametrize("text", ["high", "y=1", "x>=1 & x<2", '"high" & x<3', "mod(x, 2)=1"])
def test_a_label_or_an_expression_is_asked_about_as_a_set(model, scope, text):
    """Law: the bounds are those of passing any of its states."""
    found = answer(model, "--target", "won", "--state", text, "--scope", scope, "--exact")
    assert found["states"] == []
    (group,) = found["groups"]
    expected = group_importance(WALK, target="won", scope=scope, groups={"it": text}, exact=True)["it"]
    assert (group[scope]["lower"], group[scope]["upper"]) == tuple(map(str, expected))
    assert group["states"] == int(WALK.where(text).sum())


def test_full_names_and_expressions_for_one_state_are_states(model):
    found = answer(model, "--target", "won", "--state", "x=1, y=0", "--state", "x=1 & y=1", "-s", "y=1 & x=0")
    assert [state["name"] for state in found["states"]] == ["x=1, y=0", "x=1, y=1", "x=0, y=1"]
    assert "groups" not in found


def test_groups_come_beside_every_state_and_in_every_shape(model):
    words = ["explain", model, "--target", "won", "--group", "middle=x=1"]
    found = json.loads(ran(*words, "--format", "json"))
    assert len(found["states"]) == 6
    assert [group["name"] for group in found["groups"]] == ["middle"]
    assert "middle (any of 2 states)" in " ".join(ran(*words, "--format", "text").split())
    assert ran(*words, "--format", "csv").splitlines()[1].startswith("middle,,optional,0.0,")
    assert "middle" in ran(*words)


def test_a_group_without_a_name_or_an_expression_is_refused(model):
    for text in ("x>1", "=x", "far="):
        with pytest.raises(WaypostError, match="NAME=EXPRESSION"):
            answer(model, "--target", "won", "--group", text)
    with pytest.raises(WaypostError, match="holds in no state"):
        answer(model, "--target", "won", "--group", "nothing=x>7")


def test_what_is_forbidden_is_said_in_the_same_language(model):
    """Law: an expression forbids its states, and ``EXPR/ACTION`` the action in every one of them."""
    named = answer(model, "--target", "won", "--without", "x=1, y=0")
    assert answer(model, "--target", "won", "--without", "x=1 & y=0") == named
    choices = answer(model, "--target", "won", "--without", "x=1, y=0/go", "--without", "x=0, y=1/go")
    assert answer(model, "--target", "won", "--without", "x<2 & x+y=1/go") == choices
    assert choices != named
    with pytest.raises(WaypostError, match="no action 'fly' in state"):
        answer(model, "--target", "won", "--without", "x=1/fly")


def test_patterns_name_steps_by_expressions(model):
    found = json.loads(ran("pattern", model, '... "y=1" ...', "--target", "won", "--scope", "all", "--json"))
    asked = answer(model, "--target", "won", "--state", "y=1", "--scope", "all")["groups"][0]
    assert np.allclose([found["all"]["lower"], found["all"]["upper"]], [asked["all"]["lower"], asked["all"]["upper"]])


def test_values_of_variables_come_before_the_states_where_people_read(model, tmp_path):
    """Law: tables and pages begin with values; files for programs, and states that are asked about, do not."""
    table = ran("explain", model, "--target", "won")
    assert table.index("y=1 (3 states)") < table.index("x=1, y=0")
    assert "y=1 (" not in ran("explain", model, "--target", "won", "--by", "state")
    assert "y=1 (" not in ran("explain", model, "--target", "won", "--state", "x=1, y=0")
    page, data = tmp_path / "walk.html", tmp_path / "walk.csv"
    ran("explain", model, "--target", "won", "--html", str(page), "--csv", str(data))
    assert data.read_text().count("\n") == 1 + WALK.n_states
    assert "y=1 " in page.read_text()
    assert "groups" not in answer(model, "--target", "won")


def test_what_every_run_passes_is_named_in_a_note_and_not_told(tmp_path):
    """Law: nobody gets around y=1, so it explains nothing; only winners pass z=1."""
    steps = {"y=0, z=0": {"on": "y=1, z=0"}, "y=1, z=0": {"dare": {"y=1, z=1": 0.5, "y=2, z=0": 0.5}}}
    ends = {"y=1, z=1": {"on": "y=3, z=1", "wait": "y=4, z=1"}, "y=4, z=1": {"on": "y=3, z=1"}}
    mdp = MDP.from_dict(steps | ends | {"y=2, z=0": {}, "y=3, z=1": {}}, initial="y=0, z=0")
    write_mdp(mdp, tmp_path / "dare.drn")
    done = CliRunner().invoke(cli, ["explain", str(tmp_path / "dare.drn"), "--target", "y=3"])
    assert "note: Every run passes y=1, whether or not it reaches 'y=3': that explains nothing." in done.stderr
    assert "z=1 (" in done.stdout
    assert "y=1 (" not in done.stdout
    quiet = CliRunner().invoke(cli, ["explain", str(tmp_path / "dare.drn"), "--target", "y=3", "--quiet"])
    assert quiet.stderr == ""


def test_values_that_forbid_are_told_beside_those_that_help_and_say_it_for_their_states(tmp_path):
    """Law: nine values help and one ruins; the table has both, and the sentence names the value, none of its states."""
    steps = {"x=0, y=0": {"go": {"x=1, y=0": 0.5, "x=1, y=1": 0.5}}}
    good = {
        f"x={x}, y={y}": {"go": f"x={x + 1}, y=0", "wait": f"x={x}, y={1 - y}"} for x in range(1, 10) for y in (0, 1)
    }
    bad = {f"x={x}, y=2": {"go": f"x={x + 1}, y=2"} for x in range(1, 10)}
    steps |= good | {"x=1, y=0": {**good["x=1, y=0"], "ruin": "x=1, y=2"}} | bad | {"x=10, y=0": {}, "x=10, y=2": {}}
    write_mdp(MDP.from_dict(steps, initial="x=0, y=0"), tmp_path / "ruin.drn")
    said = " ".join(ran("explain", str(tmp_path / "ruin.drn"), "--target", "x=10 & y=0").split())
    assert "y=2 (10 states) to avoid 0 0" in said
    assert said.count("states) indispensable 1 1") == 7
    assert "0 % of the runs that reach 'x=10 & y=0' pass y=2: what leads there is to be avoided." in said


def test_values_that_cannot_be_certified_do_not_take_the_states_along(model, monkeypatch):
    """Law: nobody asked for values of variables, so states are told without them; who asks for them is refused."""

    def refuse(*_given, **_options):
        raise PrecisionError("no digits are left")

    monkeypatch.setattr(variables, "by_variable", refuse)
    done = CliRunner().invoke(cli, ["explain", model, "--target", "won"])
    assert done.exit_code == 0
    assert "note: values of variables could not be certified and are left out (no digits are left)" in done.stderr
    assert "y=1 (" not in done.stdout
    assert "x=1, y=0" in done.stdout
    asked = CliRunner().invoke(cli, ["explain", model, "--target", "won", "--by", "variable"])
    assert isinstance(asked.exception, PrecisionError)


def test_values_are_asked_about_in_fractions_where_these_are_asked_for(model, monkeypatch):
    """Law: `--exact` answers by values in fractions too, and asks nothing on its own, which could take long."""
    asked, by_variable = [], variables.by_variable

    def watched(*given, **options):
        asked.append(options["exact"])
        return by_variable(*given, **options)

    monkeypatch.setattr(variables, "by_variable", watched)
    assert "y=1" in ran("explain", model, "--target", "won", "--by", "variable", "--exact")
    assert "y=1 (" not in ran("explain", model, "--target", "won", "--exact")
    assert asked == [True]
