"""Every model of the QComp set, beside Storm: wins and losses, whatever the model is full of.

Storm is asked first, about random states. Where its loop over all of them would take more than ten minutes, both tools
are asked about those; otherwise we are asked about all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from waypost.model import MDP
from waypost.paper.bench import storm
from waypost.paper.bench.models import Shared, in_random_order, share
from waypost.paper.bench.plan import ENOUGH, Plan
from waypost.paper.bench.protocols import instances
from waypost.paper.bench.rows import Cost, Row
from waypost.paper.bench.sides import ask_storm, completed, ours

LARGEST = 100_000  # states, as published
TOO_LONG = 600.0  # seconds
SMALL = 1_000  # states, up to which we are not hurried: the first of these models wait for the compiler
PATIENCE = 60.0  # seconds for us; or as long as Storm's loop, up to three times that


def qcomp(name: str, plan: Plan) -> Iterator[Row | str]:
    """Both bounds of every state of every instance, or of fifty; Storm's loop is extrapolated from some of them."""
    found = False
    for title, mdp in instances(plan.data / "models/qcomp", largest=1_000 if plan.quick else LARGEST):
        found = True
        with tempfile.TemporaryDirectory(prefix="waypost-") as folder:
            yield _beside(title, mdp, Path(folder, "model.drn"), plan)
    if not found:
        yield f"{name}: skipped, there is no models/qcomp under {plan.data} (say where with --data or WAYPOST_DATA)"


def _beside(title: str, mdp: MDP, path: Path, plan: Plan) -> Row:
    few = in_random_order(mdp.n_states, plan.samples)
    shared = share(mdp, "goal", path, few)
    answers = None
    if plan.use_storm:
        plan.tell(f"{title}: Storm, {len(few)} of {mdp.n_states:,} states")
        limit = min(plan.limit, ENOUGH)
        answers = ask_storm(shared, plan, rounds=5 if mdp.n_states <= len(few) else 1, limit=limit, enough=ENOUGH)
    every = answers is None or mdp.n_states * mean(answers.per_state) <= TOO_LONG
    plan.tell(f"{title}: Waypost, {'all states' if every else f'{len(few)} states'}")
    return _ours(title, shared, answers, plan, every=every)


def _ours(title: str, shared: Shared, answers: storm.Answers | None, plan: Plan, *, every: bool) -> Row:
    """Our time for all states, or for those that Storm was asked about, in a row with Storm's."""
    asked = shared.n_states if every else len(shared.asked)
    work: dict[str, Any] = {"kind": "states", "target": "target", "scope": "all"}
    work |= {"shown": shared.asked} if every else {"only": shared.asked}
    title_of_work = f"{'all' if every else asked} states, both bounds, scope all"
    loop = 0.0 if answers is None else asked * mean(answers.per_state)
    limit = None if shared.n_states <= SMALL else min(max(PATIENCE, loop), 3 * PATIENCE)
    bounds: list[list[float]] = []
    try:
        job = {"model": str(shared.path), "works": [work]}
        (row,), (bounds,) = ours(plan, job, title, [title_of_work], limit=limit)
    except TimeoutError:
        nothing = Cost(limit or PATIENCE)
        row = Row(title, title_of_work, shared.n_states, shared.transitions, asked, nothing, given_up=True)
    row = replace(row, asked=asked)
    return row if answers is None else completed(row, bounds, answers)
