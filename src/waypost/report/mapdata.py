"""The process map as the page's script takes it: stops, arrows, and what is known of each activity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from waypost.importance.results import Explanation
from waypost.logs.process_map import ProcessMap
from waypost.logs.traces import written

ARROWS = 1_500  # the most frequent; nobody reads more
_SCORES = ("good_share", "bad_share", "success_after", "success_without", "defines_outcome")


def map_data(
    process: ProcessMap, scores: Sequence[Any], several: Sequence[Explanation], at: Mapping[int, int]
) -> dict[str, Any]:
    """Stops and arrows; `scores` are the contrasts of the activities, `at` says where states are in the page."""
    by_name = {score.name: score for score in scores}
    mdp = several[0].mdp
    stops = []
    for stop in process.stops:
        label = label_of(stop.name, mdp.labels)
        score = by_name.get(stop.name)
        stops.append(
            {
                "name": stop.name,
                "role": stop.role,
                "cases": stop.cases,
                "events": stop.events,
                "states": []
                if label is None
                else [at[s] for s in np.flatnonzero(mdp.labels[label]).tolist() if s in at],
                **({} if score is None else {name: getattr(score, name) for name in _SCORES}),
            }
        )
    arrows = [[a.source, a.target, a.count, _rounded(a.waiting)] for a in process.arrows[:ARROWS]]
    return {"cases": process.cases, "stops": stops, "arrows": arrows, "left_out": max(0, len(process.arrows) - ARROWS)}


def stop_bounds(process: ProcessMap, explanation: Explanation) -> dict[str, list[list[float] | None]]:
    """By scope, the bounds of passing any state of each stop; None where they are not known.

    They are those of the group that the explanation carries, or of the only state there is.
    """
    asked = {int(state): k for k, state in enumerate(explanation.asked.tolist())}
    found: dict[str, list[list[float] | None]] = {scope: [] for scope in explanation.scopes}
    for stop in process.stops:
        label = label_of(stop.name, explanation.mdp.labels)
        states = [] if label is None else np.flatnonzero(explanation.mdp.labels[label]).tolist()
        for scope, result in explanation.scopes.items():
            bounds = explanation.groups.get(label, {}).get(scope) if label is not None else None
            if bounds is None and len(states) == 1 and states[0] in asked:
                bounds = result.at(asked[states[0]])
            found[scope].append(None if bounds is None else [float(bounds.lower), float(bounds.upper)])
    return found


def label_of(activity: str, labels: Mapping[str, Any]) -> str | None:
    """Label that the states of an activity have in a model, however the model writes it.

    >>> label_of("Call #1", {"Call1": [True]}), label_of("Call", {"Ask": [True]})
    ('Call1', None)
    """
    return next((name for name in (activity, written(activity, "paper")) if name in labels), None)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)
