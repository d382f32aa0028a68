"""``waypost explain --prop``: a property says what to reach."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from waypost.cli import cli
from waypost.errors import WaypostError
from waypost.formats import write_mdp
from waypost.model import MDP

LINE = MDP.from_dict(
    {
        "a": {"left": {"b": "1/2", "trap": "1/2"}, "right": {"c": 1}},
        "b": {"go": {"won": 1}},
        "c": {"go": {"won": "1/4", "a": "3/4"}},
        "trap": {"out": {"won": 1}},
        "won": {},
    },
    initial="a",
    labels={"won": ["won"], "trapped": ["trap"]},
)


@pytest.fixture
def model(tmp_path):
    write_mdp(LINE, tmp_path / "line.drn")
    return str(tmp_path / "line.drn")


def answer(*words):
    done = CliRunner().invoke(cli, ["explain", *words, "--format", "json"], catch_exceptions=True)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("prop", "greatest"),
    [
        ('Pmax=? [ F "won" ]', 1.0),
        ('Pmax=? [ !"trapped" U "won" ]', 1.0),
        ('Pmax=? [ F<=2 "won" ]', 1.0),
        ('Pmax=? [ !"trapped" U<=2 "won" ]', 0.5),
    ],
)
def test_until_and_step_bounds_change_what_can_be_reached(model, prop, greatest):
    """Avoided states end a run, and steps are counted by the states."""
    assert answer(model, "--prop", prop)["reachability"]["max"] == pytest.approx(greatest)


def test_a_conditional_property_is_the_importance_of_a_set(model):
    """Law: of the runs that meet the condition, the share that met the other before is importance."""
    found = answer(model, "--prop", 'Pmax=? [ F "trapped" || F "won" ]')
    assert found["target"] == '"won"'
    assert [state["name"] for state in found["states"]] == ["trap"]
    assert found["states"][0]["all"] == answer(model, "--target", "won", "--state", "trap")["states"][0]["all"]


def test_constants_of_a_properties_file_are_not_the_models(tmp_path):
    """Law: --const gives a value to whoever leaves it open, be it the model or its properties."""
    write_mdp(LINE, tmp_path / "line.prism")
    (tmp_path / "line.props").write_text('const int k; "soon": Pmax=? [ !"trapped" U<=k "won" ];')
    words = (str(tmp_path / "line.prism"), "--prop", f"{tmp_path / 'line.props'}:soon")
    assert answer(*words, "--const", "k=4")["reachability"]["max"] == pytest.approx(0.625)
    assert answer(*words, "--const", "k=2")["reachability"]["max"] == pytest.approx(0.5)


def test_a_property_and_a_target_are_one_too_many(model):
    with pytest.raises(WaypostError, match="leave --target"):
        answer(model, "--prop", 'Pmax=? [ F "won" ]', "--target", "won")


def test_other_kinds_of_property_are_refused_by_their_name(model):
    with pytest.raises(WaypostError, match=r"(?i)reward"):
        answer(model, "--prop", 'R{"steps"}max=? [ F "won" ]')


def test_a_bound_on_time_is_no_number_of_jumps(tmp_path):
    """In a continuous-time model F<=3 speaks of time, and only jumps are known."""
    pytest.importorskip("stormpy")
    model = tmp_path / "c.prism"
    model.write_text('ctmc\nmodule m\n x : [0..1] init 0;\n [] x=0 -> 2:(x\'=1);\nendmodule\nlabel "goal" = x=1;\n')
    with pytest.raises(WaypostError, match="bounds the time, and a continuous-time model"):
        CliRunner().invoke(cli, ["explain", str(model), "--prop", 'P=? [ F<=3 "goal" ]'], catch_exceptions=False)
    told = CliRunner().invoke(cli, ["check", str(model), "--prop", 'P=? [ F<=3 "goal" ]'], catch_exceptions=False)
    assert "not answered" in told.stdout
