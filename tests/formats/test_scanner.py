"""Large DRN files are read by whole arrays, larger ones by machine code, to the same model as small ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formats.models import assert_same, mdps
from waypost.cases import loan
from waypost.errors import FormatError, WaypostError
from waypost.formats import drn, drn_scanner
from waypost.formats.decimals import decimal
from waypost.formats.drn_scanner import scan
from waypost.formats.lexical import distinct_actions, distinct_codes

EVERY = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(params=[drn_scanner.LARGE, 0], ids=["arrays", "machine code"])
def quick(monkeypatch, request):
    """Read everything by whole arrays of a few lines, or by machine code."""

    def loads(text, **options):
        with monkeypatch.context() as changed:
            changed.setattr(drn, "LARGE", 0)
            changed.setattr(drn_scanner, "LARGE", request.param)
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
    assert scan(np.frombuffer(b"hello\n", np.uint8), 0) is None


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


HALF_WAY = st.integers(2**52, 2**53 - 1).map(lambda k: str(2 * k + 1))  # between two floats
DECIMALS = st.one_of(
    NUMBERS,
    HALF_WAY,
    st.tuples(HALF_WAY, st.sampled_from(["0", "00", "1", "000001"])).map(".".join),
    st.tuples(st.integers(0, 2**64), st.integers(-360, 320)).map(lambda pair: f"{pair[0]}e{pair[1]}"),
)


@settings(deadline=None, max_examples=2000)
@given(DECIMALS)
def test_what_machine_code_reads_is_the_nearest_float(written):
    """Law: a number is read to the last bit, or left alone: a fraction, a tiny or huge one, one of many digits."""
    data = np.frombuffer(written.encode(), np.uint8)
    bits, settled = decimal.compiled(data, 0, len(data))
    if settled:
        assert float(np.uint64(bits).view(np.float64)) == float(written)
    elif "/" not in written and written[0].isdigit():
        value = float(written)
        digits = written.lower().partition("e")[0].replace(".", "").lstrip("0")
        assert len(digits) > 19 or value < 1e-300 or value > 1e300


@pytest.mark.parametrize(
    "written", ["", ".", "e5", "1e", "1e+", "1.2.3", "1e1.5", "1e5.", "1_0", "0x1", "nan", "inf", "1 2"]
)
def test_what_is_no_number_is_left_alone(written):
    data = np.frombuffer(written.encode() + b"\n", np.uint8)
    assert not decimal.compiled(data, 0, len(written))[1]
