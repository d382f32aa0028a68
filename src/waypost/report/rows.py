"""An explanation as rows: one per state, the same columns in every table and file."""

from __future__ import annotations

from typing import Any

from waypost.errors import require
from waypost.importance.results import Explanation, Number
from waypost.report.reading import labels_by_state

Row = dict[str, str | Number]


def columns(explanation: Explanation) -> list[str]:
    """Names of the columns: state, labels, kind, then a lower and an upper bound per scope."""
    scopes = [*explanation.scopes, *(["absolute"] if explanation.absolute is not None else [])]
    return ["state", "labels", "kind", *(f"{scope}_{side}" for scope in scopes for side in ("lower", "upper"))]


def rows(explanation: Explanation, top: int | None = None) -> list[Row]:
    """One row per state, most important first; numbers stay numbers.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> row = rows(explain(loan(), target="Granted"))[3]
    >>> row["state"], round(row["optimal_lower"], 9), row["optimal_upper"]
    ('Consultation', 0.525, 1.0)
    """
    scopes = [*explanation.scopes, *(["absolute"] if explanation.absolute is not None else [])]
    labels, read = labels_by_state(explanation.mdp), explanation.kinds
    found = []
    for position in explanation.ranking[:top].tolist():
        state = int(explanation.asked[position])
        row: Row = {
            "state": explanation.mdp.states[state],
            "labels": ", ".join(labels[state]),
            "kind": read[position].value,
        }
        for scope in scopes:
            bounds = explanation.parts[scope].at(position)
            row[f"{scope}_lower"], row[f"{scope}_upper"] = bounds.lower, bounds.upper
        found.append(row)
    return found


def to_frame(explanation: Explanation, top: int | None = None) -> Any:
    """Explanation as a pandas DataFrame, indexed by state, most important first.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> frame = to_frame(explain(loan(), target="Granted"))
    >>> round(float(frame.loc["Consultation", "optimal_lower"]), 9)
    0.525
    """
    pandas = require("pandas", "table", "to_frame()")
    return pandas.DataFrame(rows(explanation, top), columns=columns(explanation)).set_index("state")
