"""Patterns as text, as trees and as automata say the same."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pattern_oracles import matches, patterns
from waypost.errors import PatternError
from waypost.patterns import parse, step
from waypost.patterns.language import automaton_of

NAMES = ["A", "B", "call the bank", 'quo"te\\', "Größe", "...", ".", "x=1, y=2", "Application+"]


@given(patterns(["A", "B"]))
def test_an_automaton_accepts_what_trying_every_way_matches(pattern):
    """All words up to four letters over A, B and something else."""
    automaton = automaton_of(pattern, lambda test: frozenset(["AB".index(test.name)]), 3)
    for length in range(5):
        for word in product(range(3), repeat=length):
            right = matches(pattern, word, lambda test, letter: "AB".index(test.name) == letter)
            assert automaton.accepts(list(word)) == right
    assert automaton.n_states == automaton.minimal().n_states


@given(patterns(NAMES, ["go", "go back"]))
def test_text_and_pattern_are_one(pattern):
    """Writing then reading is the identity, whatever the names."""
    assert parse(str(pattern)) == pattern


def test_an_action_belongs_to_the_state_it_is_written_to():
    assert parse("A/go") == step("A", "go")
    assert parse("A /go") == step("A") + step(None, "go")


@given(st.text() | st.text(alphabet='AB .|&!*?(){},/"23not'))
def test_any_text_is_read_or_refused_in_one_sentence(text):
    try:
        told = str(parse(text))
    except PatternError as error:
        told = str(error)
        length = 400
    else:
        length = 20 * len(text) + 20
    assert 0 < len(told) <= length


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a step is missing at the end"),
        ("... A |", "a step is missing at the end"),
        ("A ) B", "a bracket closes that was not open at character 3, ') B'"),
        ("(A B", "a bracket is not closed at character 1, '(A B'"),
        ('A "B', "a quotation mark is not closed at character 3, '\"B'"),
        ("A{2,1}", "a count is empty at character 2, '{2,1}'"),
        ("A{x}", "a number is missing at character 3, 'x}'"),
        ("A{2", "a count is written {2}, {2,} or {2,5}, but is not at character 2, '{2'"),
        ("A * * B /", "an action is missing at the end"),
        ("!(A B)", "! stands before more than one step (for every run but these write not(...)) at character 1"),
        ("... respons(A, B)", "there is no template 'respons' (did you mean response?) at character 5"),
        ("A(B)", "there is no template 'A' (if it is a step, put a space before the bracket) at character 1"),
        ("response(A)", "response is written response(A, B), but is not at character 1"),
        ("response(A B, C)", "response is about single steps, and 'A B' may be more at character 1"),
        ("A, B", "something does not belong at character 2, ', B'"),
    ],
)
def test_a_mistake_is_told_with_its_place(text, message):
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_an_automaton_that_explodes_is_refused_with_its_size():
    for text in ["... A .{30} A ...", "A{5000}", "(... A){100} & (... B){100} & (... A B){100}"]:
        with pytest.raises(PatternError, match="needs an automaton of more than"):
            automaton_of(parse(text), lambda test: frozenset(["AB".index(test.name)]), 3)


def test_signs_and_words_build_the_same_pattern():
    built = step("A") + (step("B") | step("C", "go")).times(2, 5) + ~step("D")
    assert parse("A (B | C/go){2,5} not(D)") == built
    assert parse("A*") == step("A").times(0)
    assert parse("A?") == step("A").times(0, 1)
