"""Both sides of a row: what our child did, and what Storm needed for the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from waypost import processes
from waypost.errors import WaypostError
from waypost.paper.bench import storm
from waypost.paper.bench.models import Shared
from waypost.paper.bench.plan import Plan
from waypost.paper.bench.rows import Cost, Row
from waypost.processes import ChildError

Pairs = list[list[float]]  # both bounds of some states


def ours(
    plan: Plan, job: dict[str, Any], name: str, titles: Sequence[str], *, limit: float | None = None
) -> tuple[list[Row], list[Pairs]]:
    """Run the works of a job in a child; a row for each, and its numbers. `TimeoutError` beyond the limit."""
    try:
        answer = processes.run("waypost.paper.bench.our_child", "work", {**job, "enough": plan.enough}, seconds=limit)
    except ChildError as error:
        if error.trouble == "time":
            raise TimeoutError from None
        raise WaypostError(f"{name} broke down: {error.said or error.kind}") from None
    rows = [
        Row(
            name=name,
            work=title,
            states=answer["states"],
            transitions=answer["transitions"],
            asked=0,
            ours=Cost(found["seconds"], answer["reading"], found["megabytes"]),
            refused=found["refused"],
        )
        for title, found in zip(titles, answer["works"], strict=True)
    ]
    return rows, [found["bounds"] for found in answer["works"]]


def ask_storm(shared: Shared, plan: Plan, *, rounds: int = 1, limit: float | None = None, **more: Any) -> storm.Answers:
    """Ask Storm for both bounds of the states that are to be asked about, in their order."""
    queries = [storm.conditional(f"q{s}", bound) for s in shared.asked for bound in ("min", "max")]
    return storm.ask(shared.path, queries, limit=limit or plan.limit, rounds=rounds, **more)


def beside_storm(row: Row, bounds: Pairs, shared: Shared, plan: Plan, *, rounds: int, **more: Any) -> Row:
    """Complete a row with Storm's time for the same bounds, scaled from its sample to all states asked for."""
    if not plan.use_storm:
        return row
    plan.tell(f"{row.name}: Storm, {len(shared.asked)} states")
    try:
        answers = ask_storm(shared, plan, rounds=rounds, **more)
    except TimeoutError:
        return replace(row, note=f"Storm did not build the model within {10 * plan.limit + 60:g} s")
    return completed(row, bounds, answers)


def completed(row: Row, bounds: Pairs, answers: storm.Answers) -> Row:
    """Complete a row with what Storm answered; `bounds` are ours of the same states, or none."""
    k = answers.asked // 2
    scaled = row.asked != k
    return replace(
        row,
        storm=Cost(row.asked / k * answers.best_round, answers.reading, answers.megabytes),
        storm_did=_loop(row, k),
        extrapolated=scaled and row.asked > k,
        spread=_spread(answers.per_state) if scaled else None,
        unanswered=len(answers.unanswered),
        **compared(answers.values, [x for pair in bounds[:k] for x in pair]),
    )


def compared(theirs: Sequence[float | None], mine: Sequence[float]) -> dict[str, Any]:
    """How many numbers both have, and the greatest difference between them."""
    differences = [abs(a - b) for a, b in zip(theirs, mine, strict=False) if a is not None]
    return {"compared": len(differences), "difference": max(differences, default=None)}


def _loop(row: Row, k: int) -> str:
    if row.asked == 1:
        return f"both queries, mean of {k} state{'s' * (k > 1)}"
    return "loop over all states" if row.asked == k else f"loop over {k} of {row.asked:,} states, extrapolated"


def _spread(seconds: Any) -> float | None:
    """Standard error of a mean, relative to it."""
    return float(np.std(seconds, ddof=1) / math.sqrt(len(seconds)) / np.mean(seconds)) if len(seconds) > 1 else None
