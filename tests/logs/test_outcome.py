"""How a case ended: slips of the pen, outcomes that tell nothing apart, deadlines."""

from __future__ import annotations

from importlib.util import find_spec

import pandas as pd
import pytest

from waypost.errors import LogError
from waypost.logs import EventLog, Recipe, RecipeStep, contrast, open_log, read_log, write_log
from waypost.logs.log import OUTCOME
from waypost.logs.steps.attributes import attribute_as_event
from waypost.logs.steps.outcome import set_outcome

LOG = EventLog.from_sequences([["ask", "pay"], ["ask", "go"], ["ask"]])


def test_a_misspelt_event_is_an_error_with_the_nearest_name():
    with pytest.raises(LogError, match=r"no event 'payy' in this log; did you mean 'pay'\?"):
        set_outcome(LOG, positive="payy")
    with pytest.raises(LogError, match=r"no event 'goo' in this log; did you mean 'go'\?"):
        set_outcome(LOG, positive="pay", negative="goo")


def test_an_outcome_of_all_or_no_cases_is_an_error():
    with pytest.raises(LogError, match="all 3 cases are positive by 'ask', so nothing tells good cases from bad ones"):
        set_outcome(LOG, positive="ask")
    with pytest.raises(LogError, match="no case is positive by 'ask'"):
        set_outcome(EventLog.from_sequences([["ask", "pay"], ["ask", "go"]]), positive="ask", last=True)


def by_days(*days: float | None) -> EventLog:
    rows = []
    for k, day in enumerate(days):
        rows.append((k, "bill", pd.Timestamp("2024-01-01", tz="UTC")))
        if day is not None:
            rows.append((k, "pay", pd.Timestamp("2024-01-01", tz="UTC") + pd.Timedelta(days=day)))
    return read_log(pd.DataFrame(rows, columns=["case", "activity", "time"]))


@pytest.mark.parametrize("within", ["60 days", 60, "1440 h", "8.571428571428571 weeks"])
def test_by_a_deadline_only_what_comes_in_time_counts(within):
    """Positive are exactly the cases whose payment came within 60 days of their first event."""
    log = set_outcome(by_days(1, 59, 60, 61, 200, None), positive="pay", within=within)
    ends = log.events.groupby("case:concept:name", sort=False)[OUTCOME].first().tolist()
    assert ends == ["positive", "positive", "positive", "negative", "negative", "negative"]


def test_cases_that_may_still_make_the_deadline_are_told_of():
    log = set_outcome(by_days(1, 2, None), positive="pay", within="60 days")
    assert log.notes[-1] == "outcomes: 2 positive, 1 negative (1 of them had less time than that before the log ends)"


def test_a_deadline_that_is_no_time_is_refused():
    with pytest.raises(LogError, match="within is a time such as '60 days'"):
        set_outcome(by_days(1, None), positive="pay", within="soon")
    with pytest.raises(LogError, match="an outcome by deadline needs timestamps"):
        set_outcome(LOG, positive="pay", within=3)


def test_an_attribute_becomes_an_event_by_quarters_where_it_is_a_number():
    frame = pd.DataFrame({"case": range(100), "activity": "ask", "case:amount": range(100)})
    log = attribute_as_event(read_log(frame), attribute="amount")
    names = log.activities()
    assert names == {
        "ask": 100,
        "amount 0 to 24": 25,
        "amount above 24 to 49": 25,
        "amount above 49 to 74": 25,
        "amount above 74 to 99": 25,
    }
    assert all(sequence[0].startswith("amount") and sequence[1] == "ask" for sequence in log.sequences())


def test_a_step_that_removes_everything_blames_itself():
    with pytest.raises(LogError, match=r"no event is left of 5.*let this step keep more"):
        LOG.where(LOG.names() == "none of them")


def test_what_comes_after_the_deadline_comes_when_a_case_is_decided(tmp_path):
    """Who has missed it has all the time in the world to be helped: that is no reason for missing it."""
    rows = []
    for case in range(200):
        paid = [(1, "help"), (3, "pay")] if case % 4 == 0 else [(3, "pay")]
        late = [(20, "help"), (30, "pay")] if case % 4 else [(1, "help"), (30, "pay")]
        rows += [(case, day, name) for day, name in ((0, "ask"), *(paid if case < 100 else late))]
    frame = pd.DataFrame(rows, columns=["case", "time", "activity"])
    frame["time"] = pd.Timestamp("2024-01-01T09:30") + pd.to_timedelta(frame["time"], unit="D")
    for engine in ("memory", "duckdb") if find_spec("ibis") else ("memory",):
        log = Recipe(steps=(RecipeStep("set_outcome", {"positive": "pay", "within": "10 days"}),))(
            open_log(frame, engine=engine)
        )
        found = contrast(log)["help"]
        assert (found.good_cases, found.bad_cases, found.late_cases) == (25, 25, 75)
        if engine == "memory":
            write_log(log, tmp_path / "log.csv")
            assert contrast(read_log(tmp_path / "log.csv"))["help"].late_cases == 75
