"""Properties as model checkers write them: plain data, a model and a target, and the published numbers."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.models import mdps, plain_names
from model.test_steps import best_within
from waypost.cases import loan
from waypost.errors import FormatError, ModelError, NameUnknownError, WaypostError
from waypost.formats import read_mdp
from waypost.formats.properties import (
    Property,
    Unsupported,
    answer,
    asked,
    find_property,
    loads,
    parse_property,
    read_properties,
)
from waypost.solve import reachability


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('Pmax=? [ F "goal" ]', {"optimum": "max", "target": '"goal"'}),
        ("P=?[F x>3]", {"optimum": "max", "target": "x>3"}),
        ("P>=1 [ F x=3 ]", {"optimum": "min", "target": "x=3", "threshold": ">=1"}),
        ("P < 0.1 [ F x=3 ]", {"optimum": "max", "target": "x=3", "threshold": "<0.1"}),
        ("Pmin=? [ true U x=3 ]", {"optimum": "min", "target": "x=3", "avoid": None}),
        ('Pmin=? [ !"bad" U x=3 & y=1 ]', {"avoid": '"bad"', "target": "x=3 & y=1"}),
        ("Pmin=? [ x<2 | y=1 U x=3 ]", {"avoid": "!(x<2 | y=1)", "target": "x=3"}),
        ("Pmax=? [ F<=7 x=3 ]", {"within": 7}),
        ("Pmax=? [ F[0, 2*k] x=3 ]", {"within": 6, "target": "x=3"}),
        ("Pmax=? [ x<5 U<(2*k) x=3 ]", {"within": 5, "avoid": "!(x<5)"}),
        ('Pmax=? [ F "a" || F "b" ]', {"target": '"a"', "given": '"b"'}),
    ],
)
def test_a_property_is_plain_data(text, parts):
    found = parse_property(text, definitions={"k": "3"})
    assert {name: getattr(found, name) for name in parts} == parts
    assert found.text == text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('Pmax=? [ G "safe" ]', "globally"),
        ('Pmax=? [ X "next" ]', "next"),
        ("Pmax=? [ x=1 W x=2 ]", "weak until"),
        ("Pmax=? [ F[1,3] x=2 ]", "a lower bound on the steps"),
        ("Pmax=? [ F<=2.5 x=2 ]", "<=2.5, which is no number of steps"),
        ("Pmax=? [ F<0 x=2 ]", "<0, which is no number of steps"),
        ("Pmax=? [ F ]", "names nothing to reach"),
        ("Tmin=? [ F x=2 ]", "expected times"),
        ("Pmax=? [ F (G x=1) ]", "a formula inside another"),
        ("Pmax=? [ F x=1 U x=2 ]", "several temporal operators"),
        ("Pmax=? [ F>=3 x=1 ]", "lower bound"),
        ("Pmax=? [ F[2,3] x=1 ]", "lower bound"),
        ("Pmax=? [ F P>0.5 [ F x=1 ] ]", "a formula inside another|several temporal"),
        ('R{"time"}min=? [ F x=1 ]', "expected rewards"),
        ("Rmax=? [ C<=3 ]", "expected rewards"),
        ("S=? [ x=1 ]", "the long run"),
        ("E [ F x=1 ]", "CTL"),
        ("filter(max, P=? [ F x=1 ])", "filters"),
        ("multi(Pmax=? [ F x=1 ], P>=0.5 [ F x=2 ])", "several objectives"),
        ("Pmax=? [ x=1 ]", "without F or U"),
        ("x=1", "no probability"),
        ("Pmax=? [ F<=3 x=1 || F x=2 ]", "more than reachability"),
    ],
)
def test_what_we_do_not_answer_is_refused_by_its_name(text, kind):
    with pytest.raises(FormatError, match=f"asks for .*({kind}).*; reachability .* can be answered"):
        parse_property(text)


FILE = """// with all that a file may have
const int k;
const double half = 1/2;
label "far" = x>k;
"reach": Pmax=? [ F "far" ];

Pmin=? [ F<=k
   x=3 ]
"cost": R{"c"}min=? [ F "far" ]; "two": P>=half [ !"far" U x=3 ]"""


def test_a_file_has_properties_with_and_without_names():
    reach, nameless, cost, two = loads(FILE, constants={"k": 2})
    assert (reach.name, reach.target) == ("reach", "(x>k)")
    assert (nameless.name, nameless.within) == ("Pmin=? [ F<=k x=3 ]", 2)
    assert isinstance(cost, Unsupported)
    assert (two.avoid, two.threshold) == ("(x>k)", ">=half")
    assert two.definitions == {"k": "2", "half": "1/2"}


def test_a_property_is_found_by_file_and_name(tmp_path):
    (tmp_path / "a.props").write_text(FILE)
    assert find_property(f"{tmp_path / 'a.props'}:reach", constants={"k": 2}).name == "reach"
    with pytest.raises(NameUnknownError, match=r"no property 'rech' in a\.props; did you mean 'reach'"):
        find_property(f"{tmp_path / 'a.props'}:rech", constants={"k": 2})
    with pytest.raises(FormatError, match="4 properties; choose one"):
        find_property(str(tmp_path / "a.props"), constants={"k": 2})
    with pytest.raises(FormatError, match="expected rewards"):
        find_property(f"{tmp_path / 'a.props'}:cost", constants={"k": 2})


@given(st.text(alphabet='Pmax=? []FUGX<>|&!()"goalxk0123;:\n', max_size=60))
def test_any_text_is_properties_or_an_error_of_ours(text):
    try:
        found = loads(text)
    except WaypostError:
        return
    assert all(isinstance(p, Property | Unsupported) for p in found)


@given(mdps(plain_names), st.integers(0, 4), st.data())
def test_until_within_steps_is_value_iteration_that_stops(mdp, steps, data):
    """Law: a U<=n b counts runs that reach b in n steps and leave a only there."""
    allowed, target = (
        np.array(data.draw(st.lists(st.booleans(), min_size=mdp.n_states, max_size=mdp.n_states))) for _ in range(2)
    )
    mdp = mdp.with_labels({"a": allowed, "b": target})
    for optimum, pick in (("max", max), ("min", min)):
        question = parse_property(f'P{optimum}=? [ "a" U<={steps} "b" ]')
        expected = best_within(mdp.absorbing(~allowed & ~target), target, steps, pick)
        try:
            model, found, _ = asked(mdp, question)
        except ModelError:
            assert not target.any()
            continue
        reached = model.labels["b"].any() and reachability(model, target=found, optimum=optimum)[model.initial]
        assert reached == pytest.approx(expected, abs=1e-12)


def test_avoided_states_end_a_run():
    mdp = loan()
    question = parse_property('Pmax=? [ !"Rework" U "Granted" ]')
    model, target, _ = asked(mdp, question)
    assert model.is_final[mdp.state("Rework")]
    without = mdp.absorbing(mdp.where("Rework"))
    assert reachability(model, target=target, optimum="max").tolist() == (
        reachability(without, target="Granted", optimum="max").tolist()
    )


def test_a_conditional_asks_for_importance_where_the_order_does_not_matter():
    model, target, states = asked(loan(), parse_property('Pmax=? [ F "Rework" || F "Granted" ]'))
    assert (target, states, model.n_states) == ('"Granted"', '"Rework"', 10)


def published(folder: Path, largest: int):
    """Every published probability of reaching something, by every way in."""
    with (folder / "REFERENCE.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["property_type"] != "prob-reach" or int(row["states"]) > largest:
                continue
            family, constants = folder / row["family"], json.loads(row["open_params"])
            value = Fraction(1) if row["value"] == "True" else Fraction(row["exact"] or row["value"])
            files = [(family / row["jani_file"],) * 2]
            if row["original_language"] == "PRISM":
                files.append(tuple(family / name for name in row["original_files"].split(";")))
            for model, properties in files:
                if model.exists():
                    yield model, f"{properties}:{row['property']}", constants, (value, row["states"])


def found_values(folder: Path, smallest: int, largest: int):
    """What we answer to every published question, beside the published value."""
    for model, named, constants, value in published(folder, largest):
        if int(value[1]) >= smallest:
            question = find_property(named, constants=constants)
            mdp = read_mdp(model, constants=constants, time_limit=None, **question.reading())
            yield f"{model.name} {named} {constants}", answer(mdp, question), float(value[0])


def test_small_published_values_are_found_by_their_properties(shared_data):
    pytest.importorskip("stormpy")
    done = 0
    for name, found, value in found_values(shared_data / "models/qcomp", 0, 1000):
        assert found == pytest.approx(value, rel=1e-6), name
        done += 1
    assert done > 20


@pytest.mark.slow
def test_all_published_values_are_found_by_their_properties(shared_data):
    """Law: every published reachability and until value, on all models that fit into memory."""
    pytest.importorskip("stormpy")
    wrong = []
    for name, found, value in found_values(shared_data / "models/qcomp", 1001, 2_000_000):
        if found != pytest.approx(value, rel=1e-6):
            wrong.append((name, found, value))
    assert not wrong


def test_storm_builds_no_further_than_the_target(tmp_path):
    """Law: what is behind the target changes no probability, and is not built."""
    pytest.importorskip("stormpy")
    text = """mdp
const int N = 50;
module walk
  x : [0..N] init 0;
  done : bool init false;
  [step] !done & x<N -> 0.9 : (x'=x+1) + 0.1 : (x'=0);
  [stop] !done -> (done'=true);
endmodule
label "home" = x=3;
"""
    (tmp_path / "walk.prism").write_text(text)
    for words in (
        '"home"',
        "home",
        "x=3",
        ["x=3", "done"],
        "x=3 & !done",
        "!x<3 & !x>3",
        "2<x<4",
        "x=3 <=> true",
        '"home" & x=N-47',
    ):
        whole, part = (read_mdp(tmp_path / "walk.prism", target=t) for t in (None, words))
        assert part.n_states <= 12
        assert whole.n_states > 100
        assert part.is_final[part.where(words)].all()
        assert set(part.labels) - {"deadlock"} == {"home"}
        values = [reachability(m, target=words, optimum="max") for m in (whole, part)]
        assert values[1].tolist() == [values[0][whole.state(name)] for name in part.states]
    until = read_mdp(tmp_path / "walk.prism", target="x=9", avoid="x=5")
    assert until.n_states == 11  # x=0..5 on the way, and done for all but the last


def jani(*expressions, **parts):
    """A JANI model of a walker that may get tired, with arrays and a number that is computed, and some properties."""
    done = {"ref": "done", "value": True}
    start = {"op": "ac", "var": "i", "length": 2, "exp": {"op": "*", "left": 3, "right": "i"}}
    document = {
        "jani-version": 1,
        "name": "walk",
        "type": "mdp",
        "features": ["derived-operators", "arrays"],
        "actions": [{"name": "go"}],
        "variables": [
            {
                "name": "x",
                "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 2},
                "initial-value": 0,
            },
            {"name": "done", "type": "bool", "transient": True, "initial-value": False},
            {"name": "load", "type": "int", "transient": True, "initial-value": 0},
            {"name": "a", "type": {"kind": "array", "base": "int"}, "initial-value": start},
        ],
        "automata": [
            {
                "name": "walker",
                "locations": [
                    {"name": "idle"},
                    {"name": "on the way", "transient-values": [{"ref": "load", "value": 3}]},
                    {"name": "home", "transient-values": [done]},
                ],
                "initial-locations": ["idle"],
                "variables": [{"name": "tired", "type": "bool", "initial-value": False}],
                "edges": [
                    {
                        "location": "idle",
                        "action": "go",
                        "guard": {"exp": {"op": "<", "left": "x", "right": 2}},
                        "destinations": [
                            {"location": "on the way", "probability": {"exp": 0.25}},
                            {
                                "location": "idle",
                                "probability": {"exp": 0.75},
                                "assignments": [
                                    {"ref": "x", "value": {"op": "+", "left": "x", "right": 1}},
                                    {"ref": "tired", "value": True},
                                    {"ref": {"op": "aa", "exp": "a", "index": 1}, "value": 8},
                                ],
                            },
                        ],
                    },
                    {"location": "on the way", "action": "go", "destinations": [{"location": "home"}]},
                ],
            }
        ],
        "system": {"elements": [{"automaton": "walker"}], "syncs": [{"synchronise": ["go"], "result": "go"}]},
        "properties": [{"name": f"p{k}", "expression": each} for k, each in enumerate(expressions)],
    }
    return json.dumps(document | parts)


def _greatest(path, fun="max", states=None):
    return {"op": "filter", "fun": fun, "values": {"op": "Pmax", "exp": path}, "states": states or {"op": "initial"}}


def test_a_jani_model_is_read_with_computed_numbers_arrays_and_what_an_automaton_has_for_itself(tmp_path):
    """Law: a variable means what it does in the model, whatever Storm calls it; names with spaces stand in quotes."""
    pytest.importorskip("stormpy")
    file = tmp_path / "walk.jani"
    file.write_text(jani())
    mdp = read_mdp(file)
    names = np.array(mdp.states)
    assert set(names[mdp.where("load = 3")]) == set(names[mdp.where('walker = "on the way"')])
    assert mdp.where("tired").tolist() == mdp.where("x > 0").tolist() == mdp.where("a_at_1 = 8").tolist()
    assert mdp.where("a_at_0 = 0").all()


def test_one_property_that_nobody_reads_is_no_reason_to_refuse_the_others(tmp_path):
    """Law: what a JANI file asks is answered or refused one by one, also where Storm understands one of them not."""
    pytest.importorskip("stormpy")
    reach = {"op": "F", "exp": "done"}
    several = [
        _greatest(reach),
        _greatest({"op": "F", "exp": {"op": "≥", "left": {"op": "Pmax", "exp": reach}, "right": 0.5}}),
        _greatest({"op": "F", "exp": {"op": "deadlock"}}),
        _greatest({"op": "F", "exp": {"op": "=", "left": {"op": "aa", "exp": "a", "index": 1}, "right": 8}}),
        _greatest({"op": "F", "exp": {"op": "=", "left": {"op": "aa", "exp": "a", "index": "x"}, "right": 8}}),
        _greatest(reach, fun="count"),
        _greatest(reach, states={"op": "=", "left": "x", "right": 1}),
        _greatest({"op": "F", "exp": {"op": "initial"}}),
        _greatest({"op": "F", "exp": "done", "step-bounds": {"lower": 0, "upper": 2}}),
    ]
    file = tmp_path / "walk.jani"
    file.write_text(jani(*several))
    mdp = read_mdp(file)
    said = [p.reason if isinstance(p, Unsupported) else answer(mdp, p) for p in read_properties(file)]
    assert said == [
        0.4375,
        "a formula inside another",
        1.0,
        0.75,
        "an expression with 'aa', which we do not read",
        "a filter (count)",
        "a filter on other states than the initial ones",
        1.0,
        0.25,
    ]


def test_every_model_has_the_labels_init_and_deadlock(tmp_path):
    """As PRISM and Storm have them, also where no state is a deadlock."""
    pytest.importorskip("stormpy")
    file = tmp_path / "m.prism"
    file.write_text("mdp module m x:[0..2]; [a] x<2 -> 0.5:(x'=x+1)+0.5:(x'=0); [b] x=2 -> (x'=0); endmodule")
    mdp = read_mdp(file)
    for text, value in (('Pmin=? [ F "init" ]', 1), ('Pmax=? [ F "deadlock" ]', 0), ('Pmax=? [ !"init" U x=2 ]', 0)):
        assert answer(mdp, parse_property(text)) == value
