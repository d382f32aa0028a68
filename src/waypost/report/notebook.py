"""The table a notebook shows: what the numbers mean, then the most important states first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from html import escape

from waypost.importance.results import Bounds, Number, StateImportance

MOST_ROWS = 60


def notebook_table(meaning: str, columns: Mapping[str, StateImportance], order: Iterable[int]) -> str:
    """HTML table of bounds, one row per state and one column per scope, under a sentence that says what they are.

    >>> from waypost import state_importance
    >>> from waypost.cases import loan
    >>> result = state_importance(loan(), target="Granted", scope="all", states="Rework")
    >>> notebook_table("Shares", {"any": result}, [0])
    '<p>Shares</p><table><tr><th>state</th><th>any</th></tr><tr><td>Rework</td><td>0 to 0.081633</td></tr></table>'
    """
    results, positions = list(columns.values()), list(order)
    head = "".join(f"<th>{escape(name)}</th>" for name in ("state", *columns))
    rows = []
    for k in positions[:MOST_ROWS]:
        cells = (escape(results[0].mdp.states[results[0].asked[k]]), *(_interval(result.at(k)) for result in results))
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    more = f"<p>and {len(positions) - MOST_ROWS} more states</p>" if len(positions) > MOST_ROWS else ""
    return f"<p>{escape(meaning)}</p><table><tr>{head}</tr>{''.join(rows)}</table>{more}"


def _interval(bounds: Bounds) -> str:
    low, high = map(_short, bounds)
    return low if bounds.lower == bounds.upper else f"{low} to {high}"


def _short(value: Number) -> str:
    """Write a fraction as it is, a float with six digits; 0 and 1 only where exact."""
    if isinstance(value, Fraction) or value in {0, 1}:
        return str(value if isinstance(value, Fraction) else int(value))
    text = f"{value:.6f}"
    return {"0.000000": "&lt;0.000001", "1.000000": "&gt;0.999999"}.get(text, text.rstrip("0"))
