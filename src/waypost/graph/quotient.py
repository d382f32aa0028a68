"""A graph whose end components are single states: what remains always ends.

A strategy may wander in an end component for as long as it likes and leave it by any choice of any member, so for
questions of probability 0 and 1 its members are one state. In the quotient nobody stays anywhere for ever, which makes
*with probability 1* a matter of where choices lead: no strategy avoids all ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from waypost.graph.arrows import Graph
from waypost.graph.components import end_components
from waypost.model.arrays import Ints, Mask


class Quotient(NamedTuple):
    """A graph with end components merged."""

    graph: Graph
    place: Ints  # (S,) the merged state of each
    wandering: Mask  # (S,) who is in an end component
    entries: Ints  # (nnz,) the arrow that each one of the merged graph is


def quotient(graph: Graph, *, inside: Mask, enabled: Mask) -> Quotient:
    """Merge the end components of a graph.

    Only end components `inside` are merged, and only `enabled` choices remain, without those that stay in theirs.

    >>> from waypost.model import MDP
    >>> mdp = MDP.from_dict({"a": {"go": "b"}, "b": {"back": "a", "on": "c"}, "c": {}}, initial="a")
    >>> found = Graph.of(mdp)
    >>> merged = quotient(found, inside=~mdp.where("c"), enabled=found.everything)
    >>> merged.place.tolist(), merged.wandering.tolist(), np.diff(merged.graph.first_choice).tolist()
    ([0, 0, 1], [True, True, False], [1, 1])
    """
    number, inner = end_components(graph, inside=inside, enabled=enabled)
    wandering = number >= 0
    merged = int(number.max(initial=-1)) + 1
    place = np.where(wandering, number, 0)
    place[~wandering] = merged + np.arange((~wandering).sum())
    n = merged + int((~wandering).sum())
    choices = np.flatnonzero(enabled & ~inner)
    owner = place[graph.choice_state[choices]]
    order = np.argsort(owner, kind="stable")
    choices = choices[order]
    sizes = np.diff(graph.indptr)[choices]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.repeat(graph.indptr[choices] - indptr[:-1], sizes) + np.arange(indptr[-1])
    first = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))])
    return Quotient(Graph(first, indptr, place[graph.indices[entries]]), place, wandering, entries)
