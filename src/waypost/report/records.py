"""An explanation as rows: one per state, or per activity of a log; the same columns in every table and file."""

from __future__ import annotations

from typing import Any

from waypost.errors import require
from waypost.importance.activities import ActivityScore
from waypost.importance.results import Bounds, Explanation, Number
from waypost.report.names import labels_by_state

COUNTED = ("cases", "events", "good_share", "bad_share", "observed", "success_after", "success_without")
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
    return ["state", "labels", "kind", *bounds, *(["refused"] if explanation.refused else [])]


def texts(explanation: Explanation) -> int:
    """How many of the columns, the first ones, are text."""
    return 3 if explanation.log is None else 2


def rows(explanation: Explanation, top: int | None = None) -> list[dict[str, Value]]:
    """One row per state, most important first; numbers stay numbers.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> row = rows(explain(loan(), target="Granted"))[3]
    >>> row["state"], round(row["optimal_lower"], 9), row["optimal_upper"]
    ('Consultation', 0.525, 1.0)
    """
    head = columns(explanation)
    if explanation.log is not None:
        return [dict(zip(head, _activity(score), strict=True)) for score in explanation.log.activities[:top]]
    labels, refused, found = labels_by_state(explanation.mdp), explanation.refused, []
    for position in explanation.ranking[:top].tolist():
        state, kind = int(explanation.asked[position]), explanation.kinds[position]
        numbers = (number for bounds in explanation.at(position).values() for number in bounds)
        name = explanation.mdp.states[state]
        line: list[Value] = [name, ", ".join(labels[state]), kind.value, *numbers]
        if refused:
            line.append(refused.get(name, ""))
        found.append(dict(zip(head, line, strict=True)))
    return found


def _activity(score: ActivityScore) -> tuple[Value, ...]:
    counted = (getattr(score, name) for name in COUNTED)
    return (score.name, score.defines_outcome or "", *counted, *(x for bounds in score.bounds.values() for x in bounds))


def to_frame(explanation: Explanation, top: int | None = None) -> Any:
    """Explanation as a pandas DataFrame, indexed by state or activity, most important first.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> frame = to_frame(explain(loan(), target="Granted"))
    >>> round(float(frame.loc["Consultation", "optimal_lower"]), 9)
    0.525
    """
    pandas = require("pandas", "table", "to_frame()")
    return pandas.DataFrame(rows(explanation, top), columns=columns(explanation)).set_index(columns(explanation)[0])
