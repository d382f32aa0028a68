"""Decisions, ways and segments in words and rows: what every report says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from waypost.importance.choices import ChoiceImportance
from waypost.importance.deciding import Decision, Decisions
from waypost.importance.insight import Insight, Route
from waypost.importance.results import Explanation
from waypost.model import MDP
from waypost.report.folding import Written, shortened
from waypost.report.names import short_titles, titles, told
from waypost.report.records import compact
from waypost.report.view import turn_states, turns
from waypost.report.wording import percent, printable

LISTED = 400  # decisions in a page
ACTIONS = 20  # of a decision: the best ones and the worst


def places(mdp: MDP) -> list[tuple[str, str]]:
    """(S,) where one decides: in a state, or whoever's turn it is after an activity; and what that is called.

    >>> from waypost.cases import loan
    >>> places(loan())[3]
    ('in Consultation', 'Consultation')
    """
    return [
        (f"in {title}", title) if turn is None else (f"by {turn[0]} after {turn[1]}", turn[1])
        for title, turn in zip(short_titles(mdp), turns(mdp), strict=True)
    ]


def decision_rows(found: Decisions) -> Iterator[dict[str, Any]]:
    """One row per action of every decision, the one with the most at stake first; the best action first."""
    where = places(found.mdp)
    for decision in found:
        best = max(decision.values.values())
        for action in sorted(decision.values, key=lambda each: -decision.values[each]):
            worth = decision.values[action]
            yield {
                "decision": where[found.mdp.index[decision.state]][0],
                "state": decision.state,
                "action": action,
                "worth": worth,
                "costs": best - worth,
                "taken": decision.taken.get(action, 0.0),
                "met": decision.met,
                "lost": decision.cost,
            }


def route_text(route: Route, mdp: MDP | None = None) -> str:
    """Write a way: its steps in order, what is repeated with how often.

    >>> from waypost.importance.insight import Block
    >>> route_text(Route((Block(("ask",)), Block(("call",), 1, 3), Block(("a", "b"), 2, 2)), 0.5))
    'ask → call (1 to 3 times) → [a → b] (2 times)'
    """
    return " → ".join(text for _, text in _parts(route, mdp))


def _parts(route: Route, mdp: MDP | None) -> list[Written]:
    """Parts of a way as they are written."""
    called = {} if mdp is None else dict(zip(mdp.states, short_titles(mdp), strict=True))
    silent = _silent(mdp)
    parts: list[Written] = []
    for block in route.blocks:
        told = tuple(printable(called.get(name, name)) for name in block.steps if name not in silent)
        if not told:
            continue
        steps = " → ".join(told)
        often = f"{block.most} times" if block.least == block.most else f"{block.least} to {block.most} times"
        inside = f"[{steps}]" if len(told) > 1 else steps
        parts.append((told, steps if block.most == 1 else f"{inside} ({often})"))
    return parts


def route_texts(routes: Sequence[Route], mdp: MDP | None = None) -> list[tuple[str, str | None]]:
    """Write ways for people: long ones by what the first one has not, with the whole beside it."""
    parts = [_parts(route, mdp) for route in routes]
    full = [" → ".join(text for _, text in written) for written in parts]
    short = [" → ".join(written) for written in shortened(parts)]
    return [(told, None if told == whole else whole) for told, whole in zip(short, full, strict=True)]


def _silent(mdp: MDP | None) -> set[str]:
    """Names of the states that only say whose turn it is."""
    return set() if mdp is None else {name for name, turn in zip(mdp.states, turn_states(mdp), strict=True) if turn}


def tables(explanation: Explanation) -> dict[str, list[dict[str, Any]]]:
    """Decisions, ways and segments as rows of tables of their own, those there are."""
    known = explanation.insight
    if known is None:
        return {}
    mdp = explanation.mdp if explanation.log is None else None
    routes = [{"way": route_text(r, mdp), "share": r.share, "cases": r.cases} for r in known.routes]
    segments = [
        {"segment": s.pattern, "good": s.good, "bad": s.bad, "bits": s.bits, "cases": s.cases} for s in known.segments
    ]
    rows = [] if known.decisions is None else list(decision_rows(known.decisions))
    found = {"decisions": rows, "what if": _whatif_rows(explanation), "ways": routes, "segments": segments}
    return {name: lines for name, lines in found.items() if lines}


def _whatif_rows(explanation: Explanation) -> list[dict[str, Any]]:
    """Success after each state and without it, what costs most first."""
    known = explanation.insight.whatifs if explanation.insight else None
    if known is None:
        return []
    called = titles(explanation.mdp)
    rows = [
        {"state": called[state], "after_lower": low, "after_upper": high, "without": without}
        for state, low, high, without in zip(
            explanation.asked.tolist(), known.after_lower, known.after_upper, known.without, strict=True
        )
    ]
    return sorted(rows, key=lambda row: float(row["without"]))


def insight_data(
    explanation: Explanation, positions: Mapping[str, int], stops: Mapping[str, int] | None = None
) -> dict[str, Any] | None:
    """Insight as the page's script takes it.

    `positions` says where states are in the page, `stops` where the activities of a log are in its map.
    """
    known = explanation.insight
    if known is None:
        return None
    mdp = explanation.mdp if stops is None else None
    silent = _silent(mdp)
    at = {name: k for name, k in (positions if stops is None else stops).items() if name not in silent}
    segments = [s for s in known.segments if not silent.intersection(s.steps)]
    return {
        "called": known.called,
        "given": known.decisions is not None and known.decisions.given,
        "decisions": _decisions(known, positions, stops or {}),
        "reached": None if known.decisions is None else known.decisions.reached,
        "best": None if known.decisions is None else known.decisions.reachability,
        "routes": [
            {"share": r.share, "cases": r.cases, "text": text, "whole": whole, "steps": _steps(r, at)}
            for r, (text, whole) in zip(known.routes, route_texts(known.routes, mdp), strict=True)
        ],
        "segments": [
            {
                "text": printable(s.pattern if mdp is None else _renamed(s.pattern, mdp)),
                "good": s.good,
                "bad": s.bad,
                "cases": s.cases,
                "steps": [at[name] for name in s.steps if name in at],
            }
            for s in segments
        ],
    }


def _renamed(pattern: str, mdp: MDP) -> str:
    """Write a pattern with what states are called; it reads the same where no state has a caption."""
    for name, title in zip(mdp.states, short_titles(mdp), strict=True):
        if name != title and name in pattern:
            pattern = pattern.replace(f'"{name}"', title).replace(f" {name} ", f" {title} ")
    return pattern


def _steps(route: Route, at: Mapping[str, int]) -> list[int]:
    """Where a way leads in the picture; what is repeated comes round once more."""
    found: list[int] = []
    for block in route.blocks:
        steps = [at[name] for name in block.steps if name in at]
        found += steps * (2 if block.most > 1 else 1)
    return found


def _decisions(insight: Insight, positions: Mapping[str, int], stops: Mapping[str, int]) -> list[dict[str, Any]]:
    found = insight.decisions
    if found is None:
        return []
    where = places(found.mdp)
    rows = []
    for decision in found.decisions[:LISTED]:
        said, activity = where[found.mdp.index[decision.state]]
        rows.append(
            {
                "state": positions.get(decision.state),
                "stop": stops.get(activity),
                "where": printable(said),
                "met": decision.met,
                "cost": decision.cost,
                **_worth(found.mdp, decision, insight.choices),
            }
        )
    return rows


def _worth(mdp: MDP, decision: Decision, choices: Mapping[str, ChoiceImportance]) -> dict[str, Any]:
    """What each action of a decision is worth, how often it is taken, and its importance in each scope."""
    order = sorted(decision.values, key=lambda action: -decision.values[action])
    shown = order if len(order) <= ACTIONS else [*order[: ACTIONS - 1], order[-1]]
    scored = {
        scope: [[compact(bound) for bound in scores[decision.state, action]] for action in shown]
        for scope, scores in choices.items()
    }
    return {
        "importance": scored or None,
        "actions": [[told(mdp, decision.state, a), decision.values[a], decision.taken.get(a, 0.0)] for a in shown],
        "more": len(order) - len(shown),
        "best": len(decision.best),
        "stakes": decision.stakes,
    }


def points(share: float) -> str:
    """Write a difference of two probabilities.

    >>> points(0.0916), points(0.0004)
    ('9.2 points', 'less than 0.1 points')
    """
    return percent(share).removesuffix(" %") + " points"
