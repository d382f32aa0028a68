"""Our side of a benchmark, in a process of its own, so that its memory is known.

Every piece of work is done once before it is timed, with every kernel compiled; then as often as fits, and the best
time counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import waypost
from waypost.cases import epidemic
from waypost.graph.compiled import eagerly
from waypost.importance.question import Question, plain
from waypost.model import MDP
from waypost.paper.bench.storm_child import in_words, peak_megabytes

MOST = 9  # repetitions
LONG = 60.0  # seconds: a first run that takes so long counts, whatever it had to compile before


def best_time(work: Callable[[], Any], enough: float) -> tuple[float, Any]:
    """Least time of several runs after a first one that does not count, and what the work gives.

    It is repeated as long as the repetitions have taken less than `enough` seconds. What is very long is done once.
    """
    started = time.perf_counter()
    with eagerly():
        result = work()
    if time.perf_counter() - started > LONG:
        return time.perf_counter() - started, result
    best, spent, runs = float("inf"), 0.0, 0
    while not runs or (runs < MOST and spent < enough):
        started = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - started
        best, spent, runs = min(best, seconds), spent + seconds, runs + 1
    return best, result


def do(mdp: MDP, work: dict[str, Any], enough: float) -> dict[str, Any]:
    """Do one piece of work, of the ``kind`` it says; answer with the time and the numbers."""
    target, scope = work["target"], work.get("scope", "all")
    refused = 0
    bounds: list[list[Any]]
    match work["kind"]:
        case "states":
            asked = work.get("only", mdp.where(work["asked"]).nonzero()[0] if "asked" in work else None)
            names = None if asked is None else [mdp.states[s] for s in asked]
            seconds, found = best_time(
                lambda: waypost.state_importance(mdp, target=target, scope=scope, states=names), enough
            )
            shown, refused = work.get("shown", range(len(found.lower))), len(found.refused)
            bounds = [[float(found.lower[k]), float(found.upper[k])] for k in shown]
        case "absolute":
            seconds, found = best_time(lambda: waypost.absolute_importance(mdp, target=target), enough)
            bounds = [[float(found.lower[k]), float(found.upper[k])] for k in work["shown"]]
        case "choices":
            seconds, found = best_time(lambda: waypost.choice_importance(mdp, target=target, scope=scope), enough)
            bounds = np.column_stack([found.lower, found.upper]).tolist()
        case "one":  # states asked about one at a time; the mean counts
            times, bounds = [], []
            for s in work["shown"]:
                ask = {"target": target, "scope": scope, "states": mdp.states[s]}
                best, found = best_time(lambda ask=ask: waypost.state_importance(mdp, **ask), enough)  # type: ignore[misc]
                times.append(best)
                bounds.append([float(found.lower[0]), float(found.upper[0])])
            seconds = sum(times) / len(times)
        case "path":
            path = first_steps(mdp, work["steps"], target)
            seconds, found = best_time(
                lambda: waypost.path_importance(mdp, path=path, target=target, scope=scope), enough
            )
            bounds = [[float(found.lower), float(found.upper)]]
        case "reachability":
            seconds, found = best_time(
                lambda: waypost.reachability(mdp, target=target, optimum=work["optimum"]), enough
            )
            bounds = [[float(found[mdp.initial])] * 2]
        case "exact":
            ask = {"target": target, "scope": scope, "states": mdp.states[work["only"]], "exact": True}
            seconds, found = best_time(lambda: waypost.state_importance(mdp, **ask), enough)
            bounds = [[in_words(found.lower[0]), in_words(found.upper[0])]]
        case "exact reachability":  # of the initial state, as Storm is asked for it
            seconds, best = best_time(
                lambda: plain(Question.of(mdp, target=target, scope="all", exact=True).best), enough
            )
            bounds = [[in_words(best)] * 2]
        case kind:
            raise ValueError(kind)
    return {"seconds": seconds, "bounds": bounds, "megabytes": peak_megabytes(), "refused": refused}


def first_steps(mdp: MDP, steps: int, target: str) -> list[str]:
    """Simple path from the initial state: always the first action, and the first successor not seen yet."""
    barred = set(mdp.where(target).nonzero()[0].tolist())
    at = mdp.initial
    path = [mdp.states[at]]
    for _ in range(steps):
        barred.add(at)
        c = int(mdp.first_choice[at])
        onward = next((y for y in mdp.successors(choice=c).tolist() if y not in barred), None)
        if onward is None:
            break
        at = onward
        path += [mdp.actions[c], mdp.states[at]]
    return path


def work(job: dict[str, Any]) -> dict[str, Any]:
    """Load the model, do the works one after the other, answer."""
    started = time.perf_counter()
    mdp = epidemic(job["epidemic"]) if "epidemic" in job else waypost.read_mdp(job["model"])
    reading = time.perf_counter() - started
    return {
        "reading": reading,
        "states": mdp.n_states,
        "transitions": int(mdp.transitions.nnz),
        "works": [do(mdp, work, job["enough"]) for work in job["works"]],
    }
