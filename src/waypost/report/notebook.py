"""The table a notebook shows: what the numbers mean, then the most important states first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from html import escape

from waypost.arguments import checked
from waypost.importance.results import Number, StateImportance
from waypost.report.wording import number, span

MOST_ROWS = 60


@checked
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
        cells = (
            escape(results[0].mdp.states[results[0].asked[k]]),
            *(escape(span(result.at(k), _exactly)) for result in results),
        )
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    more = f"<p>and {len(positions) - MOST_ROWS} more states</p>" if len(positions) > MOST_ROWS else ""
    return f"<p>{escape(meaning)}</p><table><tr>{head}</tr>{''.join(rows)}</table>{more}"


def _exactly(value: Number) -> str:
    """Write a fraction as it is, a float with six digits."""
    return str(value) if isinstance(value, Fraction) else number(value, 6)
