"""Decisions in words, a table and JSON: what each action is worth, and where a strategy departs from the best."""

from __future__ import annotations

import math
from typing import Any

from rich import box
from rich.console import Console
from rich.text import Text

from waypost.importance.choices import ChoiceImportance
from waypost.importance.decisions import Decision, Decisions
from waypost.report.jsonfile import FORMAT, numbers
from waypost.report.table import fitted_table
from waypost.report.wording import count, number, percent, printable, span

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
      state          action          met   worth   costs   taken
     ────────────────────────────────────────────────────────────
      Consultation   Apply          0.75    0.98       0     0.5
                     Angry                     0    0.98     0.5
    <BLANKLINE>
    and 3 more decisions; --top 4 shows all
    Departing from the best costs a coin 0.404 of success in all:
    ...
    """
    target, chosen = printable(found.target), found.decisions[:top]
    best, reached = number(found.reachability), number(found.reached)
    console.print(
        Text(
            f"Decisions on the way to {target}, which is reached with probability {best} at best and {reached} under "
            f"{printable(called)}."
        )
    )
    lines = [line for decision in chosen for line in _lines(decision, scores)]
    head = ["state", "action", "met", "worth", "costs", "taken", *([] if scores is None else ["importance"])]
    console.print(fitted_table(console, head, lines, names=2, box=box.SIMPLE_HEAD, header_style="dim"))
    left = len(found) - len(chosen)
    if left > 0:
        console.print(Text(f"and {count(left, 'more decision')}; --top {len(found)} shows all"))
    for sentence in departures(found, called, top):
        console.print(Text(sentence))


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
    said = []
    for decision in found.departures[:top]:
        wrong = {action: share for action, share in decision.taken.items() if action not in decision.best}
        worst = max(wrong, key=lambda action: wrong[action])
        said.append(
            f"{number(decision.cost)} in {printable(decision.state)}, met by {percent(decision.met)} of the runs, "
            f"where {' or '.join(map(printable, decision.best[:2]))} is best and {printable(worst)} is taken "
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


def _lines(decision: Decision, scores: ChoiceImportance | None) -> list[list[str]]:
    """Rows of a decision, one per action, the best first; of many actions the best ones and the worst."""
    best = max(decision.values.values())
    order = sorted(decision.values, key=lambda action: -decision.values[action])
    shown = order if len(order) <= ACTIONS else [*order[: ACTIONS - 2], *order[-1:]]
    lines = []
    for action in shown:
        worth, taken = decision.values[action], decision.taken.get(action, 0.0)
        lines.append(["", action, "", number(worth), number(best - worth), number(taken)])
        if scores is not None:
            lines[-1].append(span(scores[decision.state, action]))
    lines[0][0], lines[0][2] = decision.state, number(decision.met)
    if len(order) > ACTIONS:
        lines.insert(-1, ["", f"({len(order) - len(shown)} more)", *[""] * (len(lines[0]) - 2)])
    return lines
