"""The activities of a log as a picture: which follows which, and how often."""

from __future__ import annotations

import numpy as np

from waypost.logs import Log
from waypost.model import MDP
from waypost.model.traces import NEGATIVE, POSITIVE

BEGIN = "start"


def activity_graph(log: Log) -> MDP:
    """Chain over the activities of a log: each is followed by others as often as in the log.

    It is a map to look at. It remembers one step only, so importance is never computed in it.

    >>> from waypost.logs import EventLog
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> log = set_outcome(EventLog.from_sequences([["ask", "pay"], ["ask", "go"], ["ask"]]), positive="pay")
    >>> activity_graph(log)
    MDP(states=6, choices=6, transitions=8, initial='start')
    """
    seen = log.seen
    names = list(seen.activities)
    begin = BEGIN if BEGIN not in names else f"({BEGIN})"
    states = [begin, *names, POSITIVE, NEGATIVE]
    event, first = seen.code + 1, seen.first
    follows = np.append(event[1:], 0)
    follows[first[1:] - 1] = np.where(seen.good, len(names) + 1, len(names) + 2)
    source = np.concatenate([np.zeros(len(seen), np.int64), event])
    target = np.concatenate([event[first[:-1]], follows])
    weight = np.concatenate([seen.count, seen.count[seen.variant]])
    pairs, where = np.unique(np.column_stack([source, target]), axis=0, return_inverse=True)
    counts = np.bincount(where.ravel(), weights=weight).astype(np.int64)
    total = np.bincount(source, weights=weight, minlength=len(states))
    return MDP.from_triplets(
        pairs[:, 0],
        pairs[:, 1],
        counts / total[pairs[:, 0]],
        first_choice=[*range(len(names) + 2), *[len(names) + 1] * 2],
        states=states,
        actions=["next"] * (len(names) + 1),
        initial=0,
        labels={end: np.array([state == end for state in states]) for end in (POSITIVE, NEGATIVE)},
        counts=counts,
    )
