"""How often each encoding is right, how wrong it gets, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from waypost.experiments.records import Record
from waypost.experiments.tables import Table

SHORTFALL = 1e-5  # a strategy that reaches the target so much less than its claim needs has not arrived


def error(record: Record) -> float:
    """Absolute distance of a claim from the exact value."""
    return abs((record.claimed or 0.0) - (record.exact or 0.0))


def cause(record: Record, optimum: float | None) -> str:
    """Why a claim is wrong, told from the strategy that was read off it.

    `optimum` is the greatest probability of the target that any strategy read off attained, for encodings that promise
    to attain it.
    """
    idle = record.reachability is not None and optimum is not None and record.reachability < optimum - SHORTFALL
    if record.variant in ("QP*", "LP*", "LP* ordered") and idle:
        return "end component"  # the strategy idles in a circle and does not arrive
    if record.verdict == "missed" and record.variant == "QP":
        return "eps or order"  # a strategy that does better was cut off
    return "tolerance"


def accuracy(records: Sequence[Record]) -> Table:
    """Per model and encoding: bounds asked, solved, right to 1e-6, wrong, by which cause, and the largest error."""
    rows = []
    for model, variant in dict.fromkeys((r.model, r.variant) for r in _in_order(records)):
        part = [r for r in records if (r.model, r.variant) == (model, variant)]
        solved = [r for r in part if r.status == "optimal"]
        wrong = [r for r in solved if r.verdict in ("unattainable", "missed")]
        optimum = _optimum(records, model)
        causes: dict[str, int] = {}
        for record in wrong:
            why = cause(record, optimum)
            causes[why] = causes.get(why, 0) + 1
        rows.append((
            model, variant, str(len(part)), str(len(solved)), str(len(solved) - len(wrong)), str(len(wrong)),
            str(sum(r.verdict == "unattainable" for r in wrong)), f"{max(map(error, solved), default=0.0):.1e}",
            ", ".join(f"{why} {count}" for why, count in sorted(causes.items())) or "–",
        ))  # fmt: skip
    header = ("Model", "Enc.", "Bounds", "Solved", "Right", "Wrong", "Unattainable", "Largest error", "Why")
    return Table(header, tuple(rows))


def worst(records: Sequence[Record], count: int = 3) -> Table:
    """List the claims that are furthest off, some of every model and encoding."""
    rows = []
    for model, variant in dict.fromkeys((r.model, r.variant) for r in _in_order(records)):
        part = [r for r in records if (r.model, r.variant) == (model, variant)]
        wrong = [r for r in part if r.verdict in ("unattainable", "missed")]
        optimum = _optimum(records, model)
        for r in sorted(wrong, key=error, reverse=True)[:count]:
            attained = "–" if r.attained is None else f"{r.attained:.9g}"
            reached = "–" if r.reachability is None else f"{r.reachability:.6g}"
            rows.append((
                model, variant, r.state, r.sense, f"{r.claimed:.9g}", attained, reached, f"{r.exact:.9g}",
                r.verdict, cause(r, optimum), r.solver,
            ))  # fmt: skip
    header = (
        "Model", "Enc.", "State", "Sense", "Claimed", "Attained", "reaching the target with", "Exact", "Verdict", "Why",
        "Solver",
    )  # fmt: skip
    return Table(header, tuple(rows))


def _in_order(records: Iterable[Record]) -> list[Record]:
    """Records with the models in the order they first appear."""
    listed = list(records)
    place = {model: i for i, model in enumerate(dict.fromkeys(r.model for r in listed))}
    return sorted(listed, key=lambda r: place[r.model])


def _optimum(records: Iterable[Record], model: str) -> float | None:
    reached = [r.reachability for r in records if r.model == model and r.reachability is not None]
    return max(reached, default=None)
