"""The activities of a log as a picture: which follows which, and how often."""

from __future__ import annotations

import numpy as np

from waypost.logs.contrast import good_cases
from waypost.logs.log import NEGATIVE, POSITIVE, EventLog
from waypost.model import MDP

BEGIN = "start"


def activity_graph(log: EventLog) -> MDP:
    """Chain over the activities of a log: each is followed by others as often as in the log.

    It is a map to look at. It remembers one step only, so importance is never computed in it.

    >>> from waypost.logs.steps.outcome import set_outcome
    >>> log = set_outcome(EventLog.from_sequences([["ask", "pay"], ["ask", "go"], ["ask"]]), positive="pay")
    >>> activity_graph(log)
    MDP(states=6, choices=6, transitions=8, initial='start')
    """
    good = good_cases(log)
    names = list(log.activities())
    begin = BEGIN if BEGIN not in names else f"({BEGIN})"
    states = [begin, *names, POSITIVE, NEGATIVE]
    at = {name: k for k, name in enumerate(names, 1)}
    event = np.array([at[name] for name in log.names().tolist()])
    first = log.first_event
    follows = np.append(event[1:], 0)
    follows[first[1:] - 1] = np.where(good, len(names) + 1, len(names) + 2)
    source = np.concatenate([np.zeros(len(first) - 1, int), event])
    target = np.concatenate([event[first[:-1]], follows])
    pairs, counts = np.unique(np.column_stack([source, target]), axis=0, return_counts=True)
    total = np.bincount(source, minlength=len(states))
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
