"""networkx graphs: a node is a state, an edge with attributes ``action`` and ``prob`` is a probabilistic step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from waypost.errors import FormatError, require, unknown_name
from waypost.model import MDP


def from_networkx(graph: Any, *, initial: Any = None) -> MDP:
    """Build an MDP from a networkx graph.

    Edges carry ``action`` (default ``"go"``) and ``prob`` (default 1); nodes may carry ``labels``. The initial state is
    `initial`, or ``graph.graph["initial"]``, or the only node without incoming edges.

    >>> import networkx
    >>> graph = networkx.DiGraph()
    >>> graph.add_edge("s0", "won", action="try", prob=0.9)
    >>> graph.add_edge("s0", "lost", action="try", prob=0.1)
    >>> from_networkx(graph)
    MDP(states=3, choices=3, transitions=4, initial='s0')
    """
    if not graph.is_directed():
        raise FormatError("an MDP needs a directed graph (networkx.DiGraph or MultiDiGraph)")
    nodes = {node: str(node) for node in graph.nodes}
    choices: dict[str, dict[str, dict[str, Any]]] = {}
    counts: dict[tuple[str, str, str], int] = {}
    for node, name in nodes.items():
        if name in choices:
            raise FormatError(f"two nodes are called {name!r}; state names must be unique")
        declared = graph.nodes[node].get("actions", ())
        choices[name] = {str(action): {} for action in declared}
        for _, successor, edge in graph.out_edges(node, data=True):
            action = str(edge.get("action", "go"))
            outcome = choices[name].setdefault(action, {})
            probability = edge.get("prob", 1)
            known = outcome.get(nodes[successor])
            outcome[nodes[successor]] = probability if known is None else known + probability
            if "count" in edge:
                counts[name, action, nodes[successor]] = edge["count"]
    start = graph.graph.get("initial") if initial is None else initial
    start = _only_source(graph) if start is None else start
    if start not in nodes:
        raise unknown_name("state", str(start), nodes.values(), "this graph")
    mdp = MDP.from_dict(choices, initial=nodes[start], labels=_labels(graph, nodes))
    return _with_counts(mdp, counts) if counts else mdp


def to_networkx(mdp: MDP) -> Any:
    """Convert an MDP to a ``networkx.MultiDiGraph`` that `from_networkx` reads back.

    >>> from waypost.cases import loan
    >>> to_networkx(loan()).nodes["s0"]
    {'actions': ('Apply', 'Consult'), 'labels': ()}
    """
    networkx = require("networkx", "graphs", "to_networkx()")
    graph = networkx.MultiDiGraph(initial=mdp.states[mdp.initial], labels=tuple(mdp.labels))
    for s, name in enumerate(mdp.states):
        graph.add_node(name, actions=mdp.actions_of(s), labels=mdp.labels_of(s))
    numbers = mdp.transitions.data.tolist() if mdp.exact is None else mdp.exact
    pointer, successors = mdp.transitions.indptr.tolist(), mdp.transitions.indices.tolist()
    for c, state in enumerate(mdp.choice_state.tolist()):
        for k in range(pointer[c], pointer[c + 1]):
            seen = {} if mdp.counts is None else {"count": int(mdp.counts[k])}
            source, target = mdp.states[state], mdp.states[successors[k]]
            graph.add_edge(source, target, action=mdp.actions[c], prob=numbers[k], **seen)
    return graph


def _only_source(graph: Any) -> Any:
    sources = [node for node in graph.nodes if graph.in_degree(node) == 0]
    if len(sources) != 1:
        raise FormatError("this graph does not say where it begins; pass initial=, or set graph.graph['initial']")
    return sources[0]


def _labels(graph: Any, nodes: dict[Any, str]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {str(label): [] for label in graph.graph.get("labels", ())}
    for node, name in nodes.items():
        given: str | Iterable[str] = graph.nodes[node].get("labels", ())
        for label in [given] if isinstance(given, str) else given:
            members.setdefault(str(label), []).append(name)
    return members


def _with_counts(mdp: MDP, counts: dict[tuple[str, str, str], int]) -> MDP:
    matrix = mdp.transitions
    choice = np.repeat(np.arange(mdp.n_choices), np.diff(matrix.indptr))
    keys = [
        (mdp.states[mdp.choice_state[c]], mdp.actions[c], mdp.states[s])
        for c, s in zip(choice.tolist(), matrix.indices.tolist(), strict=True)
    ]
    return MDP.from_triplets(
        choice,
        matrix.indices,
        matrix.data,
        first_choice=mdp.first_choice,
        states=mdp.states,
        actions=mdp.actions,
        initial=mdp.initial,
        labels=mdp.labels,
        exact=None if mdp.exact is None else list(mdp.exact),
        counts=[counts.get(key, 0) for key in keys],
    )
