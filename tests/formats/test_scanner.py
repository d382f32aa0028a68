"""Large DRN files are read by whole arrays, to the same model as small ones."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formats.models import assert_same, mdps
from waypost.cases import loan
from waypost.errors import FormatError, WaypostError
from waypost.formats import drn, drn_scanner
from waypost.formats.decimals import decimals
from waypost.formats.drn_scanner import scan
from waypost.formats.lexical import distinct_actions, distinct_codes
from waypost.model.names import windows

EVERY = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def quick(monkeypatch):
    """Read everything by whole arrays, a few lines at a time."""

    def loads(text, **options):
        with monkeypatch.context() as changed:
            changed.setattr(drn, "LARGE", 0)
            changed.setattr(drn_scanner, "AT_ONCE", 200)
            return drn.loads(text, **options)

    return loads


@EVERY
@given(mdps())
def test_both_readers_give_the_same_model(quick, mdp):
    """Law: names, actions, labels and probabilities to the last bit, whoever reads."""
    for form in (mdp, replace(mdp, exact=None)):  # fractions, and floats
        text = drn.dumps(form)
        assert_same(quick(text), drn.loads(text))


NUMBERS = st.one_of(
    st.floats(1e-300, 1, exclude_max=True).map(repr),
    st.decimals(0, 1, places=12).map(str),
    st.integers(1, 10**17).map(lambda k: f"{k}e-17"),
    st.sampled_from(["0.1", "1e-3", "5E-1", ".5", "0.9230769230769231", "1e-400", "1/3", "0.50", "1.0"]),
)


@EVERY
@given(NUMBERS)
def test_numbers_are_rounded_as_python_rounds_them(quick, written):
    both = f"\t\t0 : {written}\n\t\t1 : {written}\n"
    text = f"@type: MDP\n@model\nstate 0 init\n\taction a\n{both}state 1\n\taction b\n\t\t1 : 1\n"
    answers = []
    for reader in (quick, drn.loads):
        try:
            answers.append(reader(text).transitions.data.tolist())
        except WaypostError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("state 3", "state 4"),
        ("\taction", "\tacton"),
        (" : ", " "),
        ("@nr_states\n10", "@nr_states\n11"),
        (" init", ""),
        ("\t\t1 : 0.95", "\t\t1 : nan"),
        ("\t\t1 : 0.95", "\t\t99 : 0.95"),
        ("state 0 init", "\t\t1 : 1\nstate 0 init"),
        ("\t\t1 : 0.95", "\t\t1 2 : 0.95"),
        ("\t\t1 : 0.95", "\t\t1 : "),
        ("\t\t1 : 0.95", "\t\t1e30 : 0.95"),
        ("\t\t1 : 0.95", "\t\t1.5 : 0.95"),
    ],
)
def test_what_is_wrong_is_told_as_before(quick, old, new):
    """Law: a file that one reader refuses, the other refuses with the same sentence."""
    text = drn.dumps(replace(loan(), exact=None))
    assert old in text
    text = text.replace(old, new, 1)
    said = []
    for reader in (quick, drn.loads):
        with pytest.raises(WaypostError) as told:
            reader(text)
        said.append(str(told.value))
    assert said[0] == said[1]


def test_an_empty_model_is_left_to_the_other_reader(quick):
    with pytest.raises(FormatError):
        quick("@type: MDP\n@model\n")


def test_nothing_is_scanned_that_is_out_of_the_ordinary():
    assert scan(b"hello\n", 0) is None


@given(
    st.lists(st.lists(st.sampled_from(["", "go", "0", "1", "go (2)"]), min_size=1, max_size=5), min_size=1, max_size=5)
)
def test_names_of_actions_are_told_apart_by_number_as_by_text(states):
    """Law: both ways of telling equal names apart agree."""
    first = np.cumsum([0, *map(len, states)])
    given_names = [name for state in states for name in state]
    words = list(dict.fromkeys(given_names))
    codes = np.array([words.index(name) for name in given_names])
    assert list(distinct_codes(first, codes, words)) == distinct_actions(first, given_names)


def test_lines_may_end_as_windows_ends_them(quick):
    """Law: what ends a line is no part of a name."""
    text = drn.dumps(replace(loan(), exact=None))
    assert_same(quick(text.replace("\n", "\r\n")), drn.loads(text))


def read_at_once(texts: list[str]) -> list[float | None]:
    """Numbers as `decimals` reads them, in one file; None where it leaves them alone."""
    content = "\n".join([*texts, ""]).encode()
    length = np.array([len(text) for text in texts])
    begin = np.cumsum(length + 1) - length - 1
    found, settled = decimals(windows(content), begin, begin + length)
    return [value if known else None for value, known in zip(found.tolist(), settled.tolist(), strict=True)]


HALF_WAY = st.integers(2**52, 2**53 - 1).map(lambda k: Decimal(2 * k + 1) / 2**54)  # between two floats
DECIMALS = st.one_of(
    st.floats(0, 1).map(repr),
    st.floats(0, 10).map(lambda value: format(value, ".17f")),
    st.tuples(st.integers(0, 9), st.integers(0, 24), st.integers(0, 10**24)).map(
        lambda parts: f"{parts[0]}.{str(parts[2]).zfill(24)[: parts[1]]}"
    ),
    st.tuples(HALF_WAY, st.integers(15, 24)).map(lambda parts: format(parts[0], f".{parts[1]}f")),
    st.integers(0, 9).map(str),
    NUMBERS.filter(lambda text: text[0].isdigit()),
)


@settings(deadline=None, max_examples=1000)
@given(st.lists(DECIMALS, min_size=1, max_size=20))
def test_what_is_read_by_arrays_is_the_nearest_float(written):
    """Law: a number is read to the last bit, or left alone, whatever stands beside it."""
    for text, found in zip(written, read_at_once(written), strict=True):
        assert found is None or found == float(text)


@settings(deadline=None, max_examples=1000)
@given(st.integers(1, 10**15 - 1), st.integers(0, 22))
def test_numbers_of_few_digits_are_never_left_alone(number, places):
    """Law: up to fifteen digits settle the float."""
    written = f"0.{str(number).zfill(places)}"[:24]
    assert read_at_once([written]) == [float(written)]


def test_nearly_all_floats_are_read_by_arrays():
    """Law: of floats as Python writes them, one in a hundred is left alone at most."""
    floats = np.random.default_rng(1).uniform(1e-4, 1, 100_000).tolist()
    found = read_at_once(list(map(repr, floats)))
    assert all(value in (None, given) for value, given in zip(found, floats, strict=True))
    assert found.count(None) < len(floats) / 100


@pytest.mark.parametrize(
    "written", ["1e", "1e+", "1.2.3", "1.5e1", "0.1_0", "0x1", "0.1e", "1 2", "1.-5", "0.:", "0./", "0.x", "12"]
)
def test_what_is_no_plain_number_is_left_alone(written):
    assert read_at_once(["0.5", written, "0.25"]) == [0.5, None, 0.25]
