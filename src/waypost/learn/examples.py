"""Example cases for the states of a learned model: which cases of the log passed them."""

from __future__ import annotations

from collections.abc import Iterator

from waypost.learn.mdp import Successors, steps_from
from waypost.learn.prepare import Prepared
from waypost.logs import EventLog, Traces
from waypost.logs.log import CASE
from waypost.model import MDP
from waypost.model.traces import Trace


def example_cases(mdp: MDP, prepared: Prepared, most: int = 5) -> dict[str, list[str]]:
    """First cases that pass each state, by the names they have in the log.

    >>> from waypost.learn import prepare
    >>> from waypost.logs import EventLog
    >>> prepared = prepare(EventLog.from_sequences([["ask", "pay"], ["ask", "go"]] * 60))
    >>> mdp = prepared.learn()
    >>> paying = next(name for name in mdp.states if name.endswith(": pay"))
    >>> example_cases(mdp, prepared, most=3)[paying]
    ['case 1', 'case 3', 'case 5']
    """
    known: dict[int, Successors] = {}
    found: dict[str, list[str]] = {}
    for name, trace in _named(prepared):
        state = mdp.initial
        passed = {state: None}
        for step in trace[1:]:
            if state not in known:
                known[state] = steps_from(mdp, state)
            if (step[0], step[1]) not in known[state]:
                break
            state = known[state][step[0], step[1]][0]
            passed[state] = None
        for each in passed:
            examples = found.setdefault(mdp.states[each], [])
            if len(examples) < most:
                examples.append(name)
    return found


def _named(prepared: Prepared) -> Iterator[tuple[str, Trace]]:
    """Cases in the order of the log; where each kind is kept once, the first of every kind."""
    if isinstance(prepared.traces, Traces) and prepared.log is not None:
        seen = prepared.log.seen
        told = (zip(seen.met[v].tolist(), seen.examples[v], strict=True) for v in range(len(seen)))
        first = sorted((at, name, v) for v, cases in enumerate(told) for at, name in cases)
        yield from ((name, prepared.traces.variants[v]) for _, name, v in first)
        return
    names = [f"trace {k}" for k in range(1, len(prepared.traces) + 1)]
    if isinstance(prepared.log, EventLog):
        log = prepared.log
        names = [str(name) for name in log.events[CASE].to_numpy()[log.first_event[:-1]]]
    yield from zip(names, prepared.traces, strict=True)
