"""Process maps: what directly follows what, and how often."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waypost.cases import prepare_case
from waypost.logs import EventLog, process_map
from waypost.logs.log import OUTCOME, TIME
from waypost.logs.steps.outcome import set_outcome

SEQUENCES = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8), min_size=1, max_size=12)


def _counted(log: EventLog) -> Counter[tuple[str, str]]:
    """Slow and obvious: walk through every case."""
    found: Counter[tuple[str, str]] = Counter()
    ends = log.events.groupby("case:concept:name", sort=False)[OUTCOME].first() if OUTCOME in log.events else None
    for k, case in enumerate(log.sequences()):
        found.update(pairwise(["start", *case, "end" if ends is None else ends.iloc[k]]))
    return found


@given(SEQUENCES)
def test_arrows_count_what_follows_what(sequences):
    log = EventLog.from_sequences(sequences)
    found = process_map(log)
    assert {(found.stops[a.source].name, found.stops[a.target].name): a.count for a in found.arrows} == _counted(log)
    for stop in found.stops[1:-1]:
        assert stop.events == sum(case.count(stop.name) for case in sequences)
        assert stop.cases == sum(stop.name in case for case in sequences)


@given(SEQUENCES)
def test_what_comes_in_goes_out(sequences):
    found = process_map(EventLog.from_sequences(sequences))
    for k, stop in enumerate(found.stops):
        into = sum(a.count for a in found.arrows if a.target == k)
        out = sum(a.count for a in found.arrows if a.source == k)
        assert stop.events == (out if stop.role == "start" else into)
        if stop.role == "activity":
            assert into == out


def test_cases_end_where_their_outcome_says():
    log = set_outcome(EventLog.from_sequences([["ask", "pay"]] * 3 + [["ask", "go"]] * 2), positive="pay")
    found = process_map(log)
    assert [(s.name, s.role, s.cases) for s in found.stops[-2:]] == [("positive", "good", 3), ("negative", "bad", 2)]
    assert {(found.stops[a.source].name, found.stops[a.target].name): a.count for a in found.arrows} == _counted(log)


def test_waiting_is_the_median_between_two_events():
    log = prepare_case("loan-log").log
    found = process_map(log)
    times = (log.events[TIME].astype("int64") / 10 ** (9 if "ns" in str(log.events[TIME].dtype) else 6)).tolist()
    names, case = log.names().tolist(), log.case_of.tolist()
    waits = [
        times[k + 1] - times[k]
        for k in range(len(log) - 1)
        if case[k] == case[k + 1] and (names[k], names[k + 1]) == ("Submit application", "Check application")
    ]
    code = {stop.name: k for k, stop in enumerate(found.stops)}
    pair = code["Submit application"], code["Check application"]
    arrow = next(a for a in found.arrows if (a.source, a.target) == pair)
    assert arrow.count == len(waits)
    assert arrow.waiting == pytest.approx(median(waits), abs=1e-5)
    assert all(a.waiting is None for a in found.arrows if a.source == 0)
