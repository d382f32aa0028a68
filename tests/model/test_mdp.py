"""Building a model: everything is checked once, and every complaint names the place."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

from waypost.cases import loan
from waypost.errors import ModelError, NameUnknownError, WaypostError
from waypost.model import FINAL, MDP, describe_target


def one(row, **others) -> MDP:
    """State s with action go and this distribution, beside a final state t."""
    return MDP.from_dict({"s": {"go": row}, "t": {}}, initial="s", **others)


def triplets(**changed) -> MDP:
    given = {
        "choice": [0, 1],
        "successor": [0, 1],
        "probability": [1.0, 1.0],
        "first_choice": [0, 2, 2],
        "states": ["a", "b"],
        "actions": ["x", "y"],
        "initial": 0,
        **changed,
    }
    return MDP.from_triplets(given.pop("choice"), given.pop("successor"), given.pop("probability"), **given)


GO = "action 'go' in state 's' "


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"s": 0.5, "t": 0.4}, GO + "has probabilities summing to 0.9, not 1"),
        ({"s": 0.5, "t": 0.6}, GO + "has probabilities summing to 1.1, not 1"),
        ({"s": "1/3", "t": "1/3"}, GO + "has probabilities summing to 0.666666666667, not 1"),
        ({"s": 0.5, "t": 0.5 + 2e-9}, GO + "has probabilities summing to 1.000000002, not 1"),
        ({}, GO + "has probabilities summing to 0, not 1"),
        ({"t": 0}, GO + "has probabilities summing to 0, not 1"),
        ({"s": -0.5, "t": 1.5}, GO + "has probability -0.5 of going to 's', not a number in [0, 1]"),
        ({"s": "-1/2", "t": "3/2"}, GO + "has probability -0.5 of going to 's', not a number in [0, 1]"),
        ({"t": 1.5}, GO + "has probability 1.5 of going to 't', not a number in [0, 1]"),
        ({"s": float("nan"), "t": 1}, GO + "has probability nan of going to 's', not a number in [0, 1]"),
        ({"t": float("inf")}, GO + "has probability inf of going to 't', not a number in [0, 1]"),
        ({"s": "nan", "t": "1/2"}, GO + "has probability 'nan' of going to 's', which is no number"),
        ({"s": float("nan"), "t": "1/2"}, GO + "has probability nan of going to 's', which is no number"),
        ({"s": "1/2", "t": "half"}, GO + "has probability 'half' of going to 't', which is no number"),
        ({"t": "1/0"}, GO + "has probability '1/0' of going to 't', which is no number"),
        ({"s": "1/2", "t": None}, GO + "has probability None of going to 't', which is no number"),
        ({"u": 1}, GO + "leads to 'u', which is not a state; add it (a final state is \"u\": {})"),
        ("u", GO + "leads to 'u', which is not a state; add it (a final state is \"u\": {})"),
    ],
)
def test_a_bad_distribution_is_rejected_by_name(row, message):
    """State, action, successor and number are in the message, in the user's own words."""
    with pytest.raises(ModelError) as error:
        one(row)
    assert str(error.value) == message


def test_several_bad_distributions_are_counted():
    with pytest.raises(ModelError, match=r"in state 's' .* not 1 \(and 2 more like it\)$"):
        MDP.from_dict({"s": {"a": {"s": 0.5}, "b": {"s": 0.1}}, "t": {"c": {"s": 0.9}}}, initial="s")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"states": [], "first_choice": [0], "actions": []}, "the model has no states"),
        ({"states": ["a", "a"]}, "two states are called 'a'; state names must be unique"),
        ({"actions": ["x", "x"]}, "state 'a' has two actions called 'x'; give them different names"),
        ({"successor": [0, 2]}, "action 'y' in state 'a' leads to state number 2, but there are 2 states"),
        ({"successor": [-1, 0]}, "action 'x' in state 'a' leads to state number -1, but there are 2 states"),
        ({"choice": [0, 2]}, "a probability belongs to a choice that does not exist"),
        ({"choice": [0]}, "choice, successor and probability must have the same length"),
        ({"initial": 2}, "initial state 2 is not one of the 2 states"),
        ({"initial": -1}, "initial state -1 is not one of the 2 states"),
        ({"first_choice": [0, 1, 1]}, "first_choice does not fit the numbers of states and actions"),
        ({"first_choice": [1, 2, 2]}, "first_choice does not fit the numbers of states and actions"),
        ({"first_choice": [0, 2]}, "first_choice does not fit the numbers of states and actions"),
        ({"first_choice": [0, 3, 2]}, "first_choice must not decrease"),
        ({"labels": {"g": [True]}}, "label 'g' is given for (1,) states, not 2"),
        ({"exact": [Fraction(1)]}, "exact must have one number per probability"),
        ({"counts": [1, 2, 3]}, "counts must have one number per probability"),
    ],
)
def test_arrays_that_do_not_fit_are_rejected(changed, message):
    """The one door through which every model comes in."""
    with pytest.raises(ModelError) as error:
        triplets(**changed)
    assert str(error.value) == message


def test_an_empty_model_has_no_states():
    with pytest.raises(ModelError, match=r"^the model has no states$"):
        MDP.from_dict({}, initial="s")


def test_unknown_names_come_with_the_nearest_one():
    """Initial state, member of a label, target, state, action: each with a suggestion."""
    mdp = loan()
    for ask, message in [
        (
            lambda: MDP.from_dict({"start": {}}, initial="strat"),
            "no state 'strat' in this model; did you mean",
        ),
        (lambda: one("t", labels={"g": ["tt"]}), "no state 'tt' in label 'g'; did you mean 't'?"),
        (lambda: mdp.where("Grantd"), "no state 'Grantd' in this model; did you mean 'Granted'?"),
        (lambda: mdp.state("aplication"), "no state 'aplication' in this model; did you mean 'Application'?"),
        (lambda: mdp.choice(0, "Aply"), "no action 'Aply' in state 's0'; did you mean 'Apply'?"),
    ]:
        with pytest.raises(NameUnknownError) as error:
            ask()
        assert str(error.value).startswith(message)


def test_an_unknown_target_is_looked_for_among_labels_and_states():
    mdp = one("t", labels={"done": ["t"]})
    with pytest.raises(NameUnknownError, match="no label or state 'don' in this model; did you mean 'done'"):
        mdp.where("don")


def test_a_state_without_actions_is_final():
    """It gets a self-loop in its place, as in PRISM; other choices keep their order."""
    mdp = MDP.from_dict({"end": {}, "s": {"a": "end", "b": "t"}, "t": {}}, initial="s")
    assert mdp.actions == (FINAL, "a", "b", FINAL)
    assert mdp.first_choice.tolist() == [0, 1, 3, 4]
    assert mdp.transitions.toarray().tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]]


def test_sums_within_1e9_of_one_are_normalised():
    """Decimal text sums to 1 only up to rounding; what is nearer than 1e-14 stays to the bit."""
    mdp = one({"s": 0.5, "t": 0.5 + 8e-10})
    assert mdp.transitions.data[:2].sum() == pytest.approx(1, abs=1e-15)
    assert mdp.transitions.data[0] < 0.5
    thirds = one({"s": 1 / 3, "t": 2 / 3})
    assert thirds.transitions.data.tolist() == [1 / 3, 2 / 3, 1.0]


def test_exact_sums_are_exactly_one():
    mdp = one({"s": "0.3333333333", "t": "0.6666666667"})
    assert mdp.exact[:2].tolist() == [Fraction("0.3333333333"), Fraction("0.6666666667")]
    short = one({"s": "0.3333333333", "t": "0.6666666666"})
    assert sum(short.exact[:2]) == 1
    assert short.exact[0] == Fraction(3333333333, 9999999999)


def test_a_float_stands_for_its_shortest_decimal():
    mdp = one({"s": 0.1, "t": 0.9})
    assert mdp.exact is None
    assert mdp.rationals().tolist() == [Fraction(1, 10), Fraction(9, 10), 1]
    mixed = one({"s": np.float64(0.1), "t": "9/10"})
    assert mixed.exact.tolist() == [Fraction(1, 10), Fraction(9, 10), 1]


def test_duplicate_successors_are_added_up_and_zeros_dropped():
    mdp = triplets(choice=[1, 0, 0, 0, 1], successor=[1, 1, 0, 1, 0], probability=[1, 0.25, 0.5, 0.25, 0])
    assert mdp.transitions.toarray().tolist()[:2] == [[0.5, 0.5], [0, 1]]
    assert mdp.transitions.nnz == 4
    exact = triplets(
        choice=[0, 0, 1], successor=[1, 1, 1], probability=[1 / 3, 2 / 3, 1], exact=[Fraction(1, 3), Fraction(2, 3), 1]
    )
    assert exact.exact.tolist() == [1, 1, 1]


def test_counts_are_added_up_beside_their_probabilities():
    mdp = triplets(choice=[0, 0, 1], successor=[1, 1, 1], probability=[0.5, 0.5, 1], counts=[3, 4, 9])
    assert mdp.counts.tolist() == [7, 9, 0]


def test_the_users_order_is_kept():
    names = ["z", "a", "m"]
    mdp = MDP.from_dict({name: {"go": "a"} for name in names}, initial="m")
    assert mdp.states == ("z", "a", "m")
    assert mdp.initial == 2


def test_labels_are_masks_and_a_label_wins_over_a_state_of_its_name():
    mdp = MDP.from_dict({"s": {"go": "t"}, "t": {}}, initial="s", labels={"s": ["t"], "both": ["s", "t"], "one": "t"})
    assert mdp.where("s").tolist() == [False, True]
    assert mdp.where("one").tolist() == [False, True]
    assert mdp.where("both").tolist() == mdp.where(["s", "t", "both"]).tolist() == [True, True]
    assert mdp.labels_of(1) == ("s", "both", "one")


def test_a_target_that_holds_nowhere_is_told():
    mdp = one("t").with_labels({"never": [False, False]})
    for target in ("never", ["never", "never"]):
        with pytest.raises(ModelError, match="holds in no state of this model"):
            mdp.where(target)
    assert describe_target([]) == "an empty target"


def test_nothing_in_a_model_can_be_changed():
    """Arrays are read-only, mappings too."""
    mdp = loan().with_labels({"g": np.ones(10, bool)})
    for array in (mdp.transitions.data, mdp.transitions.indices, mdp.first_choice, mdp.labels["g"], mdp.exact):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        mdp.labels["h"] = mdp.labels["g"]
    with pytest.raises(AttributeError):
        mdp.initial = 3


def test_keeping_some_choices_keeps_everything_else():
    mdp = loan()
    kept = np.ones(mdp.n_choices, bool)
    kept[mdp.choice(0, "Apply")] = False
    left = mdp.restricted(kept)
    assert left.states == mdp.states
    assert left.actions == tuple(a for a, k in zip(mdp.actions, kept, strict=True) if k)
    assert left.transitions.toarray().tolist() == mdp.transitions.toarray()[kept].tolist()
    assert len(left.exact) == left.transitions.nnz
    with pytest.raises(ModelError, match="state 's0' would lose all its choices"):
        mdp.restricted(mdp.choice_state != 0)


def test_every_complaint_is_a_waypost_error():
    assert issubclass(ModelError, WaypostError)
    assert issubclass(NameUnknownError, WaypostError)


def by_pointer(pointer, successor, probability) -> MDP:
    """Model of three states, each choice of its own, whose transitions come as a sparse matrix."""
    return MDP.from_triplets(
        None, np.array(successor), np.array(probability), first_choice=[0, 1, 2, 3], pointer=pointer,
        states=["a", "b", "c"], actions=["go", "go", "go"], initial=0,
    )  # fmt: skip


@pytest.mark.parametrize("together", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("pointer", "successor", "probability", "message"),
    [
        ([0, 2, 3, 4], [0, 1, 2, 2], [0.5, 0.5, 1, 1], None),
        ([0, 2, 3, 4], [1, 0, 2, 2], [0.5, 0.5, 1, 1], None),  # to be put in order
        ([0, 1, 3, 4], [1, 2, 2, 2], [1, 0.25, 0.75, 1], None),  # to be added up
        ([0, 1, 3, 4], [1, 1, 2, 2], [1, 0, 1, 1], None),  # one that cannot happen
        ([0, 1, 2, 4], [1, 2, 1, 2], [1, 1, 0.5, 0.4], "'go' in state 'c' has probabilities summing to 0.9"),
        ([0, 1, 2, 3], [1, 2, 3], [1, 1, 1], "'go' in state 'c' leads to state number 3"),
        ([0, 1, 2, 3], [1, -1, 0], [1, 1, 1], "'go' in state 'b' leads to state number -1"),
        ([0, 1, 2, 4], [1, 2, 1, 2], [1, 1, 1.5, -0.5], "'go' in state 'c' has probability 1.5"),
        ([0, 1, 2, 3], [1, 2, 0], [1, np.nan, 1], "'go' in state 'b' has probability nan"),
        ([0, 2, 2, 3], [0, 1, 0], [0.5, 0.5, 1], "'go' in state 'b' has probabilities summing to 0"),
    ],
)
def test_transitions_are_checked_alike_however_many_choices_are_checked_together(
    pointer, successor, probability, message, together, monkeypatch
):
    """What comes as a model keeps it is taken as it is, in pieces; everything else is put right, or refused by name."""
    monkeypatch.setattr("waypost.model.checking.AT_ONCE", together)
    if message is not None:
        with pytest.raises(ModelError, match=re.escape(message)):
            by_pointer(pointer, successor, probability)
        return
    choice = np.repeat(np.arange(3), np.diff(pointer))
    slow = triplets(choice=choice, successor=successor, probability=probability, first_choice=[0, 1, 2, 3],
                    states=["a", "b", "c"], actions=["go", "go", "go"])  # fmt: skip
    made = by_pointer(pointer, successor, probability).transitions
    assert made.has_canonical_format
    for part in ("indptr", "indices", "data"):
        assert getattr(made, part).tolist() == getattr(slow.transitions, part).tolist()
