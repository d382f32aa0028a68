"""Decisions in words, a table and JSON: what each action is worth, and where a strategy departs from the best."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from rich import box
from rich.console import Console
from rich.text import Text

from waypost.arguments import Positive, checked
from waypost.importance.choices import ChoiceImportance
from waypost.importance.deciding import Decision, Decisions
from waypost.model import MDP
from waypost.model.effects import told_action
from waypost.report.jsonfile import FORMAT, numbers
from waypost.report.names import SHORT_NAMES, are_short, short_titles, titles, told
from waypost.report.table import fitted_table
from waypost.report.wording import chance, count, number, percent, printable, share, span

ACTIONS = 6  # rows of one decision: its best actions, and its worst


def print_decisions(
    found: Decisions, called: str, console: Console, *, top: int, scores: ChoiceImportance | None = None
) -> None:
    """Print the decisions with the most at stake, then where the strategy departs from the best, and what that costs.

    `scores` are the importance of the choices, a column of their own.

    >>> from waypost import Strategy, decisions
    >>> from waypost.cases import loan
    >>> found = decisions(loan(), target="Granted", strategy=Strategy.uniform(loan()))
    >>> print_decisions(found, "a coin", Console(width=120), top=1)  # doctest: +NORMALIZE_WHITESPACE +ELLIPSIS
    Decisions on the way to 'Granted', which is reached with probability 0.98 at best and 0.576 under a coin.
    <BLANKLINE>
      state          action    met   worth   costs   taken
     ──────────────────────────────────────────────────────
      Consultation   Apply    0.75    0.98       0     0.5
                     Angry               0    0.98     0.5
    <BLANKLINE>
    and 2 more decisions; --top 3 shows all
    In 1 further state with a choice all actions are worth the same.
    Departing from the best costs a coin 0.404 of success in all:
    ...
    """
    target, titled = printable(found.target), _titles(found)
    telling = found.telling
    best, reached = chance(found.reachability), chance(found.reached)
    under = f" and {reached} under {printable(called)}" if found.given else ""
    console.print(Text(f"Decisions on the way to {target}, which is reached with probability {best} at best{under}."))
    lines = [line for decision in telling[:top] for line in _lines(found.mdp, decision, titled[decision.state], scores)]
    head = ["state", "action", "met", "worth", "costs", "taken", *([] if scores is None else ["importance"])]
    if lines:
        console.print(fitted_table(console, head, lines, names=2, box=box.SIMPLE_HEAD, header_style="dim"))
    if len(telling) > top:
        console.print(Text(f"and {count(len(telling) - top, 'more decision')}; --top {len(telling)} shows all"))
    indifferent = len(found) - len(telling)
    if indifferent:
        further = "further " if telling else ""
        console.print(Text(f"In {count(indifferent, f'{further}state')} with a choice all actions are worth the same."))
    if not found:
        console.print(Text("There is nothing to decide: every state on the way has one action."))
    for sentence in departures(found, called, top) if found.given else mistakes(found):
        console.print(Text(sentence))
    if lines and are_short(found.mdp):
        console.print(Text(SHORT_NAMES))


@checked
def decisions_summary(found: Decisions, top: Positive = 5) -> str:
    """Say where a strategy departs from the best, or which decisions of a best one have the most at stake."""
    said = departures(found, "this strategy", top) if found.given else mistakes(found, top)
    return "\n".join(said) or f"No decision matters for reaching {printable(found.target)}."


@checked
def choices_summary(found: ChoiceImportance, top: Positive = 5) -> str:
    """Say how many of the successful runs take a choice, where a state has several, the most important ones first.

    >>> from waypost import choice_importance
    >>> from waypost.cases import loan
    >>> print(choices_summary(choice_importance(loan(), target="Granted", scope="optimal"), top=1))
    52.5 % to 100 % of the runs that reach 'Granted' take Apply in Consultation
    """
    several = {state for state, times in Counter(state for state, _ in found).items() if times > 1}
    ranked = sorted((name for name in found if name[0] in several), key=lambda name: found[name], reverse=True)
    titled = dict(zip(found.mdp.states, titles(found.mdp), strict=True))
    reach = f"of the runs that reach {printable(found.target)} take"
    return "\n".join(
        f"{share(found[state, action])} {reach} {told(found.mdp, state, action)} in {printable(titled[state])}"
        for state, action in ranked[:top]
    )


def mistakes(found: Decisions, top: int = 3) -> list[str]:
    """Say which wrong decisions cost the most, each times how often it is met.

    >>> from waypost import decisions
    >>> from waypost.cases import loan
    >>> print(*mistakes(decisions(loan(), target="Granted"), top=1))
    The decision with the most at stake is in Consultation, which 52.5 % of the best runs meet: Angry costs 0.98 of \
success there, compared with Apply.
    """
    called = _titles(found)
    said: list[str] = []
    for decision in [each for each in found.telling if each.met > 0][:top]:  # what nobody meets costs nobody anything
        worst = min(decision.values, key=lambda action: decision.values[action])
        lead = "Then comes" if said else "The decision with the most at stake is in"
        said.append(
            f"{lead} {printable(called[decision.state])}, which {percent(decision.met)} of the best runs meet: "
            f"{told(found.mdp, decision.state, worst)} costs {number(decision.stakes)} of success there, compared with "
            f"{told(found.mdp, decision.state, *decision.best[:2])}."
        )
    return said


def _titles(found: Decisions) -> dict[str, str]:
    """What each state is called on a terminal."""
    return dict(zip(found.mdp.states, short_titles(found.mdp), strict=True))


def departures(found: Decisions, called: str, top: int) -> list[str]:
    """Say where the strategy departs from the best, what each departure costs, and what all of them do.

    >>> from waypost import Strategy, decisions
    >>> from waypost.cases import loan
    >>> for sentence in departures(decisions(loan(), target="Granted", strategy=Strategy.uniform(loan())), "a coin", 5):
    ...     print(sentence)
    Departing from the best costs a coin 0.404 of success in all:
    0.367 in Consultation, met by 75 % of the runs, where Apply is best and Angry is taken 50 % of the time;
    0.025 in Rework, met by 6.1 % of the runs, where Submit is best and Quit is taken 50 % of the time;
    0.012 in Error, met by 2.5 % of the runs, where Consult is best and Quit is taken 50 % of the time.
    """
    if not found.departures and not found.idle:
        return [f"{printable(called).capitalize()} never departs from the best."]
    said, titled = [], _titles(found)
    for decision in found.departures[:top]:
        wrong = {action: share for action, share in decision.taken.items() if action not in decision.best}
        worst = max(wrong, key=lambda action: wrong[action])
        said.append(
            f"{number(decision.cost)} in {printable(titled[decision.state])}, met by {percent(decision.met)} of the "
            f"runs, where {told(found.mdp, decision.state, *decision.best[:2])} is best and "
            f"{told(found.mdp, decision.state, worst)} is taken "
            f"{percent(wrong[worst])} of the time"
        )
    left = found.departures[top:]
    if left:
        said.append(f"{number(sum(d.cost for d in left))} in {count(len(left), 'more decision')}")
    if found.idle:
        said.append(f"{number(found.idle)} by going round for ever")
    lead = f"Departing from the best costs {printable(called)} {number(found.cost)} of success in all:"
    return [lead, *(f"{sentence};" for sentence in said[:-1]), f"{said[-1]}."]


def decisions_document(found: Decisions, called: str, scores: ChoiceImportance | None = None) -> dict[str, Any]:
    """All decisions as JSON has them; ``visits`` is null where one may come back for ever."""
    return {
        "format": FORMAT,
        "target": found.target,
        "strategy": called,
        "reachability": {"max": found.reachability, "strategy": found.reached},
        "cost": found.cost,
        "idle": found.idle,
        "decisions": [
            {
                "state": decision.state,
                "actions": dict(decision.values),
                **({} if scores is None else {"importance": _bounds(decision, scores)}),
                "best": list(decision.best),
                "taken": dict(decision.taken),
                "met": decision.met,
                "visits": decision.visits if math.isfinite(decision.visits) else None,
                "stakes": decision.stakes,
                "cost": decision.cost,
            }
            for decision in found
        ],
    }


def _bounds(decision: Decision, scores: ChoiceImportance) -> dict[str, Any]:
    return {action: numbers(**scores[decision.state, action]._asdict()) for action in decision.values}


def _lines(mdp: MDP, decision: Decision, title: str, scores: ChoiceImportance | None) -> list[list[str]]:
    """Rows of a decision, one per action, the best first; of many actions the best ones and the worst."""
    best = max(decision.values.values())
    order = sorted(decision.values, key=lambda action: -decision.values[action])
    shown = order if len(order) <= ACTIONS else [*order[: ACTIONS - 2], *order[-1:]]
    lines = []
    for action in shown:
        worth, taken = decision.values[action], decision.taken.get(action, 0.0)
        lines.append(
            ["", told_action(mdp, decision.state, action), "", number(worth), number(best - worth), number(taken)]
        )
        if scores is not None:
            lines[-1].append(span(scores[decision.state, action]))
    lines[0][0], lines[0][2] = title, number(decision.met)
    if len(order) > ACTIONS:
        lines.insert(-1, ["", f"({len(order) - len(shown)} more)", *[""] * (len(lines[0]) - 2)])
    return lines
