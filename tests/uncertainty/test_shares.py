"""Intervals of shares when cases are drawn again."""

from __future__ import annotations

import pytest

from waypost.logs import EventLog, contrast
from waypost.logs.steps.outcome import set_outcome
from waypost.uncertainty import share_intervals


def test_every_interval_holds_what_was_counted():
    """Also of a late step among the cases that came as far, whose interval is far from that among all cases."""
    cases = [["ask", "offer", "cancel", "pay"]] * 30 + [["ask", "offer", "pay"]] * 70
    cases += [["ask", "offer", "cancel", "go"]] * 60 + [["ask", "offer", "go"]] * 40 + [["ask", "go"]] * 800
    cases += [["ask", "file", "offer", "pay"]] * 10 + [["ask", "offer", "pay", "file"]] * 80
    log = set_outcome(EventLog.from_sequences(cases), positive="pay")
    assert contrast(log)["file"].late_cases == 80
    intervals = share_intervals(log, resamples=400, seed=1)
    for counted in contrast(log).activities:
        for part, (low, high) in intervals[counted.name].items():
            assert low <= getattr(counted, part) + 1e-12, (counted.name, part)
            assert high >= getattr(counted, part) - 1e-12, (counted.name, part)
    late = intervals["cancel"]
    assert late["success_without"][1] + 0.3 < late["success_without_as_far"][0]
    assert intervals["offer"]["success_without_as_far"] == pytest.approx(intervals["offer"]["success_without"])


def test_an_interval_says_what_few_cases_can_hide():
    """None of `n` cases: the exact interval ends at 1 - 0.025 ** (1 / n); and all of them likewise."""
    cases = [["ask", "fraud", "go"]] + [["ask", "help", "pay"]] * 60 + [["ask", "go"]] * 60
    found = share_intervals(set_outcome(EventLog.from_sequences(cases), positive="pay"), resamples=4000, seed=1)
    assert found["fraud"]["success_after"] == (0, pytest.approx(0.975, abs=0.01))
    assert found["fraud"]["good_share"] == (0, pytest.approx(1 - 0.025 ** (1 / 60), abs=0.01))
    assert found["help"]["good_share"] == (pytest.approx(0.025 ** (1 / 60), abs=0.01), 1)
