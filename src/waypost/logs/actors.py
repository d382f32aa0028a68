"""Who performs each event, and who of them is free to choose.

Paper, Sect. 6: what the company does is chance, one probabilistic action; what the customer does is a real choice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from waypost.arguments import shown
from waypost.errors import LogError, unknown_name
from waypost.logs.files import exists, read_text
from waypost.logs.variants import Log

CUSTOMER = "customer"
OUTCOME_ACTOR = "outcome"  # performs `positive`, `negative` and `end` where the map leaves them open; never a choice


@dataclass(frozen=True)
class Actors:
    """A map from event names to actors, and the actors whose events are choices.

    In names, ``*`` and ``?`` stand for what they do in a shell; a name that is spelled out goes before a pattern, a
    pattern before those after it.

    >>> actors = Actors({"call *": "customer", "*": "company"})
    >>> actors.of("call the bank"), actors.of("answer"), actors.chooses("customer")
    ('customer', 'company', True)
    """

    performs: Mapping[str, str]
    choosing: frozenset[str] = field(default=frozenset({CUSTOMER}))

    def __post_init__(self) -> None:
        if not isinstance(self.performs, Mapping) or not self.performs:
            raise LogError('an actor map is written {"event": "actor"}, and has at least one entry')
        for name, actor in self.performs.items():
            if not isinstance(name, str) or not isinstance(actor, str) or not actor:
                raise LogError(f"the actor map gives {shown(name)} the actor {shown(actor)}; an actor is a name")

    def chooses(self, actor: str) -> bool:
        """Whether an actor's events are choices."""
        return actor in self.choosing

    def of(self, name: str, base: str | None = None) -> str | None:
        """Actor of an event called `name`, or `base` before it was numbered or classified."""
        for candidate in (name, base):
            if candidate is not None and candidate in self.performs:
                return self.performs[candidate]
        for pattern, actor in self.performs.items():
            if fnmatchcase(name, pattern) or (base is not None and fnmatchcase(base, pattern)):
                return actor
        return None

    def of_outcome(self, outcome: str) -> str:
        """Actor of an outcome; patterns do not count here, only the name spelled out."""
        return self.performs.get(outcome, OUTCOME_ACTOR)

    def doubts(self) -> tuple[str, ...]:
        """Tell of actors that look like a slip of the pen: one event has 'companyy', the others 'company'."""
        tally: dict[str, list[str]] = {}
        for name, actor in self.performs.items():
            tally.setdefault(actor, []).append(name)
        told = []
        for actor, names in tally.items():
            others = [other for other in tally if len(tally[other]) > len(names)]
            near = get_close_matches(actor, others, n=1, cutoff=0.85)
            if near:
                told.append(f"the actor {actor!r} of {names[0]!r} looks like {near[0]!r} misspelt")
        return tuple(told)


CHOOSER, PROCESS = "chooser", "process"
EVERY_EVENT_A_CHOICE = Actors({"*": PROCESS}, frozenset({PROCESS}))
EVERY_EVENT_CHANCE = Actors({"*": PROCESS}, frozenset())


def read_actors(path: str | Path, choosing: frozenset[str] | None = None) -> Actors:
    """Actor map of a JSON file ``{"event": "actor"}``; by default the customer is the one with a choice."""
    path = Path(path)
    if not exists(path):
        raise LogError(f"there is no actor map {str(path)!r}")
    try:
        given: Any = json.loads(read_text(path, "JSON"))
    except (ValueError, RecursionError) as error:
        raise LogError(f"{path.name} is no JSON that can be read: {error}") from None
    return checked_actors(given, choosing, path.name)


def checked_actors(given: Any, choosing: frozenset[str] | None, where: str) -> Actors:
    """Actors from ``{"event": "actor"}``; there must be an actor who chooses, or an explicit empty set of them."""
    actors = Actors(given) if choosing is None else Actors(given, choosing)
    known = sorted(set(actors.performs.values()))
    absent = sorted(actors.choosing - set(known))
    if absent:
        raise LogError(
            f"{where} has no actor {absent[0]!r}, whose events would be the choices; "
            f"its actors are {', '.join(known)}; say who chooses (--choosing ACTOR)"
        )
    return actors


def actors_of_column(log: Log, column: str, choosing: frozenset[str]) -> Actors:
    """Actors as a column of the log names them: each activity belongs to who performs it most often.

    >>> import pandas
    >>> from waypost.logs import read_log
    >>> rows = [(1, "ask", "client"), (1, "answer", "bank"), (2, "ask", "client")]
    >>> log = read_log(pandas.DataFrame(rows, columns=["case", "activity", "role"]))
    >>> actors_of_column(log, "role", frozenset({"client"})).of("ask")
    'client'
    """
    tally = log.performers(column)
    performs = {name: Counter(who).most_common(1)[0][0] or "nobody" for name, who in tally.items()}
    if not choosing:
        known = ", ".join(sorted(set(performs.values())))
        raise LogError(f"the column {column!r} says who acts, now say who of them chooses (--choosing): {known}")
    return checked_actors(performs, choosing, f"the column {column!r}")


def choosing_events(log: Log, events: frozenset[str]) -> Actors:
    """Actors where only the events that are choices are named, in names or patterns; the others are chance.

    >>> from waypost.logs import EventLog
    >>> actors = choosing_events(EventLog.from_sequences([["ask", "pay"]]), frozenset({"pay"}))
    >>> actors.chooses(actors.of("pay")), actors.chooses(actors.of("ask"))
    (True, False)
    """
    known = list(log.activities())
    for event in sorted(events):
        if not any(fnmatchcase(name, event) for name in known):
            raise LogError(
                f"--choosing without a map of actors (--actors) names the events that are choices: "
                f"{unknown_name('event', event, known, 'this log')}"
            )
    return Actors({**dict.fromkeys(sorted(events), CHOOSER), "*": PROCESS}, frozenset({CHOOSER}))
