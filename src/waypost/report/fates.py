"""Where the runs of an agent end that do not reach the target, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waypost.report.names import captions, titles
from waypost.report.wording import count, number, percent, printable

if TYPE_CHECKING:
    from waypost.agents import AgentExplanation

MANY = 12  # places where runs end that are told one by one


def ends(explanation: AgentExplanation, top: int) -> list[tuple[str, str]]:
    """Share of the runs that end somewhere without the target, and where and why; at most `top`, and the rest.

    >>> from waypost import Strategy, explain_agent
    >>> from waypost.cases import loan
    >>> ends(explain_agent(loan(), Strategy.uniform(loan()), target="Granted"), top=3)
    [('42.4 %', 'in Rejected, beyond hope')]
    """
    if explanation.within is not None:
        return _in_time(explanation, top)
    return _by_label(explanation, top) if len(explanation.fates) > MANY else _one_by_one(explanation, top)


def _one_by_one(explanation: AgentExplanation, top: int) -> list[tuple[str, str]]:
    fates, mdp = explanation.fates, explanation.mdp
    titled = dict(zip(mdp.states, titles(mdp), strict=True))
    said = []
    for fate in fates[:top]:
        more = f" and {count(len(fate.states) - 1, 'more state')}" if len(fate.states) > 1 else ""
        why = f"going round, though {number(fate.hope)} would still be possible" if fate.hope else "beyond hope"
        said.append((percent(fate.probability), f"in {printable(titled[fate.states[0]])}{more}, {why}"))
    return said + _others([fate.probability for fate in fates[top:]])


def _by_label(explanation: AgentExplanation, top: int) -> list[tuple[str, str]]:
    """By what the places are called, where they are too many to be told one by one."""
    mdp = explanation.mdp
    called = dict(zip(mdp.states, captions(mdp), strict=True))
    places: dict[tuple[str, bool], list[float]] = {}
    for fate in explanation.fates:
        places.setdefault((called[fate.states[0]], fate.hope > 0), []).append(fate.probability)
    order = sorted(places, key=lambda place: -sum(places[place]))
    said = [
        (
            percent(sum(places[name, hope])),
            f"in {printable(name)}, {'going round' if hope else 'beyond hope'}"
            + (f" ({count(len(places[name, hope]), 'place')})" if len(places[name, hope]) > 1 else ""),
        )
        for name, hope in order[:top]
    ]
    return said + _others([share for place in order[top:] for share in places[place]])


def _in_time(explanation: AgentExplanation, top: int) -> list[tuple[str, str]]:
    """Of runs that are not there in time: for good, or because the time is up."""
    titled = dict(zip(explanation.mdp.states, titles(explanation.mdp), strict=True))
    places: dict[str, float] = {}
    for fate in explanation.fates:
        if not fate.late:
            place = titled[fate.states[0]]
            places[place] = places.get(place, 0.0) + fate.probability
    order = sorted(places, key=lambda place: -places[place])
    said = [(percent(places[place]), f"in {printable(place)}, beyond hope") for place in order[:top]]
    said += _others([places[place] for place in order[top:]])
    if explanation.late > 0:
        said.append((percent(1.0 if explanation.late > 1 - 1e-9 else explanation.late), "when the time is up"))
    return said


def _others(shares: list[float]) -> list[tuple[str, str]]:
    return [(percent(sum(shares)), f"in {count(len(shares), 'other place')}")] if shares else []
