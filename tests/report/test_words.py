"""Numbers and names are written so that nobody is misled."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waypost.cases import loan
from waypost.importance import Bounds, explain, path_importance
from waypost.model import MDP, Strategy
from waypost.report import as_markdown, as_text, needs, path_summary, summarise
from waypost.report.names import captions
from waypost.report.wording import number, percent, printable, span


@given(st.floats(0, 1) | st.fractions(0, 1))
def test_0_and_1_are_printed_only_where_exact(value):
    """number(x) is "0" iff x = 0 and "1" iff x = 1, and otherwise within half a thousandth of x, or says which side."""
    text = number(value)
    assert (text == "0") == (value == 0)
    assert (text == "1") == (value == 1)
    assert percent(value).startswith(("0 ", "100 ")) == (value in (0, 1))
    if text[0] in "<>":
        assert abs(float(text[1:]) - value) <= 0.0011
    else:
        assert abs(float(text) - value) <= 0.000501


def test_the_smallest_float_below_one_is_not_one():
    assert number(1 - 2**-53) == ">0.999"
    assert number(Fraction(10**30 - 1, 10**30)) == ">0.999"
    assert span(Bounds(0.0, 5e-324)) == "0 to <0.001"


@given(st.text())
def test_a_printed_name_cannot_steer_a_terminal(name):
    shown = printable(name)
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066\u2028" for c in shown)
    shown.encode("utf-8")


def test_ordinary_names_are_printed_as_they_are():
    for name in ("Größe", "申请", "👩‍💻 call", "a b", "O_SENT_BACK"):
        assert printable(name) == name


def test_kinds_of_the_loan_example(granted):
    read = dict(zip(granted.mdp.states, (kind.value for kind in granted.kinds), strict=True))
    assert read == {
        "s0": "start",
        "Application": "optional",
        "Error": "optional",
        "Consultation": "optional",
        "Angry": "detrimental",
        "Application+": "indispensable",
        "Rework": "optional",
        "Resubmit": "optional",
        "Granted": "target",
        "Rejected": "detrimental",
    }


def test_the_order_does_not_depend_on_names():
    """Renaming the states permutes the report, nothing else."""
    plain = loan()
    renamed = MDP(
        plain.transitions,
        plain.first_choice,
        tuple(reversed(plain.states)),
        plain.actions,
        plain.initial,
        plain.labels,
        plain.exact,
    )
    one = explain(plain, target="Granted")
    other = explain(renamed, target=renamed.states[plain.index["Granted"]])
    assert one.ranking.tolist() == other.ranking.tolist()


def _shared() -> MDP:
    """Either of two states with the same label is passed on the way: alone each is optional, together indispensable."""
    return MDP.from_dict(
        {"s": {"left": "q1", "right": "q2"}, "q1": {"go": "end"}, "q2": {"go": "end"}, "end": {}},
        initial="s",
        labels={"CALL": ["q1", "q2"]},
    )


def test_states_with_the_same_label_are_named_together():
    explanation = explain(_shared(), target="end")
    assert captions(explanation.mdp) == ["s", "CALL", "CALL", "end"]
    text = as_text(summarise(explanation))
    assert "CALL (any of 2 states)  0 to 1" in text
    assert "Optional" in text


def test_a_label_is_indispensable_where_its_states_are_so_together():
    summary = summarise(explain(_shared(), target="end", **needs(_shared(), ".txt")))
    assert next((s.title, [i.name for i in s.items]) for s in summary.sections) == ("Indispensable", ["CALL"])


def test_top_limits_every_section_and_says_so(world):
    summary = summarise(world, top=2)
    assert all(len(section.items) <= 2 for section in summary.sections)
    optional = next(section for section in summary.sections if section.kind == "optional")
    assert optional.more > 0
    assert f"and {optional.more} more" in as_text(summary)


def test_a_fixed_strategy_is_explained_as_such():
    strategy = Strategy.from_dict(
        loan(), {"s0": "Consult", "Consultation": "Apply", "Rework": "Submit", "Error": "Quit"}
    )
    text = as_text(summarise(explain(loan(), target="Granted", scope=strategy)))
    assert "under the given strategy" in text
    assert "best strategies" not in text


@pytest.mark.parametrize(("scope", "says"), [("all", "0.897 to 1"), ("optimal", "importance 0.95")])
def test_a_path_in_words(scope, says):
    found = path_importance(loan(), path=["s0", "Apply", "Application"], target="Granted", scope=scope)
    assert says in path_summary(found)


def test_a_path_that_costs_something_says_how_much():
    found = path_importance(
        loan(), path=["s0", "Consult", "Consultation", "Apply", "Application+"], target="Granted", scope="all"
    )
    assert "costs nothing" in path_summary(found)
    detour = path_importance(loan(), path=["s0", "Apply", "Error", "Quit", "Rejected"], target="Granted", scope="all")
    assert "costs something" in path_summary(detour)


def test_hostile_names_stay_text_in_markdown(hostile):
    text = as_markdown(summarise(hostile))
    assert "<script" not in text
    assert "<b>" not in text
    assert "\x1b" not in text
