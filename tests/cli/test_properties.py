"""``waypost explain --prop``: a property says what to reach."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from waypost.cli import cli
from waypost.errors import ModelError, UndefinedImportanceError, WaypostError
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


CHAIN = """ctmc
module m
  x : [0..2] init 0;
  [] x=0 -> 2:(x'=1) + 1:(x'=2);
  [] x=1 -> 3:(x'=0) + 1:(x'=2);
endmodule
label "goal" = x=2;
"""


def test_steps_of_a_continuous_time_model_are_said_to_be_jumps(tmp_path):
    """Law: whoever counts steps where time passes between them is told that it is not time that is counted."""
    pytest.importorskip("stormpy")
    (tmp_path / "c.prism").write_text(CHAIN)
    words = [str(tmp_path / "c.prism"), "--target", "goal"]
    for option in ("--steps", "--within"):
        told = CliRunner().invoke(cli, ["explain", *words, option, "4"], catch_exceptions=False)
        assert "4 steps are 4 jumps of a continuous-time model, however long they take" in told.stderr
    told = CliRunner().invoke(cli, ["explain", *words], catch_exceptions=False)
    assert "read by its jumps" in told.stderr
    assert "steps are" not in told.stderr


def test_a_property_of_the_model_goes_by_its_name(tmp_path):
    """Law: a name means the property of that name in the JANI model itself, or in the file beside a PRISM model."""
    pytest.importorskip("stormpy")
    model, beside = tmp_path / "line.drn", tmp_path / "line.props"
    write_mdp(LINE, model)
    beside.write_text('"safely": Pmax=? [ !"trapped" U<=2 "won" ];\n"cost": R{"c"}max=? [ F "won" ];')
    named = answer(str(model), "--prop", "safely")
    assert named == answer(str(model), "--prop", f"{beside}:safely")
    assert named["reachability"]["max"] == pytest.approx(0.5)
    with pytest.raises(WaypostError, match=r"no property 'safly' in line\.props; did you mean 'safely'"):
        answer(str(model), "--prop", "safly")
    with pytest.raises(WaypostError, match="expected rewards"):
        answer(str(model), "--prop", "cost")
    with pytest.raises(WaypostError, match=r"no file '.*other\.props'"):
        answer(str(model), "--prop", f"{tmp_path / 'other.props'}:safely")
    told = CliRunner().invoke(cli, ["check", str(model), "--prop", "safely"], catch_exceptions=False)
    assert "0.5" in told.stdout.rpartition("Properties")[2]


def test_a_property_of_a_jani_model_goes_by_its_name(shared_data):
    pytest.importorskip("stormpy")
    model = shared_data / "models/qcomp/consensus/consensus.2.jani"
    found = answer(str(model), "--const", "K=2", "--prop", "c2", "--state", "counter=9")
    assert found["reachability"]["min"] == pytest.approx(0.3828125)


def test_a_probability_that_nobody_optimises_is_both_where_there_are_choices(model):
    """Law: P=? of a model with choices is the least and the greatest probability."""
    told = CliRunner().invoke(cli, ["check", model, "--prop", 'P=? [ F<=3 "trapped" ]'], catch_exceptions=False)
    assert "0 to 0.5" in told.stdout


SEVERAL = """mdp
module m
  x : [0..4];
  y : [0..1];
  [up] x<4 -> 0.5:(x'=x+1) + 0.5:(y'=1);
endmodule
init x<=1 & y=0 endinit
label "top" = x=4;
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", '"tip"'], "no label 'tip' in this model; known labels: top"),
        (
            ["--prop", 'Pmax=? [ x>2 U "top" ]', "--initial", "x=1"],
            "from 'x=1' as 'Pmax.* asks, so .* undefined",
        ),
        (["--target", "top", "--initial", "y=1"], "means 5 states, and .* say which: 'x=0, y=1' or"),
        (["--target", "x=2", "--initial", "x=3 & y=0"], "on the way to 'x=2', and a run begins before that"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence_with_names(tmp_path, words, said):
    pytest.importorskip("stormpy")
    (tmp_path / "m.prism").write_text(SEVERAL)
    with pytest.raises(WaypostError, match=said):
        answer(str(tmp_path / "m.prism"), *words)


def test_one_of_several_initial_states_is_chosen_by_what_tells_it_from_the_others(tmp_path):
    """Law: `x=1` is enough where one initial state has it, however many others do."""
    pytest.importorskip("stormpy")
    (tmp_path / "m.prism").write_text(SEVERAL)
    words = (str(tmp_path / "m.prism"), "--target", "top", "--initial")
    assert answer(*words, "x=1") == answer(*words, "x=1, y=0")


def test_steps_are_counted_by_constants_of_the_model_too(tmp_path):
    """Law: a property may use the constants of its model, those that are given and those that it defines."""
    pytest.importorskip("stormpy")
    file, beside = tmp_path / "m.prism", tmp_path / "m.props"
    text = "const int N; const int twice=2*N; module m x:[0..9]; [up] x<9 -> 0.5:(x'=x+1)+0.5:true; endmodule"
    file.write_text(f"mdp {text}")
    beside.write_text('"soon": Pmax=? [ F<=twice x=N ];')
    for prop in ("soon", f"{beside}:soon", "Pmax=? [ F<=(N+2) x=N ]"):
        found = answer(str(file), "--const", "N=2", "--prop", prop)
        assert found["reachability"]["max"] == pytest.approx(11 / 16)


def test_a_target_that_takes_too_many_steps_to_count_is_not_called_unreachable(model):
    """Law: only what holds nowhere is out of reach; steps that are too many are said to be."""
    with pytest.raises(ModelError, match="counting 2147483646 steps needs more than 20,000,000 states"):
        answer(model, "--prop", 'Pmax=? [ F<=2147483646 "won" ]')


@pytest.mark.parametrize("steps", [0, 1])
def test_a_target_that_is_not_reached_in_time_is_told_with_the_property(model, steps):
    """Law: it holds in the model, and nobody says that it does not."""
    with pytest.raises(UndefinedImportanceError, match=rf"from .* as 'Pmax=\? \[ F<={steps} .won. \]' asks"):
        answer(model, "--prop", f'Pmax=? [ F<={steps} "won" ]')


@pytest.mark.parametrize(("prop", "told"), [("Pmin=?", True), ("Pmax=?", False), ("P=?", False), ("P>=0.1", False)])
def test_who_asks_for_the_least_probability_is_told_which_strategies_are_the_best(model, prop, told):
    """Law: in scope optimal the best are those who reach it most likely, whatever a property optimises."""
    words = ["explain", model, "--prop", f'{prop} [ F "trapped" ]']
    said = "asks for the least probability; the best strategies here are those most likely to reach"
    assert (said in CliRunner().invoke(cli, words).stderr) == told
    assert said not in CliRunner().invoke(cli, [*words, "--scope", "all"]).stderr
    assert said not in CliRunner().invoke(cli, [*words, "--quiet"]).stderr
