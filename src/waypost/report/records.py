"""An explanation as rows: one per state, the same columns in every table and file."""

from __future__ import annotations

from typing import Any

from waypost.errors import require
from waypost.importance.results import Bounds, Explanation, Number
from waypost.report.names import labels_by_state


def columns(explanation: Explanation) -> list[str]:
    """Names of the columns: state, labels, kind, then a lower and an upper bound per scope."""
    return ["state", "labels", "kind", *(f"{scope}_{side}" for scope in explanation.parts for side in Bounds._fields)]


def rows(explanation: Explanation, top: int | None = None) -> list[dict[str, str | Number]]:
    """One row per state, most important first; numbers stay numbers.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> row = rows(explain(loan(), target="Granted"))[3]
    >>> row["state"], round(row["optimal_lower"], 9), row["optimal_upper"]
    ('Consultation', 0.525, 1.0)
    """
    labels, head = labels_by_state(explanation.mdp), columns(explanation)
    found = []
    for position in explanation.ranking[:top].tolist():
        state, kind = int(explanation.asked[position]), explanation.kinds[position]
        numbers = (number for bounds in explanation.at(position).values() for number in bounds)
        line = (explanation.mdp.states[state], ", ".join(labels[state]), kind.value, *numbers)
        found.append(dict(zip(head, line, strict=True)))
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
