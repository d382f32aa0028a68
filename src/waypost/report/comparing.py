"""Two logs side by side in one page, differences first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from waypost.arguments import checked
from waypost.importance.results import Explanation
from waypost.report.findings import MOST, Finding, Name
from waypost.report.html import filled, part_of
from waypost.report.insight import insight_data, points
from waypost.report.mapdata import stop_places
from waypost.report.pagedata import page_data
from waypost.report.story import share_cell
from waypost.report.text import summarise
from waypost.report.wording import count, percent, printable
from waypost.uncertainty.comparison import ActivityChange, Change, Comparison

HEADINGS = ("cases with it", "change in points", "good cases", "bad cases", "success after")


@checked
def render_comparison(
    found: Comparison,
    names: tuple[str, str],
    explanations: tuple[Explanation, Explanation],
    *,
    cases: Sequence[Mapping[str, Sequence[str]]] = ({}, {}),
) -> str:
    """One page of two logs: what changed first, then the map of either, coloured by what changed.

    >>> from waypost.logs import EventLog
    >>> from waypost.logs.steps.outcome import set_outcome
    >>> from waypost.story import explain_log
    >>> from waypost.uncertainty import compare_logs
    >>> one, two = ([["ask", "pay"]] * 50 + [["ask", "call", "go"]] * n for n in (50, 10))
    >>> logs = [set_outcome(EventLog.from_sequences(cases), positive="pay") for cases in (one, two)]
    >>> page = render_comparison(compare_logs(*logs), ("May", "June"), tuple(map(explain_log, logs)))
    >>> "What changed: May → June" in page
    True
    """
    sides, parts = [], []
    told = [_told(found, names), _told(found, names)]
    for side, explanation, own, shown in zip(names, explanations, cases, told, strict=True):
        story = explanation.log
        data = page_data([explanation], None, own, story)
        data["side"] = printable(side)
        changes = {a.name: a.share for a in found.activities}
        for stop in (data["map"] or {"stops": []})["stops"]:
            if stop["role"] == "activity" and stop["name"] in changes:
                stop["change"] = changes[stop["name"]].as_dict()
        data["targets"][0]["insight"] = insight_data(explanation, {}, stop_places(story) if story else {})
        sides.append(data)
        part = part_of(explanation, summarise(explanation), {})
        parts.append(part | {"insight": data["targets"][0]["insight"]} | shown | {"rows": _rows(found, part["stops"])})
    return filled(parts, {"sides": sides})


def _told(found: Comparison, names: tuple[str, str]) -> dict[str, Any]:
    """What the page of either log says first."""
    first, second = map(printable, names)
    before, after = found.success.before or 0.0, found.success.after or 0.0
    return {
        "title": f"What changed: {first} → {second}",
        "lead": f"{first}: {count(found.before_cases, 'case')}. {second}: {count(found.after_cases, 'case')}.",
        "figures": [(f"end well {first}", percent(before)), (f"end well {second}", percent(after))],
        "findings": _changes(found, first, second),
        "headings": [heading.capitalize() for heading in HEADINGS],
        "caption": f"Activities: {first}, and {second}; what changed most comes first",
    }


def _changes(found: Comparison, first: str, second: str) -> list[Finding]:
    """Tell of the outcome, then of the steps that became more or less frequent by more than chance."""
    success = found.success
    rose = (success.difference or 0) > 0
    outcome = (
        f"{'more' if rose else 'fewer'} of the cases end well: {_shares(success, first, second)}."
        if success.real
        else f"of difference in how many end well: {_shares(success, first, second)}. Chance alone would make as much."
    )
    kind = ("for" if rose else "against") if success.real else "marginal"
    told = [Finding(kind, _by(success), (outcome,))]
    moved = [a for a in found.activities if a.defines_outcome is None and a.share.real]
    for each in moved[: MOST - 1]:
        change = each.share
        more = "more" if (change.difference or 0) > 0 else "fewer"
        name = Name(printable(each.name), activity=each.name)
        said = (f"{more} of the cases have ", name, f": {_shares(change, first, second)}.")
        told.append(Finding("optional", _by(change), said))
    if not moved:
        told.append(Finding("marginal", "0", ("steps became more or less frequent by more than chance would make.",)))
    return told


def _shares(change: Change, first: str, second: str) -> str:
    shares = f"{percent(change.before or 0)} {first}, {percent(change.after or 0)} {second}"
    return shares + _interval(change)


def _by(change: Change) -> str:
    return points(abs(change.difference or 0.0))


def _interval(change: Change) -> str:
    if change.low is None or change.high is None:
        return ""
    low, high = sorted(abs(100 * end) for end in (change.low, change.high))
    return f" (95 % interval {low:.1f} to {high:.1f} points)" if change.real else ""


def _rows(found: Comparison, stops: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {
            "name": printable(each.name),
            "stop": stops.get(each.name),
            "kind": "defining" if each.defines_outcome else "",
            "values": _cells(each),
        }
        for each in found.activities
    ]


def _cells(each: ActivityChange) -> list[str]:
    moved = each.share.difference
    star = "" if each.share.real else " (chance)"
    pairs = [
        f"{share_cell(c.before)} to {share_cell(c.after)}"
        for c in (each.share, each.good_share, each.bad_share, each.success_after)
    ]
    return [pairs[0], "-" if moved is None else f"{100 * moved:+.1f}{star}", *pairs[1:]]
