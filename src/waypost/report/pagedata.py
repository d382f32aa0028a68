"""What the page's script works with: names, numbers, model, witnesses and pictures, as plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.importance.activities import Story
from waypost.importance.results import Explanation, Kind, StateImportance
from waypost.model import MDP, Strategy
from waypost.model.effects import told_choice
from waypost.patterns import step
from waypost.patterns.declare import COUNTED, PAIRED, template
from waypost.patterns.letters import natural, silent_states
from waypost.patterns.tree import Template
from waypost.report import planning
from waypost.report.coordinates import Coordinates, coordinates_of, marks_of
from waypost.report.mapdata import map_data
from waypost.report.names import are_short, captions, short_names
from waypost.report.records import compact
from waypost.report.view import View, important_part, turn_states

WITNESS_ENTRIES = 120_000  # choices that all witnesses together may list


def page_data(
    several: Sequence[Explanation],
    coordinates: Mapping[Any, tuple[int, int]] | None,
    cases: Mapping[str, Sequence[str]],
    story: Story | None = None,
) -> dict[str, Any]:
    """Everything the script needs; states and choices are numbers, positions in the lists of names."""
    mdp = several[0].mdp
    views = [important_part(explanation) for explanation in several]
    kept = _kept(several, views)
    at = {state: k for k, state in enumerate(kept)}
    called, short = captions(mdp), short_names(mdp)
    called = [short(s) if caption == mdp.states[s] else caption for s, caption in enumerate(called)]
    brief = are_short(mdp)
    actions = list(dict.fromkeys(mdp.actions))
    numbered = {name: k for k, name in enumerate(actions)}
    whole = len(kept) == mdp.n_states and mdp.transitions.nnz <= planning.TRANSITIONS
    whole = whole and several[0].log is None  # a map of activities remembers one step: nothing is computed in it
    used = range(mdp.n_choices) if whole else sorted({c for view in views for edge in view.edges for c in edge.choices})
    asked = [state for state in several[0].asked.tolist() if state in at]
    return {
        "states": [mdp.states[s] for s in kept],
        "captions": ["" if called[s] == mdp.states[s] else called[s] for s in kept],
        "short": [short(s) for s in kept] if brief else None,
        "labels": {
            name: [at[s] for s in np.flatnonzero(holds).tolist() if s in at] for name, holds in mdp.labels.items()
        },
        "silent": np.flatnonzero(silent_states(mdp, natural(mdp))).tolist() if whole else [],
        "aside": [at[s] for s, turn in enumerate(turn_states(mdp)) if turn and s in at],
        "initial": at[mdp.initial],
        "asked": None if asked == list(range(mdp.n_states)) else [at[s] for s in asked],
        "actions": actions,
        "action": [numbered[a] for a in mdp.actions] if whole else {c: numbered[mdp.actions[c]] for c in used},
        "told": {c: words for c in used if (words := told_choice(mdp, c)) != mdp.actions[c]},
        "model": _model(mdp) if whole else None,
        "kinds": [kind.value for kind in Kind],
        "targets": [_target(e, view, at, whole) for e, view in zip(several, views, strict=True)],
        "thing": "state" if several[0].log is None else "activity",
        "map": None if story is None or story.process_map is None else map_data(story, several[0].mdp, at, cases),
        "templates": template_texts(),
        "grid": _grid(several[0], coordinates_of(mdp, coordinates), at),
        "cases": None if story else {at[mdp.state(name)]: [*found][:8] for name, found in cases.items()} or None,
    }


def _kept(several: Sequence[Explanation], views: Sequence[View]) -> list[int]:
    mdp = several[0].mdp
    if mdp.n_states <= planning.STATES:
        return list(range(mdp.n_states))
    best = [state for e in several for state in e.asked[e.ranking][: planning.STATES // 3].tolist()]
    return sorted({*best, *(state for view in views for state in view.states)})


def _model(mdp: MDP) -> dict[str, Any]:
    return {
        "choices": np.diff(mdp.first_choice).tolist(),
        "rows": np.diff(mdp.transitions.indptr).tolist(),
        "succ": mdp.transitions.indices.tolist(),
        "prob": [1 if p == 1 else p for p in mdp.transitions.data.tolist()],
        "counts": None if mdp.counts is None else mdp.counts.tolist(),
    }


def _target(explanation: Explanation, view: View, at: Mapping[int, int], whole: bool) -> dict[str, Any]:
    read, every = explanation.kinds, list(Kind)
    inside = [k for k, state in enumerate(explanation.asked.tolist()) if state in at]
    position = {k: new for new, k in enumerate(inside)}

    def numbers(result: StateImportance) -> list[list[float | int]]:
        return [[compact(values[k]) for k in inside] for values in (result.lower, result.upper)]

    scopes, absolute = explanation.scopes.items(), explanation.absolute
    exact = {name: [[*map(str, values)] for values in (r.lower, r.upper)] for name, r in scopes if r.exact}
    return {
        "name": explanation.target,
        "states": [at[s] for s in np.flatnonzero(explanation.target_states).tolist() if s in at],
        "reach": [compact(value) for value in explanation.reachability],
        "scopes": {name: numbers(result) for name, result in scopes},
        "absolute": None if absolute is None else numbers(absolute),
        "exact": exact if whole and len(inside) <= planning.STATES // 6 else None,
        "kinds": [every.index(read[k]) for k in inside],
        "order": [position[k] for k in explanation.ranking.tolist() if k in position],
        "witnesses": _witnesses(explanation) if whole else {},
        "view": _drawn(view, at),
        "whatifs": _whatifs(explanation, inside),
        "worse": _worse(explanation) if whole else None,
        "intervals": _intervals(explanation, inside),
    }


def template_texts() -> dict[str, str]:
    """What each Declare template means, as a pattern over A and B; N is how often, M once more.

    >>> template_texts()["exactly"], template_texts()["precedence"]
    ('existence(A, N) & absence(A, M)', 'not(!A* (B & !A) ...)')
    """
    often = 70_001  # a number that stands for N
    a, b = step("A"), step("B")
    found = {name: template(name, [a], often) for name in COUNTED}
    found |= {"init": template("init", [a])} | {name: template(name, [a, b]) for name in PAIRED}
    parts = {name: str(pattern.part) for name, pattern in found.items() if isinstance(pattern, Template)}
    return {name: text.replace(str(often), "N").replace(str(often + 1), "M") for name, text in parts.items()}


def _whatifs(explanation: Explanation, inside: Sequence[int]) -> list[list[float | int]] | None:
    """Success after each state, least and greatest, and without it, where they are known."""
    known = explanation.whatifs or (explanation.insight.whatifs if explanation.insight else None)
    if known is None:
        return None
    columns = (known.after_lower, known.after_upper, known.without)
    return [[float(values[k]) for k in inside] for values in columns]


def _intervals(explanation: Explanation, inside: Sequence[int]) -> dict[str, Any] | None:
    """Where the bounds of each state lie when cases are drawn again: from, to of the lower and of the upper bound."""
    known = explanation.intervals
    if known is None:
        return None
    names = [explanation.mdp.states[explanation.asked[k]] for k in inside]
    rows = {
        scope: [[compact(end) for bounds in found.get(name, ()) for end in bounds] or None for name in names]
        for scope, found in known.states.items()
    }
    return {"level": known.level, "resamples": known.resamples, "scopes": rows}


def _worse(explanation: Explanation) -> list[int] | None:
    """Choices that no best strategy takes, where the best strategies were asked about."""
    if explanation.conserving is None:
        return None
    found: list[int] = np.flatnonzero(~explanation.conserving).tolist()
    return found


def _witnesses(explanation: Explanation) -> dict[int, dict[str, list[Any]]]:
    """Witness strategies that the explanation carries, as lists of choices where there is a choice."""
    found: dict[int, dict[str, list[Any]]] = {}
    budget = WITNESS_ENTRIES
    for name in dict.fromkeys(name for witnesses in explanation.witnesses.values() for name in witnesses):
        packed = {
            scope: [_packed(strategy) for strategy in witnesses[name]]
            for scope, witnesses in explanation.witnesses.items()
            if name in witnesses
        }
        budget -= sum(len(mode) for pair in packed.values() for strategy in pair for mode in strategy["modes"])
        if budget < 0:
            break
        found[explanation.mdp.index[name]] = packed
    return found


def _packed(strategy: Strategy) -> dict[str, Any]:
    """Choices of a strategy in the states that have several and can be reached, and when its mode changes."""
    modes = zip(strategy.modes, strategy.reached(), strict=True)
    update = [
        [[s, int(row[s])] for s in np.flatnonzero(row != mode).tolist()] for mode, row in enumerate(strategy.update)
    ]
    return {
        "start": strategy.start,
        "modes": [_choices(strategy.mdp, probabilities, where) for probabilities, where in modes],
        "update": update,
    }


def _choices(mdp: MDP, probabilities: NDArray[np.float64], reached: NDArray[np.bool_]) -> list[Any]:
    several = (np.diff(mdp.first_choice) > 1) & reached
    taken = np.flatnonzero((probabilities > 0) & several[mdp.choice_state]).tolist()
    return [c if probabilities[c] == 1 else [c, compact(probabilities[c])] for c in taken]


def _drawn(view: View, at: Mapping[int, int]) -> dict[str, Any]:
    edges, _ = view.drawn
    return {
        "states": [at[s] for s in view.states],
        "edges": [
            {"s": at[e.source], "t": at[e.target], "c": e.choices, "p": [compact(p) for p in e.probabilities]}
            for e in edges
        ],
    }


def _grid(explanation: Explanation, coordinates: Coordinates | None, at: Mapping[int, int]) -> dict[str, Any] | None:
    if coordinates is None:
        return None
    xs = sorted({x for x, _ in coordinates.values()})
    ys = sorted({y for _, y in coordinates.values()})
    return {
        "width": xs[-1] - xs[0] + 1,
        "height": ys[-1] - ys[0] + 1,
        "cells": [[at[s], x - xs[0], y - ys[0]] for s, (x, y) in coordinates.items() if s in at],
        "marks": {f"{x - xs[0]},{y - ys[0]}": mark for (x, y), mark in marks_of(explanation, coordinates).items()},
    }
