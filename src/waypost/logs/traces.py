"""Input/output traces: what IOAlergia learns from.

Paper, Sect. 6. A case ``e1 e2 ...`` becomes ``start`` and two steps for each event `e` after `previous`::

    ("env", actor(e) after previous)      chance decides who moves
    (input(e), e)                         the actor's own name where it is chance, the event's where it is a choice

and ends with the outcome of the case, or with ``end`` where none was set. Where nobody chooses, who moves is nobody's
question: each event is one step ``("env", e)``, and the model a Markov chain over the events themselves.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, repeat
from pathlib import Path
from typing import overload

from waypost.arguments import shown
from waypost.errors import ArgumentError, LogError
from waypost.logs.actors import Actors
from waypost.logs.files import exists, read_text
from waypost.logs.log import OUTCOME, EventLog
from waypost.logs.steps.events import bases
from waypost.logs.variants import Log
from waypost.model.traces import ENVIRONMENT, NEGATIVE, POSITIVE, Naming, Trace, steps_of, written

START, END = "start", "end"


@dataclass(frozen=True)
class Traces(Sequence[Trace]):
    """Traces of a log, each kept once with how often it happened: a sequence of as many traces as there are cases.

    >>> traces = Traces(((["start", ("a", "x")]), ["start"]), (2, 1))
    >>> len(traces), traces[1], traces[2]
    (3, ['start', ('a', 'x')], ['start'])
    """

    variants: tuple[Trace, ...]
    counts: tuple[int, ...]

    def __len__(self) -> int:
        return sum(self.counts)

    @overload
    def __getitem__(self, index: int) -> Trace: ...
    @overload
    def __getitem__(self, index: slice) -> list[Trace]: ...
    def __getitem__(self, index: int | slice) -> Trace | list[Trace]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        ends = list(accumulate(self.counts))
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        return self.variants[bisect_right(ends, at)]

    def __iter__(self) -> Iterator[Trace]:
        for trace, count in zip(self.variants, self.counts, strict=True):
            yield from repeat(trace, count)


def io_traces(log: Log, actors: Actors, *, naming: Naming = "plain") -> Sequence[Trace]:
    """Input/output traces of a log: one per case of a log in memory, each kind once where the log stays elsewhere.

    `naming` "paper" writes names as the paper's models do: without space, colon, ``#`` and brackets, the actor glued to
    what went before.

    >>> log = EventLog.from_sequences([["ask", "call the bank"]])
    >>> io_traces(log, Actors({"ask": "customer", "*": "company"}))[0]
    ['start', ('env', 'customer after start'), ('ask', 'ask'), ('env', 'company after ask'), \
('company', 'call the bank'), ('env', 'outcome after call the bank'), ('outcome', 'end')]
    """
    if naming not in ("plain", "paper"):
        raise ArgumentError(f"naming is 'plain' or 'paper', not {naming!r}")
    if log.has(OUTCOME):
        _check_outcomes(log)
    _check_actors(log.kinds(), actors)
    write = _Writing(actors, naming).trace
    if not isinstance(log, EventLog):
        seen = log.seen
        ends = seen.outcomes or [END] * len(seen)
        events = [[(kind.name, kind.base) for kind in kinds] for kinds in seen.sequences()]
        return Traces(tuple(map(write, events, ends)), tuple(seen.count.tolist()))
    ends = [END] * log.n_cases
    if OUTCOME in log.events:
        ends = log.column(OUTCOME, "io_traces")[log.first_event[:-1]].tolist()
    names, plain = log.names(), bases(log)
    places = pairwise(log.first_event.tolist())
    return [
        write(zip(names[low:high], plain[low:high], strict=True), end)
        for (low, high), end in zip(places, ends, strict=True)
    ]


class _Writing:
    """Writes traces: each step that may happen is made once, however many traces have it."""

    def __init__(self, actors: Actors, naming: Naming) -> None:
        self.actors, self.naming = actors, naming
        self.turns: dict[tuple[str, str], tuple[str, str]] = {}  # by who moves, and after what
        self.moves: dict[tuple[str, str], tuple[str, tuple[str, str]]] = {}  # who moves and the step, by event and base

    def trace(self, events: Iterable[tuple[str, str]], end: str) -> Trace:
        """Trace of one case."""
        moves, turns = self.moves, self.turns
        told = [moves.get(event) or self._move(event) for event in events]
        if not self.actors.choosing:
            return [START, *(step for _, step in told), (ENVIRONMENT, end)]
        actor = self.actors.of_outcome(end)
        told.append((actor, self._step(end if self.actors.chooses(actor) else actor, end)))
        trace: Trace = [START]
        previous = START
        for who, step in told:
            trace.append(turns.get((who, previous)) or self._turn(who, previous))
            trace.append(step)
            previous = step[1]
        return trace

    def _move(self, event: tuple[str, str]) -> tuple[str, tuple[str, str]]:
        name, base = event
        actor = self.actors.of(name, base) or ""
        given = ENVIRONMENT if not self.actors.choosing else base if self.actors.chooses(actor) else actor
        self.moves[event] = found = (actor, self._step(given, name))
        return found

    def _turn(self, who: str, previous: str) -> tuple[str, str]:
        glue = "" if self.naming == "paper" else " after "
        self.turns[who, previous] = found = (ENVIRONMENT, written(f"{who}{glue}{previous}", self.naming))
        return found

    def _step(self, given: str, name: str) -> tuple[str, str]:
        return written(given, self.naming), written(name, self.naming)


def log_of_traces(traces: Sequence[Trace]) -> EventLog:
    """Log of the events and outcomes in traces, without times; the steps that say whose turn it is are no events.

    >>> log_of_traces([["start", ("env", "customer after start"), ("ask", "ask"), ("env", "x"), ("end", "positive")]])
    EventLog(cases=1, events=1, activities=1)
    """
    turns = any(given != ENVIRONMENT for trace in traces for given, _ in steps_of(trace))
    sequences, ends = [], []
    for trace in traces:
        steps = steps_of(trace)
        events = [output for given, output in steps if not (turns and given == ENVIRONMENT)]
        if not events or events[-1] not in (POSITIVE, NEGATIVE):
            raise LogError(
                "the traces do not all end with 'positive' or 'negative', so there are no good and bad cases"
            )
        sequences.append(events[:-1] or [str(trace[0])])
        ends.append(events[-1])
    log = EventLog.from_sequences(sequences)
    return log.with_events(log.events.assign(**{OUTCOME: [ends[k] for k in log.case_of.tolist()]}))


def read_traces(path: str | Path) -> Sequence[Trace]:
    """Input/output traces of a JSON file: a list of ``["start", ["input", "output"], ...]``."""
    path = Path(path)
    if not exists(path):
        raise LogError(f"there is no file {str(path)!r}")
    try:
        given = json.loads(read_text(path, "JSON"))
    except (ValueError, RecursionError) as error:
        raise LogError(f"{path.name} is no JSON that can be read: {error}") from None
    if not isinstance(given, list):
        raise LogError(f'{path.name} is no list of traces ["start", ["input", "output"], ...]')
    return checked_traces([_paired(trace) for trace in given], path.name)


def checked_traces(traces: Sequence[object], where: str = "these traces") -> Sequence[Trace]:
    """Traces that a model can be learned from: an output, the same for all, then pairs of text."""
    if not traces:
        raise LogError(f"{where}: there is no trace to learn from")
    if isinstance(traces, Traces):
        return traces
    checked: list[Trace] = []
    good: set[object] = set()
    for number, trace in enumerate(traces, 1):
        if not isinstance(trace, list | tuple) or not trace or not isinstance(trace[0], str):
            raise LogError(f"{where}, trace {number}: a trace starts with its first output, a name")
        for step in trace[1:]:
            if not (isinstance(step, tuple) and step in good):
                good.add(_checked_step(step, f"{where}, trace {number}"))
        checked.append(trace if isinstance(trace, list) else list(trace))
        if trace[0] != checked[0][0]:
            raise LogError(
                f"{where}, trace {number} starts with {shown(trace[0])}, but the first one with {shown(checked[0][0])}"
            )
    return checked


def _checked_step(step: object, where: str) -> tuple[str, str]:
    if isinstance(step, tuple) and len(step) == 2 and all(isinstance(part, str) for part in step):
        return step
    raise LogError(f"{where}: {shown(step)} is no pair of an input and an output")


def _paired(trace: object) -> object:
    return [tuple(step) if isinstance(step, list) else step for step in trace] if isinstance(trace, list) else trace


def _check_actors(events: Iterable[tuple[str, str]], actors: Actors) -> None:
    """Everything that happens must be done by somebody."""
    unknown = list(dict.fromkeys(base for name, base in events if actors.of(name, base) is None))
    if unknown:
        shown = ", ".join(repr(name) for name in unknown[:8])
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        raise LogError(f'the actor map does not say who performs {shown}{more}; add them, or "*" for all others')


def _check_outcomes(log: Log) -> None:
    """Events must not be called what outcomes are called: as targets they would be the same."""
    clash = sorted({POSITIVE, NEGATIVE} & set(log.activities()))
    if clash:
        raise LogError(
            f"events are called {clash[0]!r}, which is what outcomes are called; rename or drop them (rename_events, "
            f"drop_events)"
        )
