"""The paper's textual explanation: what is indispensable and what is detrimental, in a few lines.

Paper, Sect. 6, *Interpretability of our scores*: the states, respectively paths, with the highest lower bounds and
those with the lowest upper bounds. Its excerpt says BPIC12; the names in it are those of BPIC17.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from waypost.graph import Graph, can_reach
from waypost.importance import Bounds, group_importance, path_importance
from waypost.model import MDP
from waypost.report.names import captions
from waypost.report.wording import number

ACTORS = ("company", "customer")  # a label such as companystart says whose turn it is, not what happens
MOST = 8  # names in a sentence
PATHS = 150  # paths looked at, the most probable first


def excerpt(mdp: MDP, *, target: str, scope: Literal["all", "optimal"] = "optimal", paths: int = PATHS) -> str:
    """Say in words which events and paths are indispensable for a target, and which are detrimental.

    >>> from waypost.cases import loan
    >>> print(excerpt(loan(), target="Granted", scope="all", paths=8))
    States indispensable for 'Granted' (lower bound 1) include:
      Application+.
    States detrimental for 'Granted' (lowest upper bounds) include:
      Angry (0), Rejected (0).
    Paths with the highest lower bounds (under strategies that follow them) include:
      s0, Consultation (1); s0, Application (0.897 to 1).
    Paths with the lowest upper bounds include:
      s0, Consultation, Application+, Rework (0 to 0.082).
    """
    found = group_importance(mdp, target=target, scope=scope, groups=_events(mdp, target))
    names = list(found)
    firm = [name for name in names if found[name].lower == 1]
    bad = sorted((n for n in names if found[n].upper < 0.05), key=lambda n: float(found[n].upper))
    ways = _ways(mdp, target, scope, paths)
    high = sorted((way for way in ways if way[1].lower >= 0.5), key=lambda way: -float(way[1].lower))
    low = sorted((way for way in ways if way[1].upper < 0.5), key=lambda way: float(way[1].upper))
    return "\n".join([
        f"States indispensable for {target!r} (lower bound 1) include:", _listed(firm, "none"),
        f"States detrimental for {target!r} (lowest upper bounds) include:",
        _listed((f"{name} ({number(found[name].upper, 4)})" for name in bad), "none"),
        "Paths with the highest lower bounds (under strategies that follow them) include:",
        _listed(map(_way, _unrelated(high, 3)), "none", "; "),
        "Paths with the lowest upper bounds include:",
        _listed(map(_way, _unrelated(low, 2)), "none", "; "),
    ])  # fmt: skip


def _events(mdp: MDP, target: str) -> dict[str, list[str]]:
    """States by the event that their label, or else their name, tells; start, target and turns are none."""
    by_event: dict[str, list[str]] = {}
    at_target, called = mdp.where(target), captions(mdp)
    for s in range(mdp.n_states):
        if s != mdp.initial and not at_target[s]:
            by_event.setdefault(called[s], []).append(mdp.states[s])
    return {name: states for name, states in by_event.items() if not _is_turn(name, by_event)}


def _is_turn(name: str, known: Iterable[str]) -> bool:
    rest = next((name.removeprefix(actor) for actor in ACTORS if name.startswith(actor)), None)
    return rest is not None and (rest == "start" or rest in known)


def _ways(mdp: MDP, target: str, scope: Literal["all", "optimal"], most: int) -> list[tuple[list[str], Bounds]]:
    """Simple paths from the start with their bounds, each told by its events."""
    events, called = _events(mdp, target), captions(mdp)
    found: dict[tuple[str, ...], tuple[list[str], Bounds]] = {}
    for path in itertools.islice(_simple_paths(mdp, target), most):
        told = [called[mdp.state(name)] for name in path[::2]]
        kept = [told[0], *(name for name in told[1:] if name in events)]
        if len(kept) > 1 and told[-1] in events:
            answer = path_importance(mdp, path=path, target=target, scope=scope)
            found.setdefault(tuple(kept), (kept, answer.bounds))
    return list(found.values())


def _simple_paths(mdp: MDP, target: str) -> Iterator[Sequence[str]]:
    """Simple paths that can still reach the target, the most probable first."""
    graph, goal = Graph.of(mdp), mdp.where(target)
    hopeful = can_reach(graph, goal) & ~goal
    tie = itertools.count()
    waiting: list[tuple[float, int, list[int], list[str]]] = [
        (-1.0, next(tie), [mdp.initial], [mdp.states[mdp.initial]])
    ]
    while waiting:
        weight, _, states, names = heapq.heappop(waiting)
        if len(states) > 1:
            yield names
        for choice in range(mdp.first_choice[states[-1]], mdp.first_choice[states[-1] + 1]):
            part = slice(mdp.transitions.indptr[choice], mdp.transitions.indptr[choice + 1])
            ahead = zip(mdp.transitions.indices[part].tolist(), mdp.transitions.data[part].tolist(), strict=True)
            for y, p in ahead:
                if hopeful[y] and y not in states:
                    step = [*names, mdp.actions[choice], mdp.states[y]]
                    heapq.heappush(waiting, (weight * p, next(tie), [*states, y], step))


def _unrelated(ways: Iterable[tuple[list[str], Bounds]], most: int) -> list[tuple[list[str], Bounds]]:
    """First few paths of which none is the beginning of another."""
    kept: list[tuple[list[str], Bounds]] = []
    for names, bounds in ways:
        if len(kept) < most and all(names[: len(k)] != k and k[: len(names)] != names for k, _ in kept):
            kept.append((names, bounds))
    return kept


def _way(way: tuple[list[str], Bounds]) -> str:
    names, bounds = way
    low, high = number(bounds.lower), number(bounds.upper)
    return f"{', '.join(names)} ({low if low == high else f'{low} to {high}'})"


def _listed(items: Iterable[str], otherwise: str, between: str = ", ") -> str:
    every = list(items)
    more = f" and {len(every) - MOST} more" if len(every) > MOST else ""
    return f"  {between.join(every[:MOST]) or otherwise}{more}."
