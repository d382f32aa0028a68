"""Variables are columns, names are made of them when they are read, and nobody can tell the difference."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.models import assert_same, mdps
from waypost.errors import ModelError, NameUnknownError
from waypost.model import FINAL, MDP, StateNames, Variable
from waypost.model.valuations import named_by, read_valuations

WORDS = ["key", "nothing", "a ball"]
KEPT = ("first_choice", "states", "actions", "initial", "labels", "exact", "counts")


@st.composite
def columns(draw: st.DrawFn) -> dict[str, Variable]:
    """Variables of all kinds over a few states, some without a value in some states."""
    n = draw(st.integers(1, 8))
    kinds = [st.integers(-300, 300), st.booleans(), st.floats(-5, 5), st.sampled_from(WORDS)]
    found = {}
    for k in range(draw(st.integers(1, 4))):
        values = draw(st.lists(draw(st.sampled_from(kinds)), min_size=n, max_size=n))
        defined = draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))
        found[f"v{k}"] = Variable.of(np.array(values), defined)
    return found


def written(variables: dict[str, Variable]) -> tuple[str, ...]:
    """The slow obvious way to the names."""
    rows = []
    for s in range(len(next(iter(variables.values())).values)):
        given = {name: variable.at(s) for name, variable in variables.items()}
        texts = {name: str(v).lower() if isinstance(v, bool) else v for name, v in given.items() if v is not None}
        rows.append(", ".join(f"{name}={text}" for name, text in texts.items()))
    return tuple(rows)


@given(columns())
def test_names_made_of_columns_are_the_tuple_of_them(variables):
    """Law: indexing, slicing, iterating, comparing, hashing, searching are those of the tuple."""
    names, expected = StateNames(variables), written(variables)
    assert tuple(names) == expected
    assert names == expected
    assert expected == names
    assert hash(names) == hash(expected)
    assert [names[s] for s in range(-len(names), len(names))] == [*expected, *expected]
    assert names[1:] == expected[1:]
    assert names[::-2] == expected[::-2]
    assert names.distinct == (len(set(expected)) == len(expected))
    with pytest.raises(IndexError):
        names[len(names)]
    for s, name in enumerate(expected):
        if expected.count(name) == 1 and name:
            assert name in names
            assert names.index(name) == s
    assert "v0=no such value" not in names
    assert names != expected[1:]


@given(columns())
def test_names_say_what_tells_states_apart_and_no_more(variables):
    names = named_by(variables)
    if names is None:
        assert not StateNames(variables).distinct or "" in written(variables)
        return
    assert len(set(names)) == len(names)
    changing = {name: variable for name, variable in variables.items() if not variable.constant}
    if changing and len(names) > 1 and "" not in written(changing):  # else a state would have no name
        assert not any(variable.constant for variable in names.shown.values())


def test_what_is_computed_is_left_out_and_locations_come_last():
    variables = {
        "place": Variable.of(["hall", "yard", "hall"]),
        "n": Variable.of([7, 7, 7]),
        "x": Variable.of([0, 1, 2]),
        "double": Variable.of([0, 2, 4]),
    }
    names = named_by(variables, computed=["double"], last=["place"])
    assert names == ("x=0, place=hall", "x=1, place=yard", "x=2, place=hall")
    assert names.find("n=7, x=1") == 1
    assert names.find("place=hall") is None  # two of them
    assert names.find("z=1") is None


@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans(), st.sampled_from(["a", "b.c"])), min_size=1, max_size=9))
def test_names_that_are_text_read_as_the_columns_they_were_made_of(rows):
    variables = {f"v{k}": Variable.of(np.array(column)) for k, column in enumerate(zip(*rows, strict=True))}
    again = read_valuations(StateNames(variables))
    for name, variable in variables.items():
        assert [again[name].at(s) for s in range(len(rows))] == [variable.at(s) for s in range(len(rows))]


def grid() -> MDP:
    """Four states of two variables and a word, with everything a model can have."""
    return MDP.from_triplets(
        [0, 0, 1, 2],
        [1, 2, 3, 3],
        [0.5, 0.5, 1.0, 1.0],
        first_choice=[0, 1, 2, 3, 3],
        actions=["go", "on", "on"],
        initial=0,
        labels={"end": [False, False, False, True]},
        counts=[1, 2, 3, 4],
        valuations={"x": Variable.of([0, 0, 1, 1]), "y": Variable.of([0, 1, 0, 1]), "n": Variable.of([4] * 4)},
        definitions={"N": "4"},
    )


def test_a_model_of_columns_is_asked_like_any_other():
    mdp = grid()
    assert mdp.states == ("x=0, y=0", "x=0, y=1", "x=1, y=0", "x=1, y=1")
    assert mdp.state("y=1, x=0") == mdp.state("x=0, y=1, n=4") == 1
    assert mdp.where("x+y=1 & n=N").tolist() == [False, True, True, False]
    assert mdp.where("x=1, y=1").tolist() == [False, False, False, True]
    assert dict(mdp.index) == {name: s for s, name in enumerate(mdp.states)}
    with pytest.raises(NameUnknownError, match="no state 'x=7, y=0' in this model"):
        mdp.state("x=7, y=0")


def test_columns_must_fit_and_tell_states_apart():
    with pytest.raises(ModelError, match="variable 'x' is given for 1 states, not 2"):
        MDP.from_triplets(
            [], [], [], first_choice=[0, 0, 0], states=["a", "b"], actions=[], initial=0,
            valuations={"x": Variable.of([1])},
        )  # fmt: skip
    same = StateNames({"x": Variable.of([1, 1])})
    with pytest.raises(ModelError, match="two states are called 'x=1'"):
        MDP.from_triplets([], [], [], first_choice=[0, 0, 0], states=same, actions=[], initial=0)


def identical(mdp: MDP) -> MDP:
    return mdp


@given(mdps())
def test_a_model_pickles_and_copies(mdp):
    """Law: what comes back is the same model, and as unchangeable."""
    _ = mdp.index, mdp.variables, mdp.choice_state, mdp.is_final  # what was computed does not travel
    for again in (pickle.loads(pickle.dumps(mdp)), copy.deepcopy(mdp), copy.copy(mdp)):  # noqa: S301
        assert_same(mdp, again)
        for array in (again.transitions.data, again.first_choice, *again.labels.values()):
            assert not array.flags.writeable


def test_a_model_crosses_process_borders():
    mdp = grid()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        again = pool.submit(identical, mdp).result()
    assert_same(mdp, again)
    assert again.where("n=N & x=1").tolist() == mdp.where("n=N & x=1").tolist()


@given(mdps(), st.data())
def test_an_absorbed_state_is_final_and_nothing_else_changes(mdp, data):
    """Law: rows of other states stay to the bit."""
    ends = np.array(data.draw(st.lists(st.booleans(), min_size=mdp.n_states, max_size=mdp.n_states)))
    ended = mdp.absorbing(ends)
    assert ended.is_final[ends].all()
    assert ended.states == mdp.states
    for s in range(mdp.n_states):
        names = [ended.actions[c] for c in ended.choices(s)]
        if ends[s]:
            assert names == [FINAL]
            assert ended.successors(state=s).tolist() == [s]
            continue
        assert names == [mdp.actions[c] for c in mdp.choices(s)]
        for old, new in zip(mdp.choices(s), ended.choices(s), strict=True):
            assert mdp.successors(choice=old).tolist() == ended.successors(choice=new).tolist()
            assert (mdp.transitions[[old]] != ended.transitions[[new]]).nnz == 0
    rebuilt = MDP.from_triplets(
        np.repeat(np.arange(ended.n_choices), np.diff(ended.transitions.indptr)),
        ended.transitions.indices,
        ended.transitions.data,
        **{name: getattr(ended, name) for name in KEPT},
    )
    assert_same(ended, rebuilt)


@given(mdps())
def test_successors_and_final_states_are_those_of_the_matrix(mdp):
    for s in range(mdp.n_states):
        rows = [mdp.transitions[[c]].toarray()[0] for c in mdp.choices(s)]
        assert mdp.successors(state=s).tolist() == np.flatnonzero(sum(rows) > 0).tolist()
        assert bool(mdp.is_final[s]) == (len(rows) == 1 and rows[0][s] == 1)


def test_an_error_lists_a_few_names_and_no_pages():
    """Law: a name that is not there is told with three names at least, and no more than a few lines."""
    long = {f"variable{k}": Variable.of(np.arange(50)) for k in range(30)}
    mdp = MDP.from_triplets(
        np.arange(50), np.arange(50), np.ones(50), first_choice=np.arange(51), actions=["go"] * 50, initial=0,
        valuations=long, states=StateNames(long),
    )  # fmt: skip
    with pytest.raises(NameUnknownError) as told:
        mdp.where("nothing")
    assert "and 47 more" in str(told.value)
    assert len(str(told.value)) < 400
