"""An agent in words: how often it succeeds, where it loses the goal, and how it differs from another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from waypost.report.decisions import departures
from waypost.report.names import titles
from waypost.report.wording import count, number, percent, printable

if TYPE_CHECKING:
    from waypost.agents import AgentExplanation

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
    target = printable(explanation.target)
    reached, best = number(explanation.success), number(explanation.best)
    lines = [
        f"The agent reaches {target} with probability {reached}; {best} is possible.",
        *departures(explanation.decisions, "the agent", top),
        *_ends(explanation, top),
    ]
    if explanation.against is not None:
        lines += _beside(explanation, top)
    return "\n".join([*lines, NOTE])


def _ends(explanation: AgentExplanation, top: int) -> list[str]:
    said, fates, mdp = [], explanation.fates, explanation.decisions.mdp
    titled = dict(zip(mdp.states, titles(mdp), strict=True))
    for fate in fates[:top]:
        more = f" and {count(len(fate.states) - 1, 'more state')}" if len(fate.states) > 1 else ""
        why = f"going round, though {number(fate.hope)} would still be possible" if fate.hope else "beyond hope"
        said.append(f"{percent(fate.probability)} in {printable(titled[fate.states[0]])}{more}, {why}")
    if fates[top:]:
        said.append(f"{percent(sum(f.probability for f in fates[top:]))} in {count(len(fates[top:]), 'other place')}")
    if not said:
        return []
    return ["Runs that do not reach it end:", *(f"{line};" for line in said[:-1]), f"{said[-1]}."]


def _beside(explanation: AgentExplanation, top: int) -> list[str]:
    other = explanation.against
    if other is None or not explanation.differences:
        return ["The other agent does the same wherever either comes."]
    said = [
        f"In {printable(d.state)} it takes {_taken(d.taken)}, the other {_taken(d.taken_by_other)}; "
        f"best is {' or '.join(map(printable, d.best[:2]))}; they lose {number(d.cost)} and {number(d.cost_to_other)}."
        for d in explanation.differences[:top]
    ]
    left = len(explanation.differences) - len(said)
    lead = (
        f"The other agent reaches it with probability {number(other.success)}. They differ in "
        f"{count(len(explanation.differences), 'state')} that either meets:"
    )
    return [lead, *said, *([f"And in {count(left, 'more state')}."] if left else [])]


def _taken(taken: Mapping[str, float]) -> str:
    """What is done, the most frequent first."""
    order = sorted(taken, key=lambda action: -taken[action])
    return " or ".join(
        printable(action) if taken[action] == 1 else f"{printable(action)} ({percent(taken[action])})"
        for action in order[:3]
    )
