"""An agent in words: how often it succeeds, where it loses the goal, and how it differs from another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.text import Text

from waypost.model import MDP
from waypost.report.decisions import departures
from waypost.report.jsonfile import FORMAT
from waypost.report.names import captions, titles, told
from waypost.report.table import fitted_table
from waypost.report.wording import count, number, percent, printable

if TYPE_CHECKING:
    from waypost.agents import AgentExplanation

MANY = 12  # places where runs end that are told one by one
NOTE = "Best means the greatest probability of the target, however long it takes and without discount."


def agent_summary(explanation: AgentExplanation, top: int = 5) -> str:
    """Explanation of an agent in words, at most `top` lines of each kind.

    >>> from waypost.agents import explain_agent
    >>> from waypost.cases import loan
    >>> hasty = {"s0": "Apply", "Error": "Quit", "Consultation": "Apply", "Rework": "Submit"}
    >>> print(agent_summary(explain_agent(loan(), hasty, target="Granted"), top=1))
    The agent reaches 'Granted' with probability 0.931; 0.98 is possible.
    Departing from the best costs the agent 0.049 of success in all:
    0.049 in Error, met by 5 % of the runs, where Consult is best and Quit is taken 100 % of the time.
    Runs that do not reach it end:
    6.9 % in Rejected, beyond hope.
    Best means the greatest probability of the target, however long it takes and without discount.
    """
    lines = [
        lead(explanation),
        *_departing(explanation, top),
        *_taking_long(explanation),
        *_ends(explanation, top),
    ]
    if explanation.against is not None:
        lines += _beside(explanation, top)
    return "\n".join([*lines, note(explanation)])


def lead(explanation: AgentExplanation) -> str:
    """How often the agent succeeds, and what is possible."""
    steps = "" if explanation.within is None else f" within {count(explanation.within, 'step')}"
    reached, best = number(explanation.success), number(explanation.best)
    return f"The agent reaches {printable(explanation.target)}{steps} with probability {reached}; {best} is possible."


def note(explanation: AgentExplanation) -> str:
    """What "best" means."""
    if explanation.within is None:
        return NOTE
    return f"Best means the greatest probability of the target within {count(explanation.within, 'step')}."


def _departing(explanation: AgentExplanation, top: int) -> list[str]:
    if explanation.within is None or not explanation.departures:
        return departures(explanation.decisions, "the agent", top)
    found, world = explanation.departures, explanation.mdp
    said = [
        f"{number(d.cost)} in {printable(d.state)}, met {_times(d.visits)} a run, where "
        f"{taken(world, d.state, d.taken)} is taken and {told(world, d.state, *d.best[:2])} would mostly be best"
        for d in found[:top]
    ]
    if found[top:]:
        said.append(f"{number(sum(d.cost for d in found[top:]))} in {count(len(found[top:]), 'more place')}")
    cost = number(explanation.best - explanation.success)
    lead = f"Departing from the best costs the agent {cost} of success in all, over all steps:"
    return [lead, *(f"{sentence};" for sentence in said[:-1]), f"{said[-1]}."]


def _taking_long(explanation: AgentExplanation) -> list[str]:
    """Say how long an agent takes that loses nothing but time."""
    steps, fewest = explanation.steps, explanation.fewest
    if explanation.within is not None or explanation.departures or not fewest or steps <= fewest * (1 + 1e-9):
        return []
    long = f"{steps:,.0f}" if steps >= 100 else f"{steps:.1f}"
    asking = f"within={2 * fewest} or --within {2 * fewest} asks for it in so many steps, and where they are lost"
    return [f"Its runs take {long} steps on average, the shortest way there {fewest:,}; {asking}."]


def _times(visits: float) -> str:
    if not math.isfinite(visits):
        return "for ever"
    return "once" if (often := f"{visits:.2g}") == "1" else f"{often} times"


def _ends(explanation: AgentExplanation, top: int) -> list[str]:
    if explanation.within is not None:
        return _ends_in_time(explanation, top)
    said, fates, mdp = [], explanation.fates, explanation.mdp
    if len(fates) > MANY:
        return _ends_by_label(explanation, top)
    titled = dict(zip(mdp.states, titles(mdp), strict=True))
    for fate in fates[:top]:
        more = f" and {count(len(fate.states) - 1, 'more state')}" if len(fate.states) > 1 else ""
        why = f"going round, though {number(fate.hope)} would still be possible" if fate.hope else "beyond hope"
        said.append(f"{percent(fate.probability)} in {printable(titled[fate.states[0]])}{more}, {why}")
    if fates[top:]:
        said.append(f"{percent(sum(f.probability for f in fates[top:]))} in {count(len(fates[top:]), 'other place')}")
    return _ending(said)


def _ends_by_label(explanation: AgentExplanation, top: int) -> list[str]:
    """Where runs end, by what the places are called, where they are too many to be told one by one."""
    mdp = explanation.mdp
    called = dict(zip(mdp.states, captions(mdp), strict=True))
    places: dict[tuple[str, bool], list[float]] = {}
    for fate in explanation.fates:
        places.setdefault((called[fate.states[0]], fate.hope > 0), []).append(fate.probability)
    order = sorted(places, key=lambda place: -sum(places[place]))
    said = [
        f"{percent(sum(places[name, hope]))} in {printable(name)}, {'going round' if hope else 'beyond hope'}"
        + (f" ({count(len(places[name, hope]), 'place')})" if len(places[name, hope]) > 1 else "")
        for name, hope in order[:top]
    ]
    if order[top:]:
        left = [p for place in order[top:] for p in places[place]]
        said.append(f"{percent(sum(left))} in {count(len(left), 'other place')}")
    return _ending(said)


def _ending(said: list[str]) -> list[str]:
    if not said:
        return []
    return ["Runs that do not reach it end:", *(f"{line};" for line in said[:-1]), f"{said[-1]}."]


def _ends_in_time(explanation: AgentExplanation, top: int) -> list[str]:
    """Where runs end that are not there in time: for good, or because the time is up."""
    titled = dict(zip(explanation.mdp.states, titles(explanation.mdp), strict=True))
    places: dict[str, float] = {}
    for fate in explanation.fates:
        if not fate.late:
            place = titled[fate.states[0]]
            places[place] = places.get(place, 0.0) + fate.probability
    order = sorted(places, key=lambda place: -places[place])
    said = [f"{percent(places[place])} in {printable(place)}, beyond hope" for place in order[:top]]
    if order[top:]:
        left = order[top:]
        said.append(f"{percent(sum(places[p] for p in left))} in {count(len(left), 'other place')}")
    if explanation.late > 0:
        said.append(f"{percent(1.0 if explanation.late > 1 - 1e-9 else explanation.late)} when the time is up")
    return _ending(said)


def _beside(explanation: AgentExplanation, top: int) -> list[str]:
    other, world = explanation.against, explanation.mdp
    if other is None or not explanation.differences:
        return ["The other agent does the same wherever either comes."]
    said = [
        f"In {printable(d.state)} it takes {taken(world, d.state, d.taken)}, the other "
        f"{taken(world, d.state, d.taken_by_other)}; best is {told(world, d.state, *d.best[:2])}; "
        f"they lose {number(d.cost)} and {number(d.cost_to_other)}."
        for d in explanation.differences[:top]
    ]
    left = len(explanation.differences) - len(said)
    lead = (
        f"The other agent reaches it with probability {number(other.success)}. They differ in "
        f"{count(len(explanation.differences), 'state')} that either meets:"
    )
    return [lead, *said, *([f"And in {count(left, 'more state')}."] if left else [])]


def taken(mdp: MDP, state: str, shares: Mapping[str, float]) -> str:
    """What is done in a state, the most frequent first.

    >>> mdp = MDP.from_dict({"a": {"left": "a", "right": "b"}, "b": {}}, initial="a")
    >>> taken(mdp, "a", {"left": 0.25, "right": 0.75}), taken(mdp, "a", {"left": 1.0})
    ('right (75 %) or left (25 %)', 'left')
    """
    order = sorted(shares, key=lambda action: -shares[action])
    named = [
        told(mdp, state, action) if shares[action] == 1 else f"{told(mdp, state, action)} ({percent(shares[action])})"
        for action in order[:3]
    ]
    return " or ".join([*named, *([f"{len(order) - 3} more"] if order[3:] else [])])


def print_agent(explanation: AgentExplanation, console: Console, *, top: int) -> None:
    """Print the explanation of an agent: the places that cost most as a table, and the words.

    >>> from waypost import Strategy
    >>> from waypost.agents import explain_agent
    >>> from waypost.cases import loan
    >>> found = explain_agent(loan(), Strategy.uniform(loan()), target="Granted")
    >>> print_agent(found, Console(width=100), top=1)  # doctest: +NORMALIZE_WHITESPACE +ELLIPSIS
    The agent reaches 'Granted' with probability 0.576; 0.98 is possible.
    <BLANKLINE>
      place          best    taken                          visits   costs
     ──────────────────────────────────────────────────────────────────────
      Consultation   Apply   Apply (50 %) or Angry (50 %)     0.75   0.367
    <BLANKLINE>
    Departing from the best costs the agent 0.404 of success in all:
    ...
    """
    console.print(Text(lead(explanation)))
    beside = explanation.differences if explanation.against is not None else ()
    world = explanation.mdp
    lines = [
        [
            *_place(world, d.state, d.best, d.taken),
            taken(world, d.state, d.taken_by_other),
            number(d.cost),
            number(d.cost_to_other),
        ]
        for d in beside[:top]
    ]
    head = ["place", "best", "taken", "by the other", "costs", "the other"]
    if explanation.against is None:
        head = ["place", "best", "taken", "visits", "costs"]
        lines = [
            [*_place(world, d.state, d.best, d.taken), _visits(d.visits), number(d.cost)]
            for d in explanation.departures[:top]
        ]
    if lines:
        names = head.index("costs") - (explanation.against is None)
        console.print(fitted_table(console, head, lines, names=names, box=box.SIMPLE_HEAD, header_style="dim"))
    for sentence in agent_summary(explanation, top=3).splitlines()[1:]:
        console.print(Text(sentence))


def agent_document(explanation: AgentExplanation) -> dict[str, Any]:
    """Explanation of an agent as JSON has it; ``visits`` is null where it may come back for ever."""
    found = {
        "format": FORMAT,
        "target": explanation.target,
        "within": explanation.within,
        "success": explanation.success,
        "best": explanation.best,
        "steps": explanation.steps,
        "fewest_steps": explanation.fewest,
        "departures": [
            {
                **d._asdict(),
                "best": list(d.best),
                "taken": dict(d.taken),
                "visits": d.visits if math.isfinite(d.visits) else None,
            }
            for d in explanation.departures
        ],
        "ends": [fate._asdict() for fate in explanation.fates],
    }
    if explanation.against is not None:
        found["against"] = agent_document(explanation.against)
        found["differences"] = [
            {**d._asdict(), "taken": dict(d.taken), "taken_by_other": dict(d.taken_by_other)}
            for d in explanation.differences
        ]
    return found


def _place(mdp: MDP, state: str, best: Sequence[str], shares: Mapping[str, float]) -> tuple[str, str, str]:
    """A state, what is best there, and what is done."""
    more = f" or {len(best) - 2} more" if best[2:] else ""
    return state, told(mdp, state, *best[:2]) + more, taken(mdp, state, shares)


def _visits(visits: float) -> str:
    return "for ever" if not math.isfinite(visits) else f"{visits:.2f}"
