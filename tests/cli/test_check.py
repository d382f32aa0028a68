"""``waypost check``: sizes, labels, and the properties that a file has with their values."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from waypost.cli import cli
from waypost.formats import write_mdp
from waypost.formats.properties import properties_files
from waypost.model import MDP

WALK = MDP.from_dict(
    {
        "x=0": {"safe": {"x=1": 1}, "bold": {"x=2": "1/2", "x=3": "1/2"}},
        "x=1": {"on": {"x=2": "1/4", "x=0": "3/4"}},
        "x=2": {},
        "x=3": {},
    },
    initial="x=0",
    labels={"won": ["x=2"], "lost": ["x=3"]},
)
PROPS = """
const int k;
"best": Pmax=? [ F "won" ];
"worst": Pmin=? [ F "won" ];
"never": Pmax=? [ F x=7 ];
"soon": Pmax=? [ F<=k "won" ];
"enough": P>=1/2 [ F "won" ];
"through": Pmax=? [ F x=1 || F "won" ];
"cost": R{"steps"}min=? [ F "won" ];
"""


def checked(*words):
    done = CliRunner().invoke(cli, ["check", *map(str, words)], terminal_width=200, env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


def rows(text):
    """Cells of the table of properties, by name."""
    table = text.partition("Properties")[2]
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if line.startswith("│")]
    return {name: value for name, _, value in lines}


@pytest.fixture
def model(tmp_path):
    write_mdp(WALK, tmp_path / "walk.3.prism")
    (tmp_path / "walk.props").write_text(PROPS)
    return tmp_path / "walk.3.prism"


def test_the_properties_beside_a_model_are_listed_with_their_values(model):
    """Law: reachability, until, steps, thresholds and conditions by hand; other kinds are told, not computed."""
    found = rows(checked(model, "--const", "k=1"))
    assert found == {
        "best": "1",
        "worst": "0.5",
        "never": "0",
        "soon": "0.5",
        "enough": "true (0.5)",
        "through": "1",
        "cost": "not answered: expected rewards (R)",
    }


def test_a_property_that_lacks_a_constant_does_not_keep_the_others_from_being_answered(model):
    found = rows(checked(model))
    assert found["best"] == "1"
    assert "k" in found["soon"]
    assert found["soon"].startswith("not answered")


def test_exact_values_are_fractions(model):
    assert rows(checked(model, "--exact", "--const", "k=3"))["soon"] == "5/8"


def test_properties_may_be_named_or_written(model):
    beside = f"{model.with_name('walk.props')}:worst"
    found = rows(checked(model, "--prop", beside, "--prop", 'Pmin=? [ !"lost" U x=2 ]'))
    assert found == {"worst": "0.5", 'Pmin=? [ !"lost" U x=2 ]': "0.5"}


def test_sizes_are_told(model):
    text = checked(model)
    assert "4 states, 5 choices, 7 transitions" in text
    assert "1 state offers a choice, of up to 2" in text
    assert "variables: x 0..3" in text
    assert "1 component is cyclic, it has 2 states" in text


def test_a_jani_file_brings_its_own_properties(tmp_path):
    pytest.importorskip("stormpy")
    path = tmp_path / "coin.jani"
    flip = {"location": "toss", "action": "flip", "destinations": [
        {"location": location, "probability": {"exp": 0.5}} for location in ("heads", "tails")
    ]}  # fmt: skip
    reach = {"op": "Pmax", "exp": {"op": "F", "exp": "won"}}
    document = {
        "jani-version": 1, "name": "coin", "type": "mdp", "actions": [{"name": "flip"}],
        "variables": [{"name": "won", "type": "bool", "transient": True, "initial-value": False}],
        "properties": [{"name": "luck", "expression": {"op": "filter", "fun": "max", "values": reach,
                        "states": {"op": "initial"}}}],
        "automata": [{"name": "hand", "locations": [{"name": "toss"},
            {"name": "heads", "transient-values": [{"ref": "won", "value": True}]}, {"name": "tails"}],
            "initial-locations": ["toss"], "edges": [flip]}],
        "system": {"elements": [{"automaton": "hand"}], "syncs": [{"synchronise": ["flip"], "result": "flip"}]},
    }  # fmt: skip
    path.write_text(json.dumps(document))
    (tmp_path / "coin.props").write_text('"other": Pmax=? [ F "won" ]')
    assert rows(checked(path)) == {"luck": "0.5"}
    assert properties_files(path) == (path,)


def test_of_thousands_of_final_states_a_few_are_told(tmp_path):
    """Law: what has no label and is endless stands in no one's way to the properties."""
    names = [f"x={k}" for k in range(100)]
    mdp = MDP.from_dict({"x=100": {"go": dict.fromkeys(names, 0.01)}, **{name: {} for name in names}}, initial="x=100")
    write_mdp(mdp, tmp_path / "many.json")
    told = checked(str(tmp_path / "many.json"))
    assert "and 95 more" in told
    assert "x=4 " in told
    assert "x=5 " not in told
