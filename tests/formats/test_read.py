"""One model, many files: the same scores under the same names, and clear words where there is none."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from formats.models import assert_same
from waypost import explain, reachability, state_importance
from waypost.cases import loan
from waypost.errors import WaypostError
from waypost.formats import ReadingNote, prism, read_mdp, read_symbolic, write_mdp
from waypost.formats.prism_writer import with_kept_names
from waypost.formats.properties import asked, read_properties
from waypost.model import FINAL, MDP

ENDINGS = [".prism", ".drn", ".tra", ".json", ".umb"]
MODELS = {  # file: target
    "models/storm/two_dice.nm": "seven",
    "models/paper/greps.prism": "positive",
    "models/paper/bpic17.prism": "positive",
    "models/learned/spotify1000.drn": "positive",
}


@pytest.mark.parametrize(("source", "target"), MODELS.items())
def test_every_format_gives_the_same_scores_under_the_same_names(source, target, shared_data, tmp_path):
    """Law: the file a model comes from does not matter."""
    file = shared_data / source
    if file.suffix == ".nm":
        pytest.importorskip("stormpy")
    mdp = read_mdp(file)
    names = list(mdp.states[:: max(mdp.n_states // 15, 1)])
    expected = {scope: state_importance(mdp, target=target, scope=scope, states=names) for scope in ("all", "optimal")}
    for ending in ENDINGS:
        write_mdp(mdp, tmp_path / f"model{ending}")
        again = read_mdp(tmp_path / f"model{ending}")
        assert_same(mdp.with_labels(again.labels), again)
        assert {name: mask.tolist() for name, mask in again.labels.items()} == {
            name: mask.tolist() for name, mask in mdp.labels.items()
        }
        for scope, result in expected.items():
            assert state_importance(again, target=target, scope=scope, states=names).to_dict() == result.to_dict()


def test_two_dice_is_the_same_in_all_three_published_files(shared_data):
    """The published files number the states each in its own way, and name only the labels."""
    pytest.importorskip("stormpy")
    models = [read_mdp(shared_data / f"models/storm/two_dice.{ending}") for ending in ("nm", "drn", "tra")]
    for label, probability in {"two": 1 / 36, "three": 2 / 36, "four": 3 / 36, "seven": 6 / 36}.items():
        for mdp in models:
            assert reachability(mdp, target=label, optimum="max")[mdp.initial] == pytest.approx(probability, abs=1e-14)
    scores = [explain(mdp, target="seven").scopes["all"] for mdp in models]
    for side in ("lower", "upper"):
        first, *others = (np.sort(getattr(score, side)) for score in scores)
        for other in others:
            assert other == pytest.approx(first, abs=1e-12)


@pytest.mark.parametrize("study", ["greps", "bpic12", "bpic17"])
@pytest.mark.parametrize("exact", [False, True])
def test_our_own_reader_agrees_with_storm(study, exact, shared_data):
    pytest.importorskip("stormpy")
    file = shared_data / f"models/paper/{study}.prism"
    ours, storms = prism.loads(file.read_text(), exact=exact), read_symbolic(file, exact=exact)
    assert set(ours.states) == set(storms.states)
    assert ours.labels.keys() == storms.labels.keys()
    for name in ours.states:
        a, b = ours.state(name), storms.state(name)
        assert ours.labels_of(a) == tuple(x for x in ours.labels if storms.labels[x][b])
        found, expected = outcomes(ours, a), outcomes(storms, b)
        assert found.keys() == expected.keys()
        for action, distribution in expected.items():  # Storm's floats differ in the last bit
            assert found[action] == (distribution if exact else pytest.approx(distribution, rel=1e-14))


def outcomes(mdp: MDP, state: int) -> dict[str, dict[str, object]]:
    matrix, numbers = mdp.transitions, mdp.transitions.data if mdp.exact is None else mdp.exact
    return {
        mdp.actions[c]: {
            mdp.states[matrix.indices[k]]: numbers[k] for k in range(matrix.indptr[c], matrix.indptr[c + 1])
        }
        for c in range(mdp.first_choice[state], mdp.first_choice[state + 1])
    }


def test_storm_reads_what_we_write_and_the_names_come_back(tmp_path):
    pytest.importorskip("stormpy")
    text = prism.dumps(loan())
    (tmp_path / "loan.prism").write_text(text)
    again = with_kept_names(read_symbolic(tmp_path / "loan.prism"), text)
    assert set(again.states) == set(loan().states)
    for scope in ("all", "optimal"):
        expected = state_importance(loan(), target="Granted", scope=scope).to_dict()
        found = state_importance(again, target="Granted", scope=scope).to_dict()
        for name, bounds in expected.items():
            assert (found[name].lower, found[name].upper) == pytest.approx((bounds.lower, bounds.upper))


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_format_is_found_by_content(ending, tmp_path):
    write_mdp(loan(), tmp_path / f"model{ending}")
    shutil.move(tmp_path / f"model{ending}", tmp_path / "model.tra" if ending == ".tra" else tmp_path / "model.dat")
    if ending == ".tra":
        (tmp_path / "model.tra").rename(tmp_path / "model")
    file = tmp_path / ("model" if ending == ".tra" else "model.dat")
    assert_same(loan(), read_mdp(file, exact=True))


def test_storms_umb_is_read(shared_data, tmp_path):
    stormpy = pytest.importorskip("stormpy")
    from stormpy.io import export_to_umb

    file = shared_data / "models/storm/two_dice.nm"
    model = stormpy.build_model(stormpy.parse_prism_program(str(file)), options=stormpy.BuilderOptions(build_full=True))
    export_to_umb(model, str(tmp_path / "two_dice.umb"))
    assert_same(read_mdp(file), read_mdp(tmp_path / "two_dice.umb"))


def test_storm_reads_our_umb(tmp_path):
    stormpy = pytest.importorskip("stormpy")
    write_mdp(loan(), tmp_path / "loan.umb")
    model = stormpy.build_model_from_umb(str(tmp_path / "loan.umb"))
    assert (model.nr_states, model.nr_choices, model.nr_transitions) == (10, 14, loan().transitions.nnz)


PRISM = """mdp
const int N;
module m
  x : [0..N] init 0;
  [go] x<N -> 0.5 : (x'=x+1) + 0.5 : (x'=0);
endmodule
label "goal" = x=N;
"""


@pytest.mark.parametrize(
    ("text", "constants", "said"),
    [
        (PRISM, None, "leaves N open"),
        (PRISM, {"M": 1}, "no open constant 'M'"),
        (PRISM, {"N": "3; rm"}, "no name with a number"),
        (PRISM.replace("mdp", "smg"), {"N": 3}, "game .* one player"),
        (PRISM.replace("mdp", "pomdp"), {"N": 3}, "partially observable"),
        (PRISM.replace("mdp", "pta"), {"N": 3}, "timed automaton"),
        (PRISM.replace("0.5 :", "0.7 :"), {"N": 3}, "Storm cannot read|summing to"),
        ("mdp\nmodule m\nendmodul", None, "Storm cannot read"),
        ("hello", None, "in no known format"),
        ("  \n", None, "is empty"),
        ('{"a": 1}', None, "not a model"),
        ("mdp\n0 0 1 0.5\n", None, "summing to 0.5"),
        ("@type: CTMC\n@model\n", None, "from DRN only MDP and DTMC"),
        ('{"format": "waypost-mdp", "initial": "a", "states": {"a": {}}}', {"N": 1}, "no constants to set"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_clear_word(text, constants, said, tmp_path):
    if text.startswith(("mdp\n", "ctmc")) and "module" in text:
        pytest.importorskip("stormpy")
    (tmp_path / "model.txt").write_text(text)
    with pytest.raises(WaypostError, match=said):
        read_mdp(tmp_path / "model.txt", constants=constants)


def test_constants_are_set_and_markov_chains_are_mdps_with_one_choice(tmp_path):
    pytest.importorskip("stormpy")
    (tmp_path / "model.prism").write_text(PRISM)
    assert read_mdp(tmp_path / "model.prism", constants={"N": 5}).n_states == 6
    (tmp_path / "model.prism").write_text(PRISM.replace("mdp", "dtmc"))
    chain = read_mdp(tmp_path / "model.prism", constants={"N": 5}, exact=True)
    assert (np.diff(chain.first_choice) == 1).all()
    assert reachability(chain, target="x=5", optimum="min", exact=True)[chain.initial] == 1


def test_too_large_a_state_space_is_given_up_in_time(tmp_path):
    pytest.importorskip("stormpy")
    (tmp_path / "model.prism").write_text(PRISM)
    with pytest.raises(WaypostError, match="did not finish"):
        read_symbolic(tmp_path / "model.prism", constants={"N": 2_000_000_000}, time_limit=2)


def test_one_of_several_initial_states_is_chosen_by_a_state_that_is_added(tmp_path):
    """Law: the best value from `start` is the best over the initial states; choosing one adds nothing."""
    pytest.importorskip("stormpy")
    text = PRISM.replace(" init 0;", ";").replace("label", "init x<2 endinit\nlabel").replace("(x'=0)", "(x'=N-1)")
    (tmp_path / "model.prism").write_text(text.replace("x<N ->", "x<N-1 ->"))
    file, target = tmp_path / "model.prism", "x=4"
    with pytest.warns(ReadingNote, match=r"2 initial states, so a state 'start' is added"):
        mdp = read_mdp(file, constants={"N": 5})
    assert mdp.states[mdp.initial] == "start"
    assert [mdp.actions[c] for c in mdp.choices(mdp.initial)] == ["x=0", "x=1"]
    chosen = [read_mdp(file, constants={"N": 5}, initial=name) for name in ("x=0", "x=1")]
    assert {m.n_states for m in chosen} == {mdp.n_states - 1}
    values = [reachability(m, target=target, optimum="max")[m.initial] for m in chosen]
    assert reachability(mdp, target=target, optimum="max")[mdp.initial] == max(values)


CTMC = """ctmc
module m
  x : [0..3] init 0;
  [up] x<3 -> 2 : (x'=x+1) + 1 : (x'=0);
  [lose] x=1 -> 1/2 : (x'=0);
endmodule
"""
MA = """ma
module m
  x : [0..3] init 0;
  [a] x=0 -> 0.5 : (x'=1) + 0.5 : (x'=2);
  [b] x=0 -> (x'=2);
  <> x=1 -> 3 : (x'=3) + 1 : (x'=0);
  <> x=0 -> 7 : (x'=3);
  <> x=2 -> 2 : (x'=2);
endmodule
"""


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (CTMC, {"x=0": [[1 / 3, 2 / 3, 0, 0]], "x=1": [[3 / 7, 0, 4 / 7, 0]]}),
        (MA, {"x=0": [[0, 0.5, 0.5, 0], [0, 0, 1, 0]], "x=1": [[0.25, 0, 0, 0.75]], "x=2": [[0, 0, 1, 0]]}),
    ],
)
def test_continuous_time_is_read_by_its_jumps(text, rows, tmp_path):
    """Rates that race become the probabilities of winning the race; where there are actions, rates do not act."""
    pytest.importorskip("stormpy")
    (tmp_path / "model.prism").write_text(text)
    with pytest.warns(ReadingNote, match="read by its jumps"):
        mdp = read_mdp(tmp_path / "model.prism")
    order = [mdp.state(f"x={x}") for x in range(4)]
    for name, expected in rows.items():
        found = [mdp.transitions[[c]].toarray()[0, order].tolist() for c in mdp.choices(mdp.state(name))]
        assert sorted(found) == [pytest.approx(row) for row in sorted(expected)]


@pytest.mark.parametrize("source", ["nowhere.drn", "."])
def test_a_file_that_is_not_there_is_named(source, tmp_path):
    with pytest.raises(WaypostError, match="cannot read"):
        read_mdp(tmp_path / source)


@pytest.mark.parametrize("source", [3.5, object(), {"a": 1}])
def test_an_object_that_is_no_model_is_named(source):
    with pytest.raises(WaypostError, match="no model we know"):
        read_mdp(source)


def test_an_ending_without_a_format_is_refused(tmp_path):
    with pytest.raises(WaypostError, match=r"ends in '\.xyz'"):
        write_mdp(loan(), tmp_path / "model.xyz")


def test_prisms_combined_file_is_read(tmp_path):
    (tmp_path / "m.pexp").write_text(
        "# Transitions (MDP)\n2 2 3\n0 0 0 1/3 go\n0 0 1 2/3 go\n1 0 1 1\n\n"
        "# States\n(x,b)\n0:(0,true)\n1:(3,false)\n\n"
        '# Labels\n0="init" 1="deadlock" 2="end"\n0: 0\n1: 2\n'
    )
    mdp = read_mdp(tmp_path / "m.pexp", exact=True)
    assert mdp.states == ("x=0, b=true", "x=3, b=false")
    assert [str(p) for p in mdp.exact] == ["1/3", "2/3", "1"]
    assert list(mdp.labels) == ["end"]
    assert mdp.where("x>2 & !b").tolist() == [False, True]


def test_targets_may_be_expressions_and_sets_of_them(shared_data):
    mdp = read_mdp(shared_data / "models/paper/bpic12.prism")
    one = mdp.where("loc=58 | loc=11 & loc<20")
    assert [mdp.states[s] for s in np.flatnonzero(one)] == ["loc=11", "loc=58"]
    assert mdp.where(["loc>126", "positive"]).sum() == 3
    with pytest.raises(WaypostError, match="no variable 'lok'"):
        mdp.where("lok=58")
    with pytest.raises(WaypostError, match="holds in no state"):
        mdp.where("loc>1000")


def test_prism_and_jani_of_one_model_give_the_same_names(shared_data):
    pytest.importorskip("stormpy")
    folder = shared_data / "models/qcomp/consensus"
    prism, jani = (read_mdp(folder / f"consensus.2.{kind}", constants={"K": 2}) for kind in ("prism", "jani"))
    assert set(prism.states) == set(jani.states)
    for label in ("finished", "agree"):
        values = [dict(zip(m.states, reachability(m, target=label, optimum="min"), strict=True)) for m in (prism, jani)]
        assert values[0] == pytest.approx(values[1], abs=1e-12)


DIGIT = {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}
JANI = {
    "jani-version": 1,
    "name": "door",
    "type": "mdp",
    "actions": [{"name": "knock"}, {"name": "enter"}],
    "constants": [
        {"name": "N", "type": "int"},
        {"name": "M", "type": "int", "value": {"op": "+", "left": "N", "right": 1}},
    ],
    "variables": [
        {"name": "fixed", "type": DIGIT, "initial-value": 7},
        {"name": "n", "type": DIGIT, "initial-value": 0},
        {"name": "inside", "type": "bool", "transient": True, "initial-value": False},
    ],
    "automata": [
        {
            "name": "guest",
            "locations": [
                {"name": "street"},
                {"name": "hall", "transient-values": [{"ref": "inside", "value": True}]},
            ],
            "initial-locations": ["street"],
            "edges": [
                {
                    "location": "street",
                    "action": "knock",
                    "guard": {"exp": {"op": "<", "left": "n", "right": "N"}},
                    "destinations": [
                        {"location": "street", "probability": {"exp": 0.5},
                         "assignments": [{"ref": "n", "value": {"op": "+", "left": "n", "right": 1}}]},
                        {"location": "hall", "probability": {"exp": 0.5}},
                    ],
                },
                {
                    "location": "street",
                    "action": "enter",
                    "guard": {"exp": {"op": "=", "left": "n", "right": "N"}},
                    "destinations": [{"location": "hall"}],
                },
            ],
        }
    ],
    "system": {"elements": [{"automaton": "guest"}], "syncs": [
        {"synchronise": ["knock"], "result": "knock"}, {"synchronise": ["enter"], "result": "enter"}]},
    "properties": [
        {"name": "soon", "expression": {"op": "filter", "fun": "values", "states": {"op": "initial"},
         "values": {"op": "Pmax", "exp": {"op": "F", "exp": "inside", "step-bounds": {"upper": "N"}}}}},
        {"name": "long", "expression": {"op": "filter", "fun": "values", "states": {"op": "initial"},
         "values": {"op": "Emin", "exp": 1, "reach": "inside"}}},
    ],
}  # fmt: skip


def test_jani_locations_and_actions_have_their_names(tmp_path):
    """What never changes is not in a name, and can be asked for all the same."""
    pytest.importorskip("stormpy")
    (tmp_path / "door.jani").write_text(json.dumps(JANI))
    mdp = read_mdp(tmp_path / "door.jani", constants={"N": 2})
    assert sorted(mdp.states) == [f"n={n}, guest={place}" for n in range(3) for place in ("hall", "street")]
    assert {mdp.actions[c] for c in range(mdp.n_choices)} == {"knock", "enter", FINAL}
    assert mdp.where("guest=hall").tolist() == mdp.where("inside").tolist()
    assert (
        mdp.where("fixed=7 & n<M-2 & guest=street").tolist() == (np.array(mdp.states) == "n=0, guest=street").tolist()
    )
    soon, long = read_properties(tmp_path / "door.jani", constants={"N": 2})
    assert long.reason == "expected rewards (E)"
    model, target, _ = asked(mdp, soon)
    assert reachability(model, target=target, optimum="max")[model.initial] == 0.75
