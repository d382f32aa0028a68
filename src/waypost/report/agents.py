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
from waypost.report.fates import ends
from waypost.report.jsonfile import FORMAT
from waypost.report.names import told
from waypost.report.table import fitted_table
from waypost.report.wording import chance, count, number, percent, printable

if TYPE_CHECKING:
    from waypost.agents import AgentExplanation, LossGroup
    from waypost.agents.explaining import Departure, Difference

MOSTLY = 2 / 3  # of a cost
MENDS = 0.1  # of what is lost: a few changes that gain less do not mend an agent
NOT_MENDED = "A few changes do not mend this agent: it has more to learn."
LITTLE = 0.0005  # of success; less is written as 0
SAME = 1e-12  # relative; agents nearer than this are equally good
TOLD_ACTIONS = 3  # of those taken in one place
RARE = 0.1  # actions that are taken less often are counted
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
    Doing the best where most is lost, one place after the other, makes it 0.98 (Consult in Error).
    Runs that do not reach it end:
    6.9 % in Rejected, beyond hope.
    Best means the greatest probability of the target, however long it takes and without discount.
    """
    said = [lead(explanation), *_words(explanation, top)]
    if explanation.against is not None:
        said = [said[0], verdict(explanation), *said[1:], *_apart(explanation, top)]
    return "\n".join([*said, note(explanation)])


def _words(explanation: AgentExplanation, top: int) -> list[str]:
    """Where the agent loses, how long it takes, where its runs end, and where another one is better or worse."""
    return [
        *_departing(explanation, top),
        *_mending(explanation, top),
        *taking_long(explanation),
        *_ending(explanation, top),
        *(_beside(explanation, top) if explanation.against is not None else []),
    ]


def lead(explanation: AgentExplanation) -> str:
    """How often the agent succeeds, and what is possible."""
    steps = "" if explanation.within is None else f" within {count(explanation.within, 'step')}"
    reached, best = chance(explanation.success), chance(explanation.best)
    return f"The agent reaches {printable(explanation.target)}{steps} with probability {reached}; {best} is possible."


def note(explanation: AgentExplanation) -> str:
    """What "best" means."""
    if explanation.within is None:
        return NOTE
    return f"Best means the greatest probability of the target within {count(explanation.within, 'step')}."


def _departing(explanation: AgentExplanation, top: int) -> list[str]:
    """Where the agent departs from the best: place by place, or by what they have in common where a few say little."""
    found, mdp = explanation.departures, explanation.mdp
    lost = sum(place.cost for place in found)
    if not found:
        return ["The agent never departs from the best."]
    if explanation.groups and 2 * sum(place.cost for place in found[:top]) < lost:
        said = [loss_sentence(group) for group in explanation.groups[:top]]
        said.append(f"{number(max(0.0, lost - sum(group.cost for group in explanation.groups[:top])))} elsewhere")
    elif explanation.within is None and not explanation.decisions.idle:
        return departures(explanation.decisions, "the agent", top)
    else:
        said = [
            f"{number(d.cost)} in {printable(d.state)}, {met(d.visits)}, where "
            f"{taken(mdp, d.state, d.taken)} is taken and {better(explanation, d)}"
            for d in found[:top]
        ]
        if found[top:]:
            said.append(f"{number(sum(d.cost for d in found[top:]))} in {count(len(found[top:]), 'more place')}")
    over = "" if explanation.within is None else ", over all steps"
    cost = number(explanation.best - explanation.success)
    lead = f"Departing from the best costs the agent {cost} of success in all{over}:"
    return [lead, *_listed(said), *filter(None, [by_the_clock(explanation)])]


def better(explanation: AgentExplanation, place: Departure | Difference) -> str:
    """Say what would be better in a place than what is done there."""
    if explanation.within is not None and {*place.taken} <= {*place.best}:
        return "no other action is better on average, only to count the steps left"
    average = "" if explanation.within is None else " on average"
    return f"{told(explanation.mdp, place.state, *place.best[:2])} is best{average}"


def by_the_clock(explanation: AgentExplanation) -> str:
    """Say what is lost because the best action depends on the steps left; empty where that is nothing."""
    counts = explanation.strategy.memory > 1  # the steps, or something like it
    found = () if explanation.within is None or counts else explanation.departures
    lost = sum(place.visits * (place.hoped - max(place.worth.values())) for place in found)
    if lost < LITTLE:
        return ""
    whole = number(explanation.best - explanation.success)
    return f"{number(lost)} of the {whole} is lost because the agent does the same whatever time is left."


def _mending(explanation: AgentExplanation, top: int) -> list[str]:
    """What to change first, and how often the agent succeeds then."""
    mdp, found = explanation.mdp, explanation.mending[:top]
    if not found:
        return []
    if not mends(explanation):
        places = "place" if len(found) == 1 else f"{len(found)} places"
        return [f"Doing the best in the {places} where most is lost makes it {chance(found[-1].success)}. {NOT_MENDED}"]
    said = [f"{chance(m.success)} ({told(mdp, m.state, m.action)} in {printable(m.state)})" for m in found]
    return [f"Doing the best where most is lost, one place after the other, makes it {', then '.join(said)}."]


def mends(explanation: AgentExplanation) -> bool:
    """Whether the few changes that are told gain much of what is lost."""
    gained = explanation.mending[-1].success - explanation.success
    return gained >= MENDS * (explanation.best - explanation.success)


def loss_sentence(group: LossGroup) -> str:
    """Say what a group of places has in common, how often they are met, and what is done there.

    >>> from waypost.agents.groups import LossGroup
    >>> loss_sentence(LossGroup("row<9 & key=no", 0.9, 41, 4.1, {"down": 0.7, "left": 0.2}, {"left": 0.5, "up": 0.3}))
    '0.9 where row<9 & key=no, 41 places met 4.1 times a run, mostly by down, where left or up is mostly best'
    >>> loss_sentence(LossGroup("", 0.05, 9, 1.0, {"north": 0.05}, {"south": 0.05}))
    '0.05 in 9 places met once a run, by north, where south is best'
    >>> loss_sentence(LossGroup("x<3", 0.2, 4, 2.0, {"a": 0.1, "b": 0.1}, {"b": 0.1, "a": 0.1}))
    '0.2 where x<3, 4 places met 2 times a run'
    """
    common = f"where {printable(group.where)}, " if group.where else "in "
    done, better = _mostly(group.taken, group.cost), _mostly(group.best, group.cost)
    by = f", {done[1]}by {' or '.join(done[0])}" if done else ""
    best = f", where {' or '.join(better[0])} is {better[1]}best" if better else ""
    if done and better and {*done[0]} == {*better[0]}:
        by = best = ""  # now the one, now the other
    return f"{number(group.cost)} {common}{count(group.places, 'place')} {met(group.visits)}{by}{best}"


def _mostly(costs: Mapping[str, float], total: float) -> tuple[list[str], str] | None:
    """One action or two that make up most of a cost, and whether there are others; None if it takes more."""
    for most in (1, 2):
        part = sum(list(costs.values())[:most])
        if part >= MOSTLY * total:
            return [printable(name) for name in list(costs)[:most]], "mostly " * (part < 0.999 * total)
    return None


def _listed(said: list[str]) -> list[str]:
    """Lines of one sentence."""
    return [*(f"{line};" for line in said[:-1]), f"{said[-1]}."]


def taking_long(explanation: AgentExplanation) -> list[str]:
    """Say how long an agent takes that loses nothing but time."""
    steps, fewest = explanation.steps, explanation.fewest
    if explanation.within is not None or explanation.departures or not fewest or steps <= fewest * (1 + 1e-9):
        return []
    asking = f"within={2 * fewest} or --within {2 * fewest} asks for it in so many steps, and where they are lost"
    return [f"Its runs take {steps_taken(steps)} steps on average, the shortest way there {fewest:,}; {asking}."]


def steps_taken(steps: float) -> str:
    """How long runs take on average, without digits that say nothing."""
    return f"{steps:,.0f}" if steps >= 100 else f"{steps:.1f}"


def met(visits: float) -> str:
    """Say how often a place is met.

    >>> met(0.25), met(1.0), met(math.inf)
    ('met 0.25 times a run', 'met once a run', 'in which it goes round for ever')
    """
    if not math.isfinite(visits):
        return "in which it goes round for ever"
    often = f"{visits:,.0f}" if visits >= 10 else f"{visits:.2g}"
    return "met once a run" if often == "1" else f"met {often} times a run"


def _ending(explanation: AgentExplanation, top: int) -> list[str]:
    said = [f"{share} {where}" for share, where in ends(explanation, top)]
    return ["Runs that do not reach it end:", *_listed(said)] if said else []


def verdict(explanation: AgentExplanation) -> str:
    """Say which of two agents is better, and by how much.

    >>> from waypost import Strategy
    >>> from waypost.agents import explain_agent
    >>> from waypost.cases import loan
    >>> hasty = {"s0": "Apply", "Error": "Quit", "Consultation": "Apply", "Rework": "Submit"}
    >>> verdict(explain_agent(loan(), hasty, target="Granted", against=Strategy.uniform(loan())))
    'The other agent is worse: it reaches it with probability 0.576, 0.355 less.'
    """
    if explanation.against is None:
        return ""
    other = explanation.against.success
    more = other - explanation.success
    if abs(more) <= SAME * max(other, explanation.success):
        mine, theirs = explanation.steps, explanation.against.steps
        slower = abs(mine - theirs) > SAME * max(mine, theirs)
        steps = f", after {steps_taken(theirs)} steps on average; this one after {steps_taken(mine)}" if slower else ""
        return f"The other agent reaches it just as often{steps}."
    better, by = ("better", "more") if more > 0 else ("worse", "less")
    apart = chance(abs(more)) if abs(more) < 1 / 2 else number(abs(more))
    return f"The other agent is {better}: it reaches it with probability {chance(other)}, {apart} {by}."


def beside(explanation: AgentExplanation, top: int) -> list[tuple[str, list[str]]]:
    """Where the other agent gains, where it gives up, and how much in all: what is said first, and the lines below."""
    behind, ahead = explanation.behind, explanation.ahead
    if behind is None or ahead is None or not explanation.differences:
        return [("The other agent does the same wherever either comes", [])]
    differ = {difference.state for difference in explanation.differences}
    found = []
    for margin, what, often in ((behind, "gains", "less"), (ahead, "gives up", "more")):
        first = list(margin.places.items())[:top]
        if not first:
            continue
        if margin.groups and 2 * sum(cost for _, cost in first) < margin.cost:
            said = [loss_sentence(group) for group in margin.groups[:top]]
            told_of = sum(group.cost for group in margin.groups[:top])
        else:
            same = f", where both do the same, but the other comes {often} often"
            said = [f"{number(cost)} in {printable(state)}{same * (state not in differ)}" for state, cost in first]
            told_of = sum(cost for _, cost in first)
        if margin.cost - told_of >= LITTLE:
            said.append(f"{number(margin.cost - told_of)} elsewhere")
        found.append((f"The other {what} {number(margin.cost)}", said))
    return found


def _beside(explanation: AgentExplanation, top: int) -> list[str]:
    lines = []
    for first, said in beside(explanation, top):
        if len(said) > 1:
            lines += [f"{first}:", *_listed(said)]
        else:
            lines.append(f"{first}: {said[0].partition(' ')[2]}." if said else f"{first}.")
    return lines


def _apart(explanation: AgentExplanation, top: int) -> list[str]:
    """What the two do where they differ most."""
    world, found = explanation.mdp, explanation.differences
    if not found:
        return []
    lines = [
        f"In {printable(d.state)} it takes {taken(world, d.state, d.taken)}, the other "
        f"{taken(world, d.state, d.taken_by_other)}; best is {told(world, d.state, *d.best[:2])}; "
        f"they lose {number(d.cost)} and {number(d.cost_to_other)}."
        for d in found[:top]
    ]
    if max(found[0].cost, found[0].cost_to_other) < LITTLE:
        return [f"They differ in {count(len(found), 'place')} that either meets, and neither loses anything there."]
    lead = f"They differ in {count(len(found), 'place')} that either meets:"
    return [lead, *lines, *([f"And in {count(len(found) - top, 'more place')}."] if found[top:] else [])]


def taken(mdp: MDP, state: str, shares: Mapping[str, float]) -> str:
    """What is done in a state, the most frequent first.

    >>> mdp = MDP.from_dict({"a": {"left": "a", "right": "b"}, "b": {}}, initial="a")
    >>> taken(mdp, "a", {"left": 0.25, "right": 0.75}), taken(mdp, "a", {"left": 1.0})
    ('right (75 %) or left (25 %)', 'left')
    >>> taken(mdp, "a", dict.fromkeys(("left", "right", "up", "down"), 0.25))
    'any of 4 alike'
    """
    order = sorted(shares, key=lambda action: -shares[action])
    if len(order) > TOLD_ACTIONS and shares[order[0]] - shares[order[-1]] <= SAME:
        return f"any of {len(order)} alike"
    often = [action for action in order[:TOLD_ACTIONS] if shares[action] >= RARE] or order[:1]
    named = [
        told(mdp, state, action) if shares[action] == 1 else f"{told(mdp, state, action)} ({percent(shares[action])})"
        for action in often
    ]
    left = len(order) - len(often)
    return " or ".join([*named, *([f"{left} more"] if left else [])])


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
    and 2 more places; --top 3 shows all
    Departing from the best costs the agent 0.404 of success in all:
    ...
    """
    for sentence in filter(None, (lead(explanation), verdict(explanation))):
        console.print(Text(sentence))
    head, lines = places_table(explanation)
    if lines:
        names = len(head) - 2
        console.print(fitted_table(console, head, lines[:top], names=names, box=box.SIMPLE_HEAD, header_style="dim"))
    if len(lines) > top:
        console.print(Text(f"and {count(len(lines) - top, 'more place')}; --top {len(lines)} shows all"))
    for sentence in [*_words(explanation, top=3), note(explanation)]:
        console.print(Text(sentence))


def places_table(explanation: AgentExplanation, most: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Places that cost most, or in which two agents differ most; at most so many."""
    mdp = explanation.mdp
    if explanation.against is None:
        return ["place", "best", "taken", "visits", "costs"], [
            [*_place(mdp, d.state, d.best, d.taken), _visits(d.visits), number(d.cost)]
            for d in explanation.departures[:most]
        ]
    return ["place", "best", "this takes", "other takes", "this loses", "other loses"], [
        [
            *_place(mdp, d.state, d.best, d.taken),
            taken(mdp, d.state, d.taken_by_other),
            number(d.cost),
            number(d.cost_to_other),
        ]
        for d in explanation.differences[:most]
    ]


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
        "groups": [group._asdict() for group in explanation.groups],
        "mending": [mended._asdict() for mended in explanation.mending],
        "ends": [fate._asdict() for fate in explanation.fates],
    }
    if explanation.against is not None:
        found["against"] = agent_document(explanation.against)
        for name, margin in (("behind", explanation.behind), ("ahead", explanation.ahead)):
            if margin is not None:
                found[name] = {**margin._asdict(), "groups": [group._asdict() for group in margin.groups]}
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
    return "for ever" if not math.isfinite(visits) else "<0.01" if 0 < visits < 0.005 else f"{visits:.2f}"
