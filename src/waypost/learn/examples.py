"""Example cases for the states of a learned model: which cases of the log passed them."""

from __future__ import annotations

from waypost.learn.mdp import Successors, steps_from
from waypost.learn.prepare import Prepared
from waypost.logs.log import CASE
from waypost.model import MDP


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
    if prepared.log is None:
        names = [f"trace {k}" for k in range(1, len(prepared.traces) + 1)]
    else:
        log = prepared.log
        names = [str(name) for name in log.events[CASE].to_numpy()[log.first_event[:-1]]]
    known: dict[int, Successors] = {}
    found: dict[str, list[str]] = {}
    for name, trace in zip(names, prepared.traces, strict=True):
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
