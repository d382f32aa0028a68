"""Which part of a model a picture shows: the important states and what connects them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from waypost.errors import NameUnknownError
from waypost.importance.results import Explanation
from waypost.model import MDP
from waypost.report.names import captions

SHOWN = 60  # more states than this make a picture that nobody reads
FAR = 20_000  # hidden states that the search for a way between two shown ones looks at


@dataclass(frozen=True)
class Edge:
    """An arrow of the picture: the choices that lead from one shown state to another.

    Without choices it stands for a way through states that are not shown.
    """

    source: int  # a state
    target: int  # a state
    choices: tuple[int, ...] = ()
    probabilities: tuple[float, ...] = ()  # one per choice

    @property
    def hidden(self) -> bool:
        """Whether the way leads through states that are not shown."""
        return not self.choices


@dataclass(frozen=True, eq=False)
class View:
    """The part of a model that is shown: states, most important first, and the arrows between them."""

    states: tuple[int, ...]
    edges: tuple[Edge, ...]

    @property
    def drawn(self) -> tuple[list[Edge], list[tuple[int, int]]]:
        """Arrows between different states, and where each leads as positions in `states`.

        An arrow from a state to itself says nothing that the list of its steps does not say.
        """
        node = {state: k for k, state in enumerate(self.states)}
        edges = [edge for edge in self.edges if edge.source != edge.target]
        return edges, [(node[edge.source], node[edge.target]) for edge in edges]


def explained_scope(explanation: Explanation, scope: str | None) -> str:
    """Scope that a picture shows: the one asked for, if it was explained, and the main one by default."""
    scope = explanation.main_scope if scope is None else scope
    if scope not in explanation.scopes:
        raise NameUnknownError(f"scope {scope!r} was not explained; there is {', '.join(explanation.scopes)}")
    return scope


def important_part(explanation: Explanation, limit: int = SHOWN) -> View:
    """Pick the most important states, the initial one and the targets, and connect them.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> explanation = explain(loan(), target="Granted")
    >>> part = important_part(explanation, limit=3)
    >>> [explanation.mdp.states[state] for state in part.states]
    ['s0', 'Granted', 'Application+']
    >>> [(edge.source, edge.target) for edge in part.edges if edge.hidden]
    [(0, 5)]
    """
    mdp = explanation.mdp
    ranked = explanation.asked[explanation.ranking].tolist()
    targets = np.flatnonzero(explanation.target_states).tolist()
    best = {state: rank for rank, state in enumerate(ranked)}
    targets.sort(key=lambda state: best.get(state, len(ranked)))
    silent = turn_states(mdp)
    ranked = [state for state in ranked if not silent[state]] or ranked
    other = [] if explanation.log is None else [mdp.n_states - 1]  # where bad cases end
    wanted = dict.fromkeys([mdp.initial, *targets[: max(1, limit // 8)], *other, *ranked])
    states = tuple(wanted)[:limit]
    direct = _direct(mdp, states, silent)
    return View(states, (*direct, *_through_hidden(mdp, states, direct)))


def turn_states(mdp: MDP) -> list[bool]:
    """(S,) which states only say whose turn it is after a step, see `turns`."""
    return [turn is not None for turn in turns(mdp)]


def turns(mdp: MDP) -> list[tuple[str, str] | None]:
    """(S,) whose turn it is after which step, for states that say nothing else: ``bank after Check``, or ``bankCheck``.

    Such a state is called as the states before it are, with something in front; and at least three steps have one with
    the same in front, so that ``resend`` after ``send`` is none.

    >>> steps = {"a": {"env": "bank after a"}, "bank after a": {"go": "b"}, "b": {"env": "bank after b"}}
    >>> steps |= {"bank after b": {"go": "c"}, "c": {"env": "bank after c"}, "bank after c": {}}
    >>> turns(MDP.from_dict(steps, initial="a"))[:4]
    [None, ('bank', 'a'), None, ('bank', 'b')]
    """
    called = captions(mdp)
    before: list[set[str]] = [set() for _ in called]
    owner = np.repeat(mdp.choice_state, np.diff(mdp.transitions.indptr))
    for source, target in zip(owner.tolist(), mdp.transitions.indices.tolist(), strict=True):
        if source != target:
            before[target].add(called[source])
    front = [
        name[: -len(next(iter(names)))] if len(names) == 1 and name.endswith(next(iter(names))) else ""
        for name, names in zip(called, before, strict=True)
    ]
    steps: dict[str, set[str]] = {}
    for prefix, name in zip(front, called, strict=True):
        steps.setdefault(prefix, set()).add(name)
    return [
        (prefix.removesuffix(" after "), name.removeprefix(prefix)) if prefix and len(steps[prefix]) >= 3 else None
        for prefix, name in zip(front, called, strict=True)
    ]


def _direct(mdp: MDP, states: tuple[int, ...], silent: Sequence[bool]) -> list[Edge]:
    """Arrows between shown states; what only says whose turn it is, and is not shown, is stepped over."""
    shown = set(states)
    edges = []
    for source in states:
        found: dict[int, list[tuple[int, float]]] = {}
        for choice, target, probability in _steps(mdp, source):
            if target in shown:
                found.setdefault(target, []).append((choice, probability))
            elif silent[target]:
                for further, end, also in _steps(mdp, target):
                    if end in shown:
                        found.setdefault(end, []).append((further, probability * also))
        edges += [
            Edge(source, target, tuple(c for c, _ in ways), tuple(p for _, p in ways)) for target, ways in found.items()
        ]
    return edges


def _steps(mdp: MDP, state: int) -> Iterator[tuple[int, int, float]]:
    """Ways out of a state: choice, successor, probability."""
    for choice in mdp.choices(state):
        low, high = mdp.transitions.indptr[choice : choice + 2]
        row = zip(mdp.transitions.indices[low:high].tolist(), mdp.transitions.data[low:high].tolist(), strict=True)
        yield from ((choice, target, probability) for target, probability in row)


def _through_hidden(mdp: MDP, states: tuple[int, ...], direct: Sequence[Edge]) -> list[Edge]:
    """Connect a shown state that no arrow enters, or leaves, with the nearest one behind hidden states."""
    entered = {edge.target for edge in direct if edge.source != edge.target}
    left = {edge.source for edge in direct if edge.source != edge.target}
    owner = csr_array((np.ones(mdp.n_choices), np.arange(mdp.n_choices), mdp.first_choice))
    forward = csr_array(owner @ mdp.transitions)
    backward = csr_array(forward.T)
    shown = np.zeros(mdp.n_states, bool)
    shown[list(states)] = True
    edges: dict[tuple[int, int], Edge] = {}
    for state in states:
        if state != mdp.initial and state not in entered:
            nearest = _nearest(backward, state, shown)
            if nearest is not None:
                edges[nearest, state] = Edge(nearest, state)
        if len(_around(forward, state)) and state not in left:
            nearest = _nearest(forward, state, shown)
            if nearest is not None:
                edges[state, nearest] = Edge(state, nearest)
    return list(edges.values())


def _around(graph: csr_array, state: int) -> NDArray[np.int64]:
    found = graph.indices[graph.indptr[state] : graph.indptr[state + 1]]
    return np.asarray(found[found != state])


def _nearest(graph: csr_array, start: int, shown: NDArray[np.bool_]) -> int | None:
    seen = {start}
    queue = deque([start])
    while queue and len(seen) < FAR:
        for neighbour in _around(graph, queue.popleft()).tolist():
            if shown[neighbour] and neighbour != start:
                return int(neighbour)
            if neighbour not in seen:
                seen.add(neighbour)
                queue.append(neighbour)
    return None
