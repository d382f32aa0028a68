"""What a benchmark finds: one row per piece of work, and how cost grows from row to row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

FIT_FROM = 19_000  # transitions, those of E10: smaller models measure overhead
TOLERANCE = 1e-5  # Storm's conditional probabilities come from a bisection in floats


@dataclass(frozen=True)
class Cost:
    """What one tool needed for the work of a row."""

    seconds: float  # for the whole work
    reading: float | None = None  # seconds to load the model, before; unknown where it was stopped
    megabytes: float | None = None  # peak of the process, reading included; unknown likewise


@dataclass(frozen=True)
class Row:
    """One piece of work, done by Waypost and, where it can be, by Storm."""

    name: str
    work: str
    states: int
    transitions: int
    asked: int  # states whose both bounds were asked for; 0 where the work is another
    ours: Cost
    storm: Cost | None = None
    storm_did: str = ""  # what Storm's time is the time of
    unanswered: int = 0  # Storm's queries that met the time limit; they count as the limit
    extrapolated: bool = False  # Storm's time is that of a sample, scaled
    spread: float | None = None  # standard error of a scaled time, relative
    one_query: bool = False  # Storm did much less: its time is that of one plain query
    compared: int = 0  # numbers looked at in both
    difference: float | None = None  # the greatest among them
    series: str | None = None  # rows of one series differ in size alone
    suite: str = ""  # the benchmark it belongs to
    refused: int = 0  # states that we could not certify
    given_up: bool = False  # we met our time limit, which counts as the time
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster Waypost is; or, beside one plain query, how many times longer it takes."""
        if self.storm is None:
            return None
        ratio = self.storm.seconds / self.ours.seconds
        return 1 / ratio if self.one_query else ratio

    @property
    def agrees(self) -> bool | None:
        """Whether both tools found the same numbers; None where nothing was compared."""
        return None if self.difference is None else self.difference <= TOLERANCE


@dataclass(frozen=True)
class Tally:
    """Wins and losses of one benchmark beside Storm."""

    suite: str
    faster: int  # rows in which we answered and took no longer
    slower: int
    median: float  # of the ratios
    least: float
    where: str  # the row with the least one
    refused: int  # states that we could not certify
    given_up: int  # rows in which we met our time limit


def tally(rows: Iterable[Row]) -> list[Tally]:
    """Wins and losses by benchmark; rows beside one plain query are no race.

    >>> def row(name, ours, storm):
    ...     return Row(name, "w", 3, 4, 3, Cost(ours, 0, 1), Cost(storm, 0, 1), suite="s")
    >>> tally([row("a", 1, 100), row("b", 1, 10), row("c", 2, 1)])
    [Tally(suite='s', faster=2, slower=1, median=10.0, least=0.5, where='c', refused=0, given_up=0)]
    """
    suites: dict[str, list[Row]] = {}
    for row in rows:
        if row.ratio is not None and not row.one_query:
            suites.setdefault(row.suite, []).append(row)
    found = []
    for suite, members in suites.items():
        ratios = [(row.ratio or 0.0, row.name) for row in members]
        won = sum((row.ratio or 0.0) >= 1 and not row.given_up for row in members)
        least, where = min(ratios)
        middle = median(ratio for ratio, _ in ratios)
        refused, given_up = sum(row.refused for row in members), sum(row.given_up for row in members)
        found.append(Tally(suite, won, len(ratios) - won, middle, least, where, refused, given_up))
    return found


@dataclass(frozen=True)
class Growth:
    """How the cost of a series grows: ``seconds ~ transitions ** exponent``."""

    series: str
    tool: str
    exponent: float
    error: float | None  # standard error of the exponent; unknown for two points, through which a line always goes
    points: int
    smallest: int  # transitions
    largest: int


def growth(rows: Iterable[Row], *, smallest: int = FIT_FROM) -> list[Growth]:
    """Exponents of all series with at least two rows of `smallest` transitions or more.

    >>> sizes = [(10**k, 1e-6 * 10 ** (1.5 * k)) for k in range(5, 8)]
    >>> rows = [Row("m", "w", n, n, 1, Cost(seconds, 0.1, 1.0), series="m") for n, seconds in sizes]
    >>> [(found.tool, round(found.exponent, 6), round(found.error, 6)) for found in growth(rows)]
    [('Waypost', 1.5, 0.0)]
    """
    series: dict[str, list[Row]] = {}
    for row in rows:
        if row.series is not None and row.transitions >= smallest:
            series.setdefault(row.series, []).append(row)
    found = []
    for name, members in series.items():
        costs = {
            "Waypost": [(row.transitions, row.ours.seconds) for row in members],
            "Storm": [(row.transitions, row.storm.seconds) for row in members if row.storm and not row.unanswered],
        }
        for tool, points in costs.items():
            sizes = [size for size, _ in points]
            if len(set(sizes)) > 1:
                found.append(Growth(name, tool, *exponent(points), len(points), min(sizes), max(sizes)))
    return found


def exponent(points: Sequence[tuple[float, float]]) -> tuple[float, float | None]:
    """Slope of the line through the points on doubly logarithmic paper, by least squares, and its standard error.

    ``error = sqrt(sum residual^2 / (n - 2) / sum (x - mean x)^2)`` says how much of a slope is due to how the rows of a
    series differ beside their size; two points leave no residual to tell it from.

    >>> slope, error = exponent([(10, 1), (100, 9), (100, 11), (1000, 100)])
    >>> round(slope, 3), round(error, 3)
    (1.0, 0.031)
    >>> exponent([(10, 1), (100, 10)])
    (1.0, None)
    """
    x, y = np.log([size for size, _ in points]), np.log([max(cost, 1e-9) for _, cost in points])
    spread = x - x.mean()
    slope = spread @ y / (spread @ spread)
    if len(points) == 2:
        return float(slope), None
    residual = y - y.mean() - slope * spread
    return float(slope), float(np.sqrt(residual @ residual / (len(points) - 2) / (spread @ spread)))
