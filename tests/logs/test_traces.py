"""Actors and input/output traces, as the paper has them."""

from __future__ import annotations

import json
import re

import pytest

from waypost.errors import LogError
from waypost.logs import EVERY_EVENT_A_CHOICE, EVERY_EVENT_CHANCE, Actors, EventLog, io_traces, read_actors, read_traces
from waypost.logs.steps.events import number_events
from waypost.logs.steps.outcome import set_outcome

WHO = Actors({"ask (us)": "customer", "offer*": "company", "pay": "company", "negative": "customer"})


def test_each_event_is_two_steps_chance_then_the_actor():
    log = set_outcome(EventLog.from_sequences([["ask (us)", "offer", "offer"], ["pay"]]), positive="pay")
    log = number_events(log, names="offer")
    assert io_traces(log, WHO, naming="paper")[:1] == [
        [
            *("start", ("env", "customerstart"), ("askus", "askus")),
            *(("env", "companyaskus"), ("company", "offer0")),
            *(("env", "companyoffer0"), ("company", "offer1")),
            *(("env", "customeroffer1"), ("negative", "negative")),
        ]
    ]


def test_a_choice_goes_by_the_name_before_numbering():
    log = number_events(EventLog.from_sequences([["call", "call"]]), names="call")
    trace = io_traces(log, Actors({"call": "customer"}))[0]
    assert [step for step in trace[1:] if step[0] not in ("env", "outcome")] == [("call", "call0"), ("call", "call1")]


def test_without_a_map_every_event_is_a_choice_or_all_is_chance():
    log = EventLog.from_sequences([["a"]])
    free, chance = (io_traces(log, who)[0] for who in (EVERY_EVENT_A_CHOICE, EVERY_EVENT_CHANCE))
    assert free == ["start", ("env", "process after start"), ("a", "a"), ("env", "outcome after a"), ("outcome", "end")]
    assert chance == ["start", ("env", "a"), ("env", "end")]


def test_an_event_must_not_be_called_what_an_outcome_is_called():
    log = EventLog.from_sequences([["ask", "positive"], ["ask"]])
    with pytest.raises(LogError, match="events are called 'positive', which is what outcomes are called"):
        io_traces(set_outcome(log, positive="positive"), EVERY_EVENT_A_CHOICE)
    assert io_traces(log, EVERY_EVENT_A_CHOICE)[0][-3] == ("positive", "positive")  # without outcomes it is a name


def test_events_without_an_actor_are_named():
    with pytest.raises(LogError, match=r"does not say who performs 'b', 'c'; add them, or \"\*\""):
        io_traces(EventLog.from_sequences(["abc"]), Actors({"a": "customer"}))


def test_a_name_goes_before_a_pattern_and_outcomes_only_by_name():
    who = Actors({"*": "company", "a": "customer"})
    assert (who.of("a"), who.of("b"), who.of("a1", "a")) == ("customer", "company", "customer")
    assert who.of_outcome("positive") == "outcome"


def test_a_slip_of_the_pen_in_a_map_is_told():
    who = Actors({"a": "company", "b": "company", "c": "companyy", "d": "customer"})
    assert who.doubts() == ("the actor 'companyy' of 'c' looks like 'company' misspelt",)


def test_the_shared_map_with_a_slip_is_read_and_doubted(shared_data):
    assert any("companyy" in doubt for doubt in read_actors(shared_data / "actor_maps/greps_actors.json").doubts())


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "is no JSON"), ("[]", "an actor map is written"), ('{"a": "we"}', "no actor 'customer'.*say who chooses")],
)
def test_what_is_wrong_with_a_map_is_said(complaint, content, message):
    assert re.search(message, complaint(read_actors, content))


def test_a_map_that_is_not_there_is_missed(tmp_path):
    with pytest.raises(LogError, match="there is no actor map"):
        read_actors(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "is no list of traces"),
        ("[]", "there is no trace"),
        ('[["start"], ["begin"]]', "trace 2 starts with 'begin', but the first one with 'start'"),
        ('[["start", ["a"]]]', "trace 1: .* is no pair"),
        ('[["start", ["a", 3]]]', "is no pair"),
        ("[[]]", "a trace starts with its first output"),
        ("[3]", "a trace starts with its first output"),
    ],
)
def test_what_is_wrong_with_traces_is_said(complaint, content, message):
    assert re.search(message, complaint(read_traces, content))


def test_traces_are_read_as_they_are_written(tmp_path):
    traces = io_traces(EventLog.from_sequences(["ab", "a"]), EVERY_EVENT_A_CHOICE)
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(traces))
    assert read_traces(path) == traces
