"""Ways and segments counted in the cases of a log: the usual ways to a good end, and orders of steps that tell more.

An order of two steps is telling if knowing whether a case has it tells more about the outcome than knowing of either
step alone: the mutual information with the outcome, in bits. Steps that define the outcome are left out, and so is what
so few cases tell that chance would do as much somewhere (a likelihood-ratio test, corrected for all orders tried).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainccinv

from waypost.importance.insight import Block, Route, Segment
from waypost.logs import ProcessMap
from waypost.model.arrays import Mask
from waypost.patterns import ANYTHING, step
from waypost.patterns.search import mutual_information
from waypost.patterns.ways import folded

ROUTES = 10
SEGMENTS = 10
ACTIVITIES = 40  # the most frequent are put in order; nobody reads more
LEAST = 0.01  # of the cases must have a segment
MORE = 1.1  # times what its steps tell alone
SURE = 0.05  # probability that chance makes any of the orders told of
USUAL = 0.01  # of the good cases go a usual way
SAME = 0.8  # two segments whose cases correlate more than this say the same


def usual_routes(process: ProcessMap) -> tuple[Route, ...]:
    """The most frequent ways of the good cases, those together that differ only in how often a part is repeated.

    >>> from waypost.logs import EventLog, process_map
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> log = EventLog.from_sequences([["ask", "pay"]] * 3 + [["ask", "ask", "pay"]] + [["go"]])
    >>> usual_routes(process_map(set_outcome(log, positive="pay")))[0]
    Route(blocks=(Block(steps=('ask',), least=1, most=2), Block(steps=('pay',), least=1, most=1)), share=1.0, cases=4)
    """
    names = [stop.name for stop in process.stops]
    good = [journey for journey in process.journeys if process.stops[journey.stops[-1]].role == "good"]
    total = sum(journey.count for journey in good)
    merged: dict[tuple[tuple[str, ...], ...], tuple[int, list[tuple[int, ...]]]] = {}
    for journey in good:
        found = folded([names[k] for k in journey.stops[:-1]])
        key = tuple(block for block, _ in found)
        cases, times = merged.get(key, (0, []))
        merged[key] = (cases + journey.count, [*times, tuple(count for _, count in found)])
    usual = sorted((key for key in merged if merged[key][0] >= USUAL * total), key=lambda key: -merged[key][0])[:ROUTES]
    return tuple(_route(key, *merged[key], total) for key in usual)


def _route(blocks: Sequence[tuple[str, ...]], cases: int, times: Sequence[tuple[int, ...]], total: int) -> Route:
    repeated = np.array(times)
    ends = zip(blocks, repeated.min(axis=0).tolist(), repeated.max(axis=0).tolist(), strict=True)
    return Route(tuple(Block(*each) for each in ends), cases / total, cases)


def telling_orders(process: ProcessMap, left_out: Collection[str]) -> tuple[Segment, ...]:
    """Pairs of steps, directly or later one after the other, that tell more together than each of them alone.

    >>> from waypost.logs import EventLog, process_map
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> log = EventLog.from_sequences([["call", "mail", "pay"]] * 50 + [["mail", "call", "go"]] * 50)
    >>> found = telling_orders(process_map(set_outcome(log, positive="pay")), ["pay", "go"])
    >>> [(segment.pattern, segment.good, segment.bad) for segment in found]
    [('... call ... mail ...', 1.0, 0.0)]
    """
    journeys = process.journeys
    if not journeys:
        return ()
    weight = np.array([journey.count for journey in journeys], float)
    won = np.array([process.stops[journey.stops[-1]].role == "good" for journey in journeys])
    totals = np.array([weight[won].sum(), weight[~won].sum()])
    if not totals.all():
        return ()
    names = [stop.name for stop in process.stops]
    usable = [k for k, s in enumerate(process.stops) if s.role == "activity" and s.name not in left_out]
    usable = sorted(usable, key=lambda k: -process.stops[k].cases)[:ACTIVITIES]

    def bits(has: Mask) -> tuple[float, NDArray[np.float64]]:
        match = np.array([weight[has & won].sum(), weight[has & ~won].sum()])
        return mutual_information(match / totals.sum(), totals / totals.sum()), match

    alone = {k: bits(np.array([k in journey.stops for journey in journeys]))[0] for k in usable}
    found = []
    orders = list(_orders([journey.stops for journey in journeys], usable))
    by_chance = 2 * gammainccinv(0.5, SURE / max(1, len(orders))) / (2 * np.log(2) * totals.sum())
    for (a, b, direct), has in orders:
        told, match = bits(has)
        often = match.sum() / totals.sum()
        if LEAST <= often <= 1 - LEAST and told > max(by_chance, MORE * max(alone[a], alone[b])):
            between = step(names[a]) + step(names[b]) if direct else step(names[a]) + ANYTHING + step(names[b])
            pattern = str(ANYTHING + between + ANYTHING)
            good, bad = (match / totals).tolist()
            found.append((told, has, Segment(pattern, (names[a], names[b]), good, bad, told, int(match.sum()))))
    return _different(sorted(found, key=lambda each: -each[0]), weight)


def _orders(journeys: Sequence[tuple[int, ...]], usable: Sequence[int]) -> Iterator[tuple[tuple[int, int, bool], Mask]]:
    """Every order of two steps that some case has, and (journeys,) which journeys have it."""
    wanted = set(usable)
    found: dict[tuple[int, int, bool], list[int]] = {}
    for row, stops in enumerate(journeys):
        before: set[int] = set()
        has: set[tuple[int, int, bool]] = set()
        last = -1
        for stop in stops:
            if stop in wanted:
                has.update((earlier, stop, False) for earlier in before)
                if last in wanted:
                    has.add((last, stop, True))
                before.add(stop)
            last = stop
        for order in has:
            found.setdefault(order, []).append(row)
    for order in sorted(found):
        mask = np.zeros(len(journeys), bool)
        mask[found[order]] = True
        yield order, mask


def _different(found: Sequence[tuple[float, Mask, Segment]], weight: NDArray[np.float64]) -> tuple[Segment, ...]:
    """The most telling, none of which says what one before it says."""
    chosen: list[tuple[Mask, Segment]] = []
    for _, has, segment in found:
        if all(abs(_correlation(has, other, weight)) < SAME for other, _ in chosen):
            chosen.append((has, segment))
        if len(chosen) == SEGMENTS:
            break
    return tuple(segment for _, segment in chosen)


def _correlation(a: Mask, b: Mask, weight: NDArray[np.float64]) -> float:
    total = weight.sum()
    p, q, both = (weight[mask].sum() / total for mask in (a, b, a & b))
    spread = np.sqrt(p * (1 - p) * q * (1 - q))
    return float((both - p * q) / spread) if spread > 0 else 1.0
