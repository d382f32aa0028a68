"""Steps that bring attributes of cases into what happens in them."""

from __future__ import annotations

import numpy as np

from waypost.logs.log import ACTIVITY, BASE, DECIDES, LIFECYCLE, EventLog
from waypost.logs.segments import segment_names
from waypost.logs.steps.events import bases


def attribute_as_event(log: EventLog, *, attribute: str, first: bool = True) -> EventLog:
    """Put an attribute of the case into it as an event, ``amount above 10000 to 20000``, at its start or its end.

    Few values are named as they are, many numbers by the quarter of the cases that they are in.

    >>> import pandas
    >>> from waypost.logs import read_log
    >>> table = pandas.DataFrame({"case": [1, 1, 2], "activity": ["ask", "pay", "ask"], "channel": ["web", "", "shop"]})
    >>> attribute_as_event(read_log(table), attribute="channel").sequences()
    [('channel web', 'ask', 'pay'), ('channel shop', 'ask')]
    """
    from pandas import concat

    named = segment_names(log, attribute)
    rows = log.first_event[:-1] if first else log.first_event[1:] - 1
    spoken = attribute.removeprefix("case:")
    names = np.array([f"{spoken} {value}" for value in named.tolist()], object)
    extra = log.events.iloc[rows].assign(**{ACTIVITY: names})
    plain = log.events
    if BASE in plain:
        extra = extra.assign(**{BASE: names})
        plain = plain.assign(**{BASE: bases(log)})
    blank = {column: value for column, value in ((LIFECYCLE, "complete"), (DECIDES, "")) if column in extra}
    extra = extra.assign(**blank)
    position = np.concatenate([np.arange(len(plain)) + 0.5, rows + (0.0 if first else 1.0)])
    events = concat([plain, extra], ignore_index=True).iloc[np.argsort(position, kind="stable")]
    return log.with_events(events, f"put {attribute!r} into {log.n_cases:,} cases as an event")
