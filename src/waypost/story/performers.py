"""Who performs each activity, read off the traces that say whose turn it is."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from waypost.importance.activities import Performer
from waypost.logs.traces import Traces
from waypost.model.traces import ENVIRONMENT, Trace, steps_of


def performers(traces: Iterable[Trace]) -> dict[str, Performer]:
    """Performer of each activity, by its name in the traces; none where nobody is said to act.

    >>> from waypost.logs import Actors, EventLog
    >>> from waypost.logs.traces import io_traces
    >>> log = EventLog.from_sequences([["ask", "call the bank"]])
    >>> performers(io_traces(log, Actors({"ask": "customer", "*": "company"})))["ask"]
    Performer(actor='customer', chooses=True)
    """
    found: dict[str, Performer] = {}
    for trace in traces.variants if isinstance(traces, Traces) else traces:
        previous = str(trace[0])
        for (given, turn), (action, name) in pairwise(steps_of(trace)):
            if given == ENVIRONMENT != action and turn.endswith(previous):
                actor = turn.removesuffix(previous).removesuffix(" after ")
                found.setdefault(name, Performer(actor, action == name))
                previous = name
    return found
