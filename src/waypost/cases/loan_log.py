"""A made-up log of loan applications, so that everything from log to explanation runs without anybody's data.

Customers apply; the bank checks, makes offers and calls about them; customers answer, ask for another offer or walk
away. Careful customers send complete papers more often, which nobody sees but everybody feels: outcomes depend on what
was done on the way.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from waypost.errors import LogError, require
from waypost.logs import EventLog, read_log

Event = tuple[datetime, str, str]  # when, what, lifecycle transition


def loan_log(cases: int = 1000, *, seed: int = 1) -> EventLog:
    """Synthetic loan applications, the same for the same seed.

    >>> loan_log(5, seed=1).sequences()[0][:2]
    ('Submit application', 'Check application')
    """
    pandas = require("pandas", "logs", "making a log")
    if cases < 1:
        raise LogError(f"a log needs at least one case, not {cases}")
    random = np.random.default_rng(seed)
    rows = []
    arrival = datetime(2024, 1, 2, 8, tzinfo=UTC)
    for number in range(1, cases + 1):
        arrival += timedelta(minutes=float(random.exponential(90)))
        rows += [(f"application {number}", *event) for event in _Application(random, arrival).run()]
    frame = pandas.DataFrame(
        rows, columns=["case:concept:name", "time:timestamp", "concept:name", "lifecycle:transition"]
    )
    return read_log(frame)


class _Application:
    """One application on its way through the bank."""

    def __init__(self, random: np.random.Generator, arrival: datetime) -> None:
        self.random = random
        self.now = arrival
        self.careful = random.random() < 0.5
        self.events: list[Event] = []

    def run(self) -> list[Event]:
        """Events from the application to its end."""
        self.did("Submit application", 0.0)
        self.did("Check application", 5.0)
        if not self.chance(0.9 if self.careful else 0.6):
            self.did("Ask for papers", 2.0)
            if not self.chance(0.8 if self.careful else 0.5):
                return self.ended("Withdraw", 200.0)
            self.did("Send papers", 70.0)
        if self.chance(0.12):
            return self.ended("Reject", 24.0)
        for _ in range(3):
            self.did("Make offer", 10.0)
            called = self.chance(0.6)
            if called:
                self.call()
            if self.chance(0.55 if called else 0.3):
                self.did("Accept offer", 48.0)
                return self.ended("Pay out" if self.chance(0.95) else "Reject", 24.0)
            if not self.chance(0.5):
                break
            self.did("Ask for another offer", 30.0)
        return self.ended("Withdraw", 300.0)

    def chance(self, probability: float) -> bool:
        """Whether something happens that happens with this probability."""
        return bool(self.random.random() < probability)

    def did(self, what: str, hours: float, transition: str = "complete") -> None:
        """Let some time pass, and something happen."""
        self.now += timedelta(hours=float(self.random.exponential(hours)) + 0.01)
        self.events.append((self.now, what, transition))

    def call(self) -> None:
        """Call the customer: a short call, or a long one."""
        self.did("Call customer", 20.0, "start")
        self.did("Call customer", 0.4 if self.chance(0.3) else 0.05, "complete")

    def ended(self, what: str, hours: float) -> list[Event]:
        """Events, with the last one."""
        self.did(what, hours)
        return self.events
