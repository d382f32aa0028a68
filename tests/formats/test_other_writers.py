"""What other tools write and we do not: read from small files of our own making, so that no clone goes without."""

from __future__ import annotations

import numpy as np
import pytest

from waypost.errors import FormatError
from waypost.formats import read_mdp
from waypost.formats.jani import expression_text, property_text
from waypost.formats.properties import NotOurs
from waypost.formats.umb_valuations import unpack_valuations

TRANSITIONS = "mdp\n0 0 1 0.5\n0 0 2 0.5\n0 1 2 1\n1 0 1 1\n2 0 2 1\n"


def f(exp, **more):
    return {"op": "F", "exp": exp, **more}


def is_done(exp):
    return {"op": "Pmax", "exp": exp}


def test_labels_between_declaration_and_end_are_read(tmp_path):
    """As Storm and MRMC write them."""
    (tmp_path / "m.tra").write_text(TRANSITIONS)
    (tmp_path / "m.lab").write_text("#DECLARATION\ninit goal lost\n#END\n0 init\n1 goal\n2 lost goal\n")
    mdp = read_mdp(tmp_path / "m.tra")
    assert mdp.where("goal").tolist() == [False, True, True]
    assert mdp.where("lost").tolist() == [False, False, True]


def test_a_label_that_was_not_declared_is_told_with_its_line(tmp_path):
    (tmp_path / "m.tra").write_text(TRANSITIONS)
    (tmp_path / "m.lab").write_text("#DECLARATION\ninit goal\n#END\n0 init\n1 gaol\n")
    with pytest.raises(FormatError, match=r"line 5: label 'gaol' is not declared"):
        read_mdp(tmp_path / "m.tra")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (is_done(f("done")), 'Pmax=? [ F "done" ]'),
        ({"op": "Pmin", "exp": f("done")}, 'Pmin=? [ F "done" ]'),
        ({"op": "filter", "fun": "max", "values": is_done(f("done"))}, 'Pmax=? [ F "done" ]'),
        ({"op": "≥", "left": is_done(f("done")), "right": 0.5}, 'Pmax>=0.5 [ F "done" ]'),
        (is_done(f("done", **{"step-bounds": {"upper": "K"}})), 'Pmax=? [ F<=(K) "done" ]'),
        (is_done(f("done", **{"step-bounds": {"upper": 3, "upper-exclusive": True}})), 'Pmax=? [ F<(3) "done" ]'),
        (is_done({"op": "U", "left": True, "right": "done"}), 'Pmax=? [ true U "done" ]'),
    ],
)
def test_a_jani_property_is_read_as_prism_writes_it(given, text):
    assert property_text(given, {"done"}) == text


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (3, "no probability"),
        ({"op": "Emax", "exp": "x"}, "expected rewards"),
        ({"op": "Smin", "exp": "x"}, "the long run"),
        ({"op": "∀", "exp": "x"}, "CTL"),
        ({"op": "Pmax", "exp": "done"}, "no probability"),
        (is_done({"op": "X?", "exp": "done"}), "kind 'X[?]'"),
        (is_done(f("done", **{"time-bounds": {"upper": 3}})), "time or rewards"),
        (is_done(f("done", **{"step-bounds": {"lower": 3}})), "lower bound on the steps"),
    ],
)
def test_what_importance_cannot_answer_is_told_by_its_name(given, what):
    with pytest.raises(NotOurs, match=what):
        property_text(given, {"done"})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"op": "¬", "exp": "done"}, '!"done"'),
        ({"op": "ite", "if": True, "then": 1, "else": 2.5}, "(true ? 1 : 2.5)"),
        ({"op": "max", "left": "x", "right": 2}, "max(x, 2)"),
        ({"op": "floor", "exp": "x"}, "floor(x)"),
    ],
)
def test_a_jani_expression_is_read_as_prism_writes_it(given, text):
    assert expression_text(given, {"done"}) == text


def test_an_expression_that_is_none_is_refused():
    deep: object = True
    for _ in range(5000):
        deep = {"op": "¬", "exp": deep}
    for given in ({"op": "der", "exp": "x"}, None, deep):
        with pytest.raises(NotOurs, match="an expression"):
            expression_text(given)


X = {"name": "x", "type": {"type": "uint", "size": 8}}
CLASSES = [
    {"variables": [X]},
    {"variables": [X, {"name": "up", "type": "bool"}, {"padding": 7}]},
]


def wrong(said: str) -> FormatError:
    return FormatError(said)


def test_states_of_several_classes_have_the_variables_of_their_own_class():
    """UMB has records of different shapes in a row; a variable of some states is undefined in the rest."""
    kinds = np.array([0, 1, 0], np.uint32)
    found = unpack_valuations(CLASSES, bytes([5, 6, 1, 7]), kinds, 3, strings=[], wrong=wrong)
    assert found["x"].values.tolist() == [5, 6, 7]
    assert found["x"].defined.all()
    assert found["up"].defined.tolist() == [False, True, False]
    assert bool(found["up"].values[1])


@pytest.mark.parametrize(
    ("classes", "content", "kinds", "said"),
    [
        ([], b"", [0], "no classes"),
        ([{"variables": [{"name": "up", "type": "bool"}]}], b"\x01", [0], "whole bytes"),
        (CLASSES, b"\x01", [2], "not described"),
        (CLASSES, b"\x01\x02", [0], "2 bytes, not 1"),
        ([CLASSES[0], {"variables": [{"name": "x", "type": "double"}]}], bytes(9), [0, 1], "two types"),
        ([{"variables": [{"name": "x", "type": "complex"}]}], b"", [0], "which we do not read"),
        ([{"variables": [{"name": "x", "type": {"type": "uint", "size": 0}}]}], b"", [0], "an entry of 0 bits"),
        ([{"variables": [{"name": "x", "type": {"type": "double", "size": 32}}]}], b"", [0], "32 bits"),
        ([{"variables": [{"name": "x", "type": "string"}]}], b"\x09" + bytes(7), [0], "not there"),
        ([{"variables": [{"name": "x", "type": "uint"}]}], b"\xff" * 8, [0], "beyond 63 bits"),
    ],
)
def test_records_that_do_not_fit_are_told_in_a_sentence(classes, content, kinds, said):
    with pytest.raises(FormatError, match=said):
        unpack_valuations(classes, content, np.array(kinds, np.uint32), len(kinds), strings=[], wrong=wrong)
