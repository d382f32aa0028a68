"""Targets by expression: decided on the state names, for all states at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from waypost.errors import NameUnknownError, WaypostError
from waypost.formats.jani import expression_text
from waypost.model import MDP
from waypost.model.expressions import is_expression, number_of, states_where
from waypost.model.valuations import read_valuations

STATES = [f"x={x}, y={y}, open={str(x > y).lower()}" for x in range(-2, 4) for y in range(3)]
VARIABLES = read_valuations(STATES)
POINTS = [(x, y, x > y) for x in range(-2, 4) for y in range(3)]
DEFINITIONS = {"N": "M*2", "M": "1", "near": "x-y<=N", "loop": "loop+1"}
LABELS = {"goal": np.array([x == 3 for x, _, _ in POINTS])}


def chosen(expression: str) -> list[bool]:
    return states_where(expression, VARIABLES, LABELS, len(STATES), DEFINITIONS).tolist()


@pytest.mark.parametrize(
    ("prism", "python"),
    [
        ("x=1 & y=2", "x == 1 and y == 2"),
        ("x>0 | y>1 & x<0", "x > 0 or (y > 1 and x < 0)"),
        ("!x=1", "not x == 1"),
        ("!(x<=1) => open", "x <= 1 or open"),
        ("x-1-1=y", "x - 1 - 1 == y"),
        ("x*2+1 >= y*-3", "x * 2 + 1 >= y * -3"),
        ("open != false & true", "open"),
        ('"goal" & y!=0', "x == 3 and y != 0"),
        ("-x=-y", "-x == -y"),
        ("false => false => false", "False"),
        ("x=1 => open => y=1", "(x == 1 and not open) or y == 1"),
        ("open=(x>y)", "True"),
        ("0<=x<y+1", "0 <= x < y + 1"),
        ("x/2>0.5", "x / 2 > 0.5"),
        ("x=1.0e0 | x*.5=1", "x == 1 or x * 0.5 == 1"),
        ("mod(x, 2)=1", "x % 2 == 1"),
        ("min(x, y, 1)=max(-1, x)", "min(x, y, 1) == max(-1, x)"),
        ("pow(2, y)>x & pow(x, 2)>1", "2 ** y > x and x ** 2 > 1"),
        ("floor(x/2)=ceil(x/2)", "x % 2 == 0"),
        ("round(x/2)=1", "x in (1, 2)"),
        ("log(4, 2)=2", "True"),
        ("open <=> x>y", "True"),
        ("x=1 <=> y=1 => open", "(x == 1) != (y == 1) or open"),
        ("(x>0 ? x : -x) = 2", "abs(x) == 2"),
        ("x>=N & near", "x >= 2 and x - y <= 2"),
        ("true", "True"),
    ],
)
def test_an_expression_means_what_prism_means_by_it(prism, python):
    assert chosen(prism) == [bool(eval(python, {"x": x, "y": y, "open": o})) for x, y, o in POINTS]  # noqa: S307


def test_words_are_compared_by_name():
    states = ["carrying=key", "carrying=nothing", "carrying=ball"]
    variables = read_valuations(states)
    assert states_where("carrying=key | carrying=ball", variables, {}, 3).tolist() == [True, False, True]


def test_a_state_without_the_variable_is_never_meant():
    states = ["x=0", "lost", "y=1"]
    variables = read_valuations(states)
    assert states_where("!(x=5)", variables, {}, 3).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("x=1 &", "ends too early"),
        ("x=1 & y", "neither true nor false"),
        ("(x=1", "not closed"),
        ("x=1)", "cannot be read from"),
        ("z=1", "no variable 'z'"),
        ("x=true", "different kinds"),
        ("open>1", "not a number"),
        ("x+1", "not a condition"),
        ('"gaol"', "did you mean 'goal'"),
        ("x=$", "cannot be read from"),
        ("x*1000000000*1000000000*1000000000>1", "too large"),
        ("(" * 500 + "x=1" + ")" * 500, "nested"),
        ("!" * 500 + "open", "nested"),
        ("x=1 & " * 3000 + "x=1", "longer than"),
        ("x=1 & goal", 'write it in quotes: "goal"'),
        ("nearr", "no variable 'nearr' in this model; did you mean 'near'"),
        ("x = 1 ] y", "character 7"),
        ("x = ) y", "where a value should be .character 5."),
        ("loop=1", "nested more than"),
        ("mod(x, 0.5)=1", "not whole"),
        ("min()=1", "where a value should be"),
        ("floor(x, y)=1", "takes 1"),
        ("x=1 ? 2", "without its ':'"),
    ],
)
def test_a_wrong_expression_says_what_is_wrong(expression, said):
    with pytest.raises(NameUnknownError, match=said):
        chosen(expression)


@given(st.text(alphabet='xyo=<>!&|()+-*"01 goaltruefls.,', max_size=40))
def test_any_text_is_a_set_of_states_or_an_error_of_ours(text):
    try:
        mask = states_where(text, VARIABLES, LABELS, len(STATES))
    except WaypostError:
        return
    assert mask.shape == (len(STATES),)


def test_a_remainder_by_nothing_positive_means_no_state():
    assert chosen("mod(x, y)=0") == [y > 0 and x % y == 0 for x, y, _ in POINTS]
    assert chosen("mod(y, x)=0") == [x > 0 and y % x == 0 for x, y, _ in POINTS]


def test_numbers_divided_by_zero_are_greater_than_all_others_and_have_no_floor():
    assert chosen("1/x + 1 > 100") == [x == 0 for x, _, _ in POINTS]
    assert chosen("floor(1/x) > -2") == [x != 0 for x, _, _ in POINTS]


def test_a_state_may_stand_in_quotes_like_a_label():
    mdp = MDP.from_dict({"a b": {"go": "c"}, "c": {}}, initial="a b", labels={"end": ["c"]})
    assert mdp.where('"a b" | "end"').tolist() == [True, True]
    assert mdp.where("true").tolist() == [True, True]


def test_names_are_not_expressions():
    assert not is_expression("Application+", VARIABLES)
    assert is_expression("open", VARIABLES)
    assert is_expression("loc=58", VARIABLES)


@pytest.mark.parametrize(
    ("operator", "python"), [("trc", "int(v)"), ("abs", "abs(v)"), ("sgn", "(v > 0) - (v < 0)"), ("ceil", "-(-v // 1)")]
)
def test_functions_of_jani_are_written_with_those_of_prism(operator, python):
    half = {"op": "/", "left": {"op": "*", "left": 3, "right": "x"}, "right": 2}
    text = expression_text({"op": operator, "exp": half})
    for x in range(-2, 4):
        value = eval(python, {"v": 3 * x / 2})  # noqa: S307
        assert number_of(text, {"x": str(x)}) == value, (operator, x)
