"""The same question about a smaller model, in which nothing is asked twice.

The two ends of a corridor (`waypost.graph.corridors`) are passed by the same runs, so they have the same importance,
whatever the scope, and are one place. All that is hopeless or never entered is one place, too. Probabilities are moved,
never added, so no digit changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from waypost.graph import Graph, Ints, Mask
from waypost.importance.question import Question
from waypost.model import MDP
from waypost.solve.reachability import Optimum, Reach
from waypost.solve.rewards import STOP

WORTH = 0.9  # the share of places per state up to which a smaller model is worth building


class Contraction(NamedTuple):
    """A question about fewer states, and where each state of the model is in it."""

    question: Question
    place: Ints  # (S,)


def contracted(question: Question) -> Contraction | None:
    """Contract the model of a question; None where that would not make it much smaller.

    >>> mdp = MDP.from_dict({"a": {"go": "b"}, "b": {"go": "c", "stop": "d"}, "c": {}, "d": {}}, initial="a")
    >>> contracted(Question.of(mdp, target="c", scope="all")).place.tolist()
    [0, 0, 1, 2]
    """
    graph, (head, tail) = question.graph, question.corridors
    alive = question.reach.possible & question.entered
    heads = np.flatnonzero(alive & (head == np.arange(graph.n_states)))
    sinks = _hopeless_successors(graph, alive)
    n, most = len(heads), int(sinks.max(initial=0)) + 1
    if n + most > WORTH * graph.n_states:
        return None
    place = np.full(graph.n_states, n)
    place[heads] = np.arange(n)
    place[alive] = place[head[alive]]
    return Contraction(_smaller(question, tail[heads], place, sinks, most), place)


def _hopeless_successors(graph: Graph, alive: Mask) -> Ints:
    """(nnz,) how many successors of the same choice before this one are not alive; -1 where it is."""
    gone = ~alive[graph.indices]
    before = np.concatenate([[0], np.cumsum(gone)])
    return np.where(gone, before[:-1] - np.repeat(before[graph.indptr[:-1]], np.diff(graph.indptr)), -1)


def _smaller(question: Question, tails: Ints, place: Ints, sinks: Ints, most: int) -> Question:
    """The question about the places: each has the choices of its last state, and `most` sinks come behind them."""
    mdp, graph, n = question.mdp, question.graph, len(tails)
    owned = np.diff(graph.first_choice)[tails]
    ends = np.cumsum(owned)
    rows = np.repeat(graph.first_choice[:-1][tails] - (ends - owned), owned) + np.arange(owned.sum())
    sizes = np.diff(graph.indptr)[rows]
    stops = np.cumsum(sizes)
    entries = np.repeat(graph.indptr[:-1][rows] - (stops - sizes), sizes) + np.arange(sizes.sum())
    goals = np.where(sinks[entries] >= 0, n + sinks[entries], place[graph.indices[entries]])
    row = np.repeat(np.arange(len(rows)), sizes)
    order = np.lexsort((goals, row))  # sorted within a choice, as a model has them
    data = mdp.transitions.data[entries][order]
    matrix = csr_array(
        (
            np.concatenate([data, np.ones(most)]),
            np.concatenate([goals[order], n + np.arange(most)]),
            np.concatenate([[0], stops, stops[-1] + 1 + np.arange(most)]),
        ),
        shape=(len(rows) + most, n + most),
    )
    exact = None if mdp.exact is None else np.concatenate([mdp.exact[entries][order], np.ones(most, np.int64)])
    target = np.concatenate([question.reach.target[tails], np.zeros(most, bool)])
    small = MDP(
        transitions=matrix,
        first_choice=np.concatenate([[0], ends, ends[-1] + 1 + np.arange(most)]),
        states=tuple(map(str, range(n + most))),
        actions=("",) * (len(rows) + most),
        initial=int(place[question.start]),
        labels={"target": target},
        exact=exact,
    )
    reach = Reach.of(small, target, exact=False)
    if question.scope == "all":
        first = ends - owned - graph.first_choice[:-1][tails]
        sinks_stay = np.arange(len(rows), len(rows) + most)
        least, greatest = (_carried_over(found, tails, first, sinks_stay) for found in question.reach.optima)
        reach = replace(reach, given=(least, greatest))
    return Question(small, ("target",), question.scope, known=reach).checked()


def _carried_over(found: Optimum, tails: Ints, shift: Ints, staying: Ints) -> Optimum:
    """What was found of the last state of each place, by the places' own choices; sinks stay where they are."""
    choice = found.choice[tails]
    choice = np.where(choice == STOP, STOP, choice + shift)
    return Optimum(np.append(found.values[tails], np.zeros(len(staying))), np.append(choice, staying))
