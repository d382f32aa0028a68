"""The process map as the page's script takes it: stops, arrows, and what is known of each activity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from waypost.importance.activities import Story
from waypost.model import MDP
from waypost.model.traces import written
from waypost.report.story import doubt

ARROWS = 1_500  # the most frequent; nobody reads more
_SCORES = (
    *("good_share", "bad_share", "good_share_as_far", "bad_share_as_far", "certain"),
    *("success_after", "success_without", "defines_outcome"),
)


def map_data(story: Story, mdp: MDP, at: Mapping[int, int], cases: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Stops with what is known of their activities, and arrows.

    `at` says where the model's states are in the page, `cases` names some that have an activity.
    """
    process = story.process_map
    scores = {score.name: score for score in story.activities}
    stops = []
    for stop in process.stops:
        score = scores.get(stop.name) if stop.role == "activity" else None
        known: dict[str, Any] = _performed(story, stop.name) if stop.role == "activity" else {}
        if score is not None:
            known |= {name: getattr(score, name) for name in _SCORES}
            known["bounds"] = {scope: [float(bound) for bound in bounds] for scope, bounds in score.bounds.items()}
            known["stage"] = None if score.stage is None else asdict(score.stage)
            known["doubt"] = doubt(score).strip()
            known["few"] = sorted(score.on_few)
            known["intervals"] = {name: list(ends) for name, ends in score.intervals.items()}
            known["examples"] = [*cases.get(stop.name, ())][:8]
        stops.append({**asdict(stop), **known, "states": _states(stop.name, mdp, at)})
    arrows = [[a.source, a.target, a.count, _rounded(a.waiting)] for a in process.arrows[:ARROWS]]
    journeys = [[journey.count, journey.example, *journey.stops] for journey in process.journeys]
    return {"cases": process.cases, "stops": stops, "arrows": arrows, "journeys": journeys}


def _performed(story: Story, activity: str) -> dict[str, Any]:
    found = story.performers.get(activity) or story.performers.get(written(activity, "paper"))
    return {} if found is None else {"actor": found.actor, "chooses": found.chooses}


def stop_places(story: Story) -> dict[str, int]:
    """Where each activity is among the stops of the map, however the model writes it."""
    found: dict[str, int] = {}
    for k, stop in enumerate(story.process_map.stops if story.process_map else ()):
        if stop.role == "activity":
            found.setdefault(written(stop.name, "paper"), k)
            found[stop.name] = k
    return found


def _states(activity: str, mdp: MDP, at: Mapping[int, int]) -> list[int]:
    label = label_of(activity, mdp.labels)
    if label is None:
        return [at[mdp.state(activity)]] if activity in mdp.index else []
    return [at[s] for s in np.flatnonzero(mdp.labels[label]).tolist() if s in at]


def label_of(activity: str, labels: Mapping[str, Any]) -> str | None:
    """Label that the states of an activity have in a model, however the model writes it.

    >>> label_of("Call #1", {"Call1": [True]}), label_of("Call", {"Ask": [True]})
    ('Call1', None)
    """
    return next((name for name in (activity, written(activity, "paper")) if name in labels), None)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)
