"""An explanation as rows: one per state, or per activity of a log; the same columns in every table and file."""

from __future__ import annotations

import sys
from typing import Any

from waypost.arguments import Positive, checked
from waypost.errors import require
from waypost.importance.activities import ActivityScore
from waypost.importance.reading import kind_of
from waypost.importance.results import Bounds, Explanation, Kind, Number
from waypost.report.names import labels_of

COUNTED = (
    *("cases", "events", "good_share", "bad_share", "observed", "success_after", "success_without"),
    "success_without_as_far",
)
WHAT_IF = ("after_lower", "after_upper", "without")  # success after a state and without it
NEXT_TO_0, NEXT_TO_1 = sys.float_info.min, 1 - 1e-13  # how a page writes what is neither 0 nor 1 but nearly
Value = str | Number | None


def columns(explanation: Explanation) -> list[str]:
    """Names of the columns: state, labels, kind, then a lower and an upper bound per scope.

    Of a log: activity, whether it defines the outcome, what was counted, then the bounds where somebody chooses.
    """
    sides = Bounds._fields
    if explanation.log is not None:
        bounds = (f"{scope}_{side}" for scope in explanation.log.scopes for side in sides)
        return ["activity", "defines_outcome", *COUNTED, *bounds]
    bounds = (f"{scope}_{side}" for scope in explanation.parts for side in sides)
    more = ([] if explanation.whatifs is None else WHAT_IF), (["refused"] if explanation.refused else [])
    return ["state", "labels", "kind", *bounds, *more[0], *more[1]]


def texts(explanation: Explanation) -> int:
    """How many of the columns, the first ones, are text."""
    return 3 if explanation.log is None else 2


@checked
def rows(explanation: Explanation, top: Positive | None = None) -> list[dict[str, Value]]:
    """One row per group told, then one per state, most important first; numbers stay numbers.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> row = rows(explain(loan(), target="Granted"))[3]
    >>> row["state"], round(row["optimal_lower"], 9), row["optimal_upper"]
    ('Consultation', 0.525, 1.0)
    """
    head = columns(explanation)
    if explanation.log is not None:
        return [dict(zip(head, _activity(score), strict=True)) for score in explanation.log.activities[:top]]
    unknown = dict.fromkeys(head, None)  # what is told of states alone
    found: list[dict[str, Value]] = [
        unknown | dict(zip(head, (name, "", group_kind(explanation, name).value, *numbers), strict=False))
        for name in explanation.told_groups
        for numbers in [group_numbers(explanation, name)]
    ]
    refused = explanation.refused
    for position in explanation.ranking[:top].tolist():
        state, kind = int(explanation.asked[position]), explanation.kinds[position]
        bounds = (number for bounds in explanation.at(position).values() for number in bounds)
        name = explanation.mdp.states[state]
        line: list[Value] = [
            name,
            ", ".join(labels_of(explanation.mdp, state)),
            kind.value,
            *bounds,
            *_whatifs(explanation, position),
        ]
        if refused:
            line.append(refused.get(name, ""))
        found.append(dict(zip(head, line, strict=True)))
    return found


def group_kind(explanation: Explanation, name: str) -> Kind:
    """What kind of step passing a group is."""
    return kind_of(explanation.groups[name][explanation.main_scope])


def group_numbers(explanation: Explanation, name: str) -> list[Number]:
    """Both bounds of a group in every part."""
    return [number for part in explanation.parts for number in explanation.groups[name][part]]


def _whatifs(explanation: Explanation, position: int) -> list[Number]:
    known = explanation.whatifs
    return [] if known is None else [getattr(known, name)[position] for name in WHAT_IF]


def _activity(score: ActivityScore) -> tuple[Value, ...]:
    counted = (getattr(score, name) for name in COUNTED)
    return (score.name, score.defines_outcome or "", *counted, *(x for bounds in score.bounds.values() for x in bounds))


@checked
def to_frame(explanation: Explanation, top: Positive | None = None) -> Any:
    """Explanation as a pandas DataFrame, indexed by state or activity, most important first.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> frame = to_frame(explain(loan(), target="Granted"))
    >>> round(float(frame.loc["Consultation", "optimal_lower"]), 9)
    0.525
    """
    pandas = require("pandas", "table", "to_frame()")
    return pandas.DataFrame(rows(explanation, top), columns=columns(explanation)).set_index(columns(explanation)[0])


def compact(value: Number) -> float | int:
    """Shorten a number so that it is 0 or 1 only where the value is exactly that.

    >>> compact(1.0), compact(1 - 1e-15), compact(1 / 3)
    (1, 0.9999999999999, 0.333333333333)
    """
    if value in {0, 1}:
        return int(value)
    short = float(f"{float(value):.12g}")
    return min(max(short, NEXT_TO_0), NEXT_TO_1)
