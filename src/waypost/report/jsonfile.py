"""JSON, version 1: the numbers as they are; fractions as text in exact mode."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from waypost.arguments import checked
from waypost.importance.activities import Story
from waypost.importance.results import Explanation, Number
from waypost.importance.single import PathImportance
from waypost.report.insight import tables
from waypost.report.records import COUNTED

FORMAT = 1


@checked
def to_json(explanation: Explanation) -> str:
    """Explanation as a JSON document.

    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> print(to_json(explain(loan(), target="Granted", states="Rework", exact=True)))  # doctest: +ELLIPSIS
    {
     "format": 1,
     "target": "Granted",
     "initial": "s0",
     "reachability": {
      "min": "0",
      "max": "49/50"
     },
     "states": [
      {
       "name": "Rework",
       "labels": [],
       "all": {
        "lower": "0",
        "upper": "4/49"
       },
    ...
    """
    story = explanation.log
    if story is not None:
        return json.dumps(_log_document(explanation, story), ensure_ascii=False, indent=1) + "\n"
    return json.dumps(_document(explanation), ensure_ascii=False, indent=1) + "\n"


def _document(explanation: Explanation) -> dict[str, Any]:
    mdp, refused = explanation.mdp, explanation.refused
    return {
        "format": FORMAT,
        "target": explanation.targets[0] if len(explanation.targets) == 1 else list(explanation.targets),
        "initial": mdp.states[mdp.initial],
        "reachability": numbers(min=explanation.reachability.lower, max=explanation.reachability.upper),
        "states": [
            {
                "name": mdp.states[s],
                "labels": list(mdp.labels_of(int(s))),
                **{name: numbers(**bounds._asdict()) for name, bounds in explanation.at(k).items()},
                **_whatifs(explanation, k),
                **({"refused": refused[mdp.states[s]]} if mdp.states[s] in refused else {}),
            }
            for k, s in enumerate(explanation.asked)
        ],
        **_groups(explanation),
        **_follows(explanation),
        **({} if explanation.top is None else {"top": asdict(explanation.top)}),
    }


def _follows(explanation: Explanation) -> dict[str, Any]:
    """Give decisions, ways and segments as lists of objects, each where there are any; states have their what-ifs."""
    return {name: rows for name, rows in tables(explanation).items() if name != "what if"}


def _groups(explanation: Explanation) -> dict[str, Any]:
    """Give the groups that were asked for, where there are any."""
    found = [
        {"name": name, "states": size, **{p: numbers(**b._asdict()) for p, b in explanation.groups[name].items()}}
        for name, size in explanation.told_groups.items()
    ]
    return {"groups": found} if found else {}


def _log_document(explanation: Explanation, story: Story) -> dict[str, Any]:
    """Explanation of a log: its states where they were asked for, its activities, how well the model fits, and insight.

    ``decisions``, ``ways`` and ``segments`` are lists of objects, each there where the log has any.
    """
    states = {"states": []} if story.by_state is None else _document(story.by_state)
    return {
        "format": FORMAT,
        "target": explanation.targets[0],
        "initial": states.get("initial", explanation.mdp.states[explanation.mdp.initial]),
        "reachability": numbers(min=explanation.reachability.lower, max=explanation.reachability.upper),
        "states": states["states"],
        "activities": [
            {
                "name": score.name,
                **{name: getattr(score, name) for name in COUNTED},
                "late_cases": score.late_cases,
                "stage": None if score.stage is None else score.stage.name,
                "confounded": None if score.confounded is None else asdict(score.confounded),
                "defines_outcome": score.defines_outcome is not None,
                **{scope: numbers(**bounds._asdict()) for scope, bounds in score.bounds.items()},
            }
            for score in story.activities
        ],
        "fit": {"worst": story.fit.worst, "activity": story.fit.activity},
        **_follows(explanation),
    }


def paths_to_json(answers: Sequence[PathImportance]) -> str:
    """Importance of one path in one or several scopes, as a JSON document."""
    first = answers[0]
    document: dict[str, Any] = {"format": FORMAT, "target": first.target, "path": list(first.path)}
    document |= {answer.scope: numbers(lower=answer.lower, upper=answer.upper) for answer in answers}
    document["reachability"] = numbers(max=first.reachability, following=first.reachability_following)
    return json.dumps(document, ensure_ascii=False, indent=1)


def _whatifs(explanation: Explanation, k: int) -> dict[str, Any]:
    """Success after and without a state, where it is known."""
    known = explanation.whatifs
    if known is None:
        return {}
    return {
        "after": numbers(lower=known.after_lower[k], upper=known.after_upper[k]),
        **numbers(without=known.without[k]),
    }


def numbers(**numbers: Number) -> dict[str, float | str]:
    """Numbers as JSON has them, fractions as text."""
    return {name: str(x) if isinstance(x, Fraction) else float(x) for name, x in numbers.items()}
