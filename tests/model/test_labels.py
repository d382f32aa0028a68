"""Labels are masks to everyone who reads them, and take no more room than the states in which they hold."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from waypost.errors import ModelError
from waypost.model import MDP, Labels
from waypost.model.labels import LITTLE

SIZES = st.sampled_from([1, 7, LITTLE, LITTLE + 40, 5 * LITTLE])


@st.composite
def masks(draw):
    n = draw(SIZES)
    drawn = st.lists(st.integers(0, n - 1), max_size=30)
    found = {}
    for name in draw(st.lists(st.text(max_size=3), max_size=5, unique=True)):
        found[name] = np.zeros(n, bool)
        found[name][draw(drawn)] = True
        if draw(st.booleans()):
            found[name] = ~found[name]
    return n, found


@given(masks())
def test_labels_are_the_masks_they_were_made_of(drawn):
    """Law: made of masks or of states, pickled or not, every label is the mask it was, and read-only."""
    n, given_masks = drawn
    by_states = Labels.of(n, {name: np.flatnonzero(mask).tolist()[::-1] for name, mask in given_masks.items()})
    made = Labels(n, given_masks)
    for labels in (made, by_states, pickle.loads(pickle.dumps(made))):  # noqa: S301 - our own
        assert list(labels) == list(given_masks)
        for name, mask in given_masks.items():
            assert (labels[name] == mask).all()
            assert labels[name].dtype == bool
            assert not labels[name].flags.writeable
            assert labels.states(name).tolist() == np.flatnonzero(mask).tolist()
        for state in {0, n // 2, n - 1}:
            assert labels.at(state) == tuple(name for name, mask in given_masks.items() if mask[state])


def test_what_was_given_can_change_without_changing_the_labels():
    mask = np.ones(3, bool)
    labels = Labels(3, {"all": mask})
    mask[0] = False
    assert labels["all"].all()


def test_as_many_labels_as_states_take_no_square_of_room():
    """Law: a label of one state takes a few bytes, however many states there are."""
    n = 20_000
    labels = Labels.of(n, {f"q{k}": [k] for k in range(0, n, 10)})
    assert len(pickle.dumps(labels)) < 200 * len(labels) < n * len(labels) / 50


def test_a_label_for_another_number_of_states_is_refused():
    with pytest.raises(ModelError, match=r"label 'end' is given for \(2,\) states, not 3"):
        Labels(3, {"end": [True, False]})
    mdp = MDP.from_dict({"a": {"go": "b"}, "b": {}}, initial="a", labels={"end": ["b"]})
    with pytest.raises(ModelError, match="not 2"):
        mdp.with_labels({"end": [True]})


def test_labels_of_a_model_serve_another_with_the_same_states():
    mdp = MDP.from_dict({"a": {"go": "b"}, "b": {}}, initial="a", labels={"end": ["b"]})
    again = mdp.with_labels(mdp.labels)
    assert again.labels is mdp.labels
    assert again.labels_of(1) == ("end",)
