"""Two logs side by side: counted, with intervals that noise respects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from waypost.logs import EventLog, read_log, segments
from waypost.logs.steps.outcome import set_outcome
from waypost.uncertainty import compare_logs


def logged(*cases: tuple[str, int]) -> EventLog:
    sequences = [names.split() for names, n in cases for _ in range(n)]
    return set_outcome(EventLog.from_sequences(sequences), positive="pay")


BEFORE = logged(("ask call pay", 30), ("ask pay", 20), ("ask call go", 10), ("ask go", 40))
AFTER = logged(("ask call pay", 60), ("ask pay", 20), ("ask go", 20), ("ask call mail go", 1))


def test_shares_and_differences_are_counted():
    found = compare_logs(BEFORE, AFTER)
    call = next(a for a in found.activities if a.name == "call")
    assert (call.before_cases, call.after_cases) == (40, 61)
    assert call.share.difference == pytest.approx(61 / 101 - 0.4)
    assert call.good_share.before == pytest.approx(30 / 50)
    assert call.good_share.after == pytest.approx(60 / 80)
    assert call.success_after.after == pytest.approx(60 / 61)
    assert call.success_after.real
    assert found.success.difference == pytest.approx(80 / 101 - 0.5)


def test_the_interval_of_a_difference_is_the_binomial_one():
    """Standard error of the difference of 50 % of 100 and 79 % of 101: 0.064; the interval is about 4 of them wide."""
    success = compare_logs(BEFORE, AFTER).success
    assert success.low < success.difference < success.high
    error = (0.25 / 100 + (80 / 101) * (21 / 101) / 101) ** 0.5
    assert success.high - success.low == pytest.approx(3.92 * error, rel=0.15)


def test_a_log_compared_with_itself_has_not_changed():
    found = compare_logs(BEFORE, BEFORE)
    assert not any(a.share.real or a.separation.real for a in found.activities)
    assert found.sentences()[-1] == "no activity changed by more than chance would do"


def test_what_changed_is_said_and_the_outcome_is_no_change_of_its_own():
    told = compare_logs(BEFORE, AFTER).sentences()
    assert told[0].startswith("the share of good cases rose from 50.0% to 79.2% (by 29.2 points, 95% interval ")
    assert any("cases with 'call' rose from 40.0% to 60.4%" in sentence for sentence in told)
    assert not any("'pay'" in sentence for sentence in told)


def test_an_activity_of_one_log_only_is_compared_with_none():
    mail = next(a for a in compare_logs(BEFORE, AFTER).activities if a.name == "mail")
    assert (mail.before_cases, mail.after_cases) == (0, 1)
    assert mail.success_after.before is None
    assert mail.success_after.difference is None


def test_segments_have_their_own_outcome_and_contrast():
    rows = []
    for k in range(200):
        web, well = k < 100, k % 4 > 0
        helped = well if web else not well
        names = ["ask", *(["help"] if helped else []), "pay" if well else "go"]
        rows += [(k, name, "web" if web else "shop", k) for name in names]
    frame = pd.DataFrame(rows, columns=["case", "activity", "case:channel", "case:amount"])
    log = set_outcome(read_log(frame), positive="pay")
    found = segments(log, "channel")
    assert [(s.name, s.cases, s.success) for s in found.segments] == [("shop", 100, 0.75), ("web", 100, 0.75)]
    assert found.differing[0].activity == "help"
    assert (found.differing[0].high, found.differing[0].low) == ("web", "shop")
    assert (found.differing[0].high_separation, found.differing[0].low_separation) == (1.0, -1.0)
    quarters = segments(log, "case:amount").segments
    assert [(s.name, s.cases) for s in quarters] == [
        ("0 to 49", 50),
        ("above 49 to 99", 50),
        ("above 99 to 149", 50),
        ("above 149 to 199", 50),
    ]


def test_a_step_that_one_segment_has_more_of_does_not_separate_otherwise_there():
    """In the shop everybody is called, on the web few are, and it makes no difference to anybody."""
    rows = []
    for k in range(800):
        web, called = k < 400, k % 10 < (2 if k < 400 else 9)
        names = ["ask", *(["call"] if called else []), "pay" if (k // 10) % 2 else "go"]
        rows += [(k, name, "web" if web else "shop") for name in names]
    frame = pd.DataFrame(rows, columns=["case", "activity", "case:channel"])
    assert not segments(set_outcome(read_log(frame), positive="pay"), "channel").differing


def test_steps_that_the_same_cases_have_are_told_together():
    """Two events of one click changed once."""
    before, after = (
        set_outcome(
            EventLog.from_sequences([["ask", "send", "mail", "pay"]] * n + [["ask", "go"]] * 50), positive="pay"
        )
        for n in (50, 150)
    )
    told = [sentence for sentence in compare_logs(before, after).sentences() if "'send'" in sentence]
    assert len(told) == 1
    assert "(and, as many, " in told[0]
    assert "'mail'" in told[0]


def test_logs_that_differ_by_chance_alone_have_not_changed():
    """Of twenty halves of one log, one in twenty may seem to: it was nearly every second."""
    random = np.random.default_rng(1)
    steps = [f"step{k}" for k in range(20)]
    told = 0
    for _ in range(20):
        halves = []
        for _ in range(2):
            cases = [[*(s for s in steps if random.random() < 0.3), random.choice(["pay", "go"])] for _ in range(300)]
            halves.append(logged(*((" ".join(case), 1) for case in cases)))
        found = compare_logs(*halves, draws=50)
        told += any(a.share.real or a.separation.real for a in found.activities if a.defines_outcome is None)
    assert told <= 3


def test_a_handful_of_cases_changes_nothing():
    """All of three cases have a step, and none of two others: that is chance."""
    before, after = logged(("ask help pay", 1), ("ask help go", 2)), logged(("ask pay", 1), ("ask go", 1))
    found = compare_logs(before, after)
    helped = next(a.share for a in found.activities if a.name == "help")
    assert helped.difference == -1
    assert helped.low == -1
    assert helped.high > 0
    assert found.sentences()[-1] == "no activity changed by more than chance would do"
