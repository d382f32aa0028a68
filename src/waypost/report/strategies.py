"""Two strategies in one model: what the page of both says first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from waypost.importance.deciding import Decision, Decisions
from waypost.importance.results import Explanation
from waypost.model import MDP
from waypost.report.findings import MOST, Finding, Name
from waypost.report.insight import places, points
from waypost.report.names import told
from waypost.report.wording import percent, printable


def compared_strategies(found: Sequence[Explanation], names: Sequence[str]) -> dict[str, Any]:
    """Title, figures and findings of a page about strategies: how often each succeeds, and where they differ."""
    known = [e.insight.decisions for e in found if e.insight is not None and e.insight.decisions is not None]
    if len(known) < len(found):
        return {}
    told = " and ".join(map(printable, names))
    return {
        "title": f"How {told} differ in reaching {printable(found[0].target)}",
        "figures": [
            *((printable(name), percent(each.reached)) for name, each in zip(names, known, strict=True)),
            ("at best", percent(known[0].reachability)),
        ],
        "findings": strategy_findings(found, names),
    }


def strategy_findings(found: Sequence[Explanation], names: Sequence[str]) -> list[Finding]:
    """Tell how two strategies differ: how often each succeeds, and where what they do costs one of them more."""
    one, other = (e.insight.decisions if e.insight else None for e in found[:2])
    if one is None or other is None:
        return []
    first, second = map(printable, names[:2])
    reached = printable(found[0].target)
    possible = f"{percent(one.reachability)} is possible."
    if abs(one.reached - other.reached) < 0.0005:
        lead = f"of the runs reach {reached} with {first}, {percent(other.reached)} with {second}; {possible}"
        said = Finding("for", percent(one.reached), (lead,))
    else:
        (better, most), (worse, least) = sorted(
            ((first, one.reached), (second, other.reached)), key=lambda each: -each[1]
        )
        lead = f"more of the runs reach {reached} with {better} than with {worse}: {percent(most)} and {percent(least)}"
        said = Finding("for" if better == first else "against", points(most - least), (f"{lead}; {possible}",))
    return [said, *_differences(one, other, first, second)[: MOST - 1]]


def _differences(one: Decisions, other: Decisions, first: str, second: str) -> list[Finding]:
    where = places(one.mdp)
    theirs = {decision.state: decision for decision in other}
    pairs = [(mine, theirs[mine.state]) for mine in one if mine.state in theirs]
    apart = [(a, b) for a, b in pairs if max(a.met, b.met) > 0]
    apart.sort(key=lambda pair: -abs(pair[0].cost - pair[1].cost))
    return [
        Finding(
            "against" if a.cost > b.cost else "for",
            points(abs(a.cost - b.cost)),
            (
                f"more are lost by {first if a.cost > b.cost else second} in ",
                Name(printable(where[one.mdp.index[a.state]][1]), state=one.mdp.index[a.state]),
                f": {_doing(one.mdp, a, b, first, second)}; {told(one.mdp, a.state, *a.best[:2])} is best.",
            ),
        )
        for a, b in apart
        if abs(a.cost - b.cost) >= 0.0005
    ]


def _doing(mdp: MDP, a: Decision, b: Decision, first: str, second: str) -> str:
    """What the two do in one place; where that is the same, one of them comes there more often."""
    if dict(a.taken) != dict(b.taken):
        return f"{first} takes {_most(mdp, a)}, {second} {_most(mdp, b)}"
    return f"both take {_most(mdp, a)}, and {first if a.cost > b.cost else second} comes there more often"


def _most(mdp: MDP, decision: Decision) -> str:
    """Name the actions that are taken, the most frequent first."""
    order = sorted(decision.taken, key=lambda action: -decision.taken[action])[:2]
    return " or ".join(
        told(mdp, decision.state, action) + (f" ({percent(share)})" if share < 1 else "")
        for action, share in ((action, decision.taken[action]) for action in order)
    )
