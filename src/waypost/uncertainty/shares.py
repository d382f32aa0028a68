"""How sure shares are: cases are drawn again, and what was counted is counted again.

Nothing is learned. Drawing cases is drawing how often each kind of case comes, so a thousand draws take a moment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from waypost.logs import Log, contrast
from waypost.logs.tally import tally
from waypost.model.arrays import Floats

LEVEL = 0.95
PARTS = ("success", "share", "good_share", "bad_share", "success_after", "success_without")
AS_FAR = "success_without_as_far"
HALF = 0.5
Interval = tuple[float, float]


def share_intervals(log: Log, *, resamples: int, seed: int, level: float = LEVEL) -> dict[str, dict[str, Interval]]:
    """Intervals of the shares of every activity, by activity and share.

    >>> from waypost.logs import EventLog
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> cases = [["ask", "help", "pay"]] * 30 + [["ask", "pay"]] * 10 + [["ask", "go"]] * 60
    >>> found = share_intervals(set_outcome(EventLog.from_sequences(cases), positive="pay"), resamples=1000, seed=1)
    >>> low, high = found["help"]["good_share"]
    >>> 0.6 < low < 0.65, 0.85 < high < 0.9, tuple(round(end, 2) for end in found["ask"]["good_share"])
    (True, True, (0.91, 1.0))
    """
    names = tuple(log.activities())
    counted = contrast(log).activities
    stages = {c.name: names.index(c.stage.name) for c in counted if c.stage is not None}
    early = [c.name for c in counted if c.late_cases]
    drawn = drawn_shares(log, names, np.random.default_rng(seed), resamples, stages, early)
    found: dict[str, dict[str, Interval]] = {name: {} for name in names}
    for part in (*PARTS[2:], AS_FAR):
        for k, name in enumerate(names):
            known = drawn[part][:, k][np.isfinite(drawn[part][:, k])]
            if len(known):
                found[name][part] = interval(known, level)
    return found


def interval(drawn: Floats, level: float = LEVEL) -> Interval:
    """Interval that so many of the draws lie in."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _patterns(
    log: Log, names: tuple[str, ...], early: Collection[str] = (), stages: Mapping[str, int] | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_], Floats]:
    """Kinds of cases: which activities they have, for which they came as far, whether good, and how many there are.

    Of the activities that count only while the outcome is open, `early` has the names. `stages` are those of
    activities, by their position in `names`; for one that has none, all cases came as far.
    """
    told, there = tally(log), list(log.seen.activities)
    rows = np.zeros((len(told.count), 2 * len(names) + 1), bool)
    present, came = rows[:, : len(names)], rows[:, len(names) : -1]
    came[:] = True
    for k, name in enumerate(there):
        when = told.early if name in early else told.having
        present[:, names.index(name)] = when[:, k]
        if stages is not None and name in stages:
            came[:, names.index(name)] = when[:, there.index(names[stages[name]])]
    rows[:, -1] = told.good
    kinds, where = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(where.ravel(), weights=told.count).astype(float)
    return kinds[:, : len(names)], kinds[:, len(names) : -1], kinds[:, -1], counts


def counted_shares(log: Log, names: tuple[str, ...]) -> dict[str, tuple[Floats, Floats]]:
    """(activities,) for every share in the log itself the cases that have it, and all they are a share of."""
    present, _, good, counts = _patterns(log, names)
    return {part: (having[0], of[0]) for part, (having, of) in _counted(present, good, counts[None, :]).items()}


def drawn_shares(
    log: Log,
    names: tuple[str, ...],
    random: np.random.Generator,
    draws: int,
    stages: Mapping[str, int] | None = None,
    early: Collection[str] = (),
) -> dict[str, Floats]:
    """Shares in as many resamples: drawing cases is drawing how often each kind of case comes.

    `stages` are the stages of activities, by their position in `names`: what came as far is told where it is asked for.
    Of activities in `early` only what comes while the outcome is open counts.
    """
    present, came, good, counts = _patterns(log, names, early, stages)
    weights = random.multinomial(int(counts.sum()), counts / counts.sum(), size=draws).astype(float)
    (other,) = random.spawn(1)
    unseen = {part: other.random((draws, 1)) for part in PARTS}
    unseen[AS_FAR] = unseen["success_without"]
    lacking = None if stages is None else came & ~present
    there = _counted(present, good, counts[None, :], lacking)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            part: _with_unseen(having / of, *there[part], unseen[part])
            for part, (having, of) in _counted(present, good, weights, lacking).items()
        }
    return found | {"separation": found["good_share"] - found["bad_share"]}


def _with_unseen(drawn: Floats, having: Floats, of: Floats, chance: Floats) -> Floats:
    """(draws, activities) drawn shares, where none or all of the cases have something with what may have been missed.

    Drawing cases again never draws what no case has, however few they are. That `n` cases do not have it would be
    likely, too, if a few of all did: half of the draws are what was counted, and the others of Beta(1, n), so that the
    interval ends where the exact one (Clopper and Pearson) does.
    """
    with np.errstate(divide="ignore"):
        missed = np.where(chance < HALF, 0, 1 - (1 - chance) ** (1 / of))
    return np.where(having == 0, np.where(of > 0, missed, drawn), np.where(having == of, 1 - missed, drawn))


def _counted(
    present: NDArray[np.bool_], good: NDArray[np.bool_], weights: Floats, lacking: NDArray[np.bool_] | None = None
) -> dict[str, tuple[Floats, Floats]]:
    """(draws, activities) the cases that have every share, and all they are of, where cases come as often as `weights`.

    What came as far is told of the kinds of cases that are `lacking` an activity, where that is given.
    """
    all_cases, well = weights.sum(axis=1, keepdims=True), weights[:, good].sum(axis=1, keepdims=True)
    with_it, with_good = weights @ present.astype(float), weights[:, good] @ present[good].astype(float)
    pairs = [
        (well, all_cases),
        (with_it, all_cases),
        (with_good, well),
        (with_it - with_good, all_cases - well),
        (with_good, with_it),
        (well - with_good, all_cases - with_it),
    ]
    found = dict(zip(PARTS, pairs, strict=True))
    if lacking is not None:
        found[AS_FAR] = weights[:, good] @ lacking[good].astype(float), weights @ lacking.astype(float)
    return {part: (having, np.broadcast_to(of, having.shape)) for part, (having, of) in found.items()}
