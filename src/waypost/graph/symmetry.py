"""Symmetry: states that a renaming of the model exchanges.

A *symmetry* is a permutation of states under which a model stays what it is, every choice with its probabilities: the
processes of a protocol that run the same program, two halves of a board. Whatever is asked about a state has the same
answer for all that it is exchanged with, its *orbit*, so one of them need be asked about.

Symmetries are guessed and then checked. Guessing is colour refinement (Weisfeiler and Leman): states are told apart by
the colours of whom they lead to and are led to from, over and over. Of two states that keep one colour, one is marked
in one copy of the model and the other in a second copy; when refining both leaves every state with a colour of its own,
equal colours are the renaming. Colours are hashes, which may deceive. The check does not: it compares the renamed model
with the model, arrow by arrow. So orbits may be found in parts, but never too large.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from waypost.graph.arrows import Graph
from waypost.graph.compiled import kernel, leaf
from waypost.model.arrays import Ints

Colours = NDArray[np.uint64]

ROUNDS = 8  # of refinement between two looks at the colours
GUESSES = 24  # renamings that are tried
MARKS = 6  # states that are marked for one of them

_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
_OTHER = np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT = np.uint64(29)


class Coloured(NamedTuple):
    """A graph whose arrows are told apart by their probabilities, as the compiled loop takes it."""

    first_choice: Ints
    indptr: Ints
    indices: Ints
    bits: Colours  # (nnz,) of the probability of each arrow


def orbits(graph: Graph, data: NDArray[np.float64], kinds: Ints) -> Ints:
    """(S,) the first state that each state is exchanged with by the symmetries found; states of two `kinds` never are.

    >>> from waypost.model import MDP
    >>> toss = {"toss": {"heads": 0.5, "tails": 0.5}}
    >>> mdp = MDP.from_dict({"a": toss, "heads": {"go": "b"}, "tails": {"go": "b"}, "b": {}}, initial="a")
    >>> orbits(Graph.of(mdp), mdp.transitions.data, mdp.where("b").astype(int)).tolist()
    [0, 1, 1, 3]
    """
    n = graph.n_states
    model = Coloured(graph.first_choice, graph.indptr, graph.indices, data.view(np.uint64) * _ODD)
    colours = _refined(model, _mixed_all(np.asarray(kinds, np.uint64)))
    first = np.arange(n)
    _, kind, size = np.unique(colours, return_inverse=True, return_counts=True)
    if len(size) == n:
        return first
    plain = _told(graph, data, np.arange(n))
    tried = np.zeros(len(size), bool)
    for _ in range(GUESSES):
        pair = _still_apart(first, kind, size, tried)
        if pair is None:
            break
        renaming = _renaming(model, colours, *pair)
        if renaming is None or _told(graph, data, renaming) != plain:
            tried[kind[pair[0]]] = True
        else:
            first = _joined.sized(10.0 * n)(first, renaming)
    return first


def _still_apart(first: Ints, kind: Ints, size: Ints, tried: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Two states of one colour that no renaming has joined yet, of the colour that most states have."""
    other = np.full(len(size), -1)
    other[kind] = first  # the orbit of some state of each colour
    apart = np.flatnonzero((first != other[kind]) & ~tried[kind])
    if not len(apart):
        return None
    x = apart[np.argmax(size[kind[apart]])]
    return int(other[kind[x]]), int(x)


def _renaming(model: Coloured, colours: Colours, one: int, other: int) -> Ints | None:
    """(S,) a permutation that may be a symmetry and takes one state to the other; None where there is none in sight."""
    here, there = colours.copy(), colours.copy()
    for _ in range(MARKS):
        here[[one]] += _ODD
        there[[other]] += _ODD
        here, there = _refined(model, here), _refined(model, there)
        mine, yours = np.argsort(here, kind="stable"), np.argsort(there, kind="stable")
        ranked = here[mine]
        if (ranked != there[yours]).any():
            return None
        several = np.flatnonzero(ranked[1:] == ranked[:-1])
        moved = several[mine[several] != yours[several]]
        if not len(moved):  # who still shares a colour stays where it is
            break
        one, other = int(mine[moved[0]]), int(yours[moved[0]])
    renaming = np.empty(len(here), np.int64)
    renaming[mine] = yours
    return renaming


@kernel
def _joined(first, renaming) -> Any:  # type: ignore[no-untyped-def]
    """(S,) orbits by their first states, joined where a renaming leads from one to the other."""
    joined = first.copy()
    for x in range(len(first)):
        one = _first_of(joined, x)
        other = _first_of(joined, renaming[x])
        joined[max(one, other)] = min(one, other)
    for x in range(len(first)):
        joined[x] = joined[joined[x]]  # who comes before it has its first state already
    return joined


@leaf
def _first_of(joined, x):  # type: ignore[no-untyped-def]
    while joined[x] != x:
        x = joined[x]
    return x


def _told(graph: Graph, data: NDArray[np.float64], renaming: Ints) -> bytes:
    """A model whose states have other names, written down: the same for the same model."""
    owner, goals = renaming[graph.choice_state], renaming[graph.indices]
    sizes = np.diff(graph.indptr)
    row = np.repeat(np.arange(graph.n_choices), sizes)
    hashed = _mixed_all(goals.astype(np.uint64) * _OTHER ^ data.view(np.uint64))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashed, dtype=np.uint64)])
    order = np.lexsort((np.diff(sums[graph.indptr]), owner))  # choices of a state have no order
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    entries = np.lexsort((goals, rank[row]))
    return b"".join(part.tobytes() for part in (owner[order], sizes[order], goals[entries], data[entries]))


def _refined(model: Coloured, colours: Colours) -> Colours:
    """Colours as fine as whom states lead to, and are led to from, can make them."""
    with np.errstate(over="ignore"):  # hashes are what is left
        found: Colours = _recoloured.sized(4.0 * ROUNDS * (len(colours) + len(model.indices)))(colours, model)
    return found


def _mixed_all(numbers: Colours) -> Colours:
    """Numbers with their bits scattered."""
    numbers = (numbers ^ numbers >> _SHIFT) * _ODD
    return numbers ^ numbers >> _SHIFT


@leaf
def _mixed(number):  # type: ignore[no-untyped-def]
    """One number with its bits scattered."""
    number = (number ^ (number >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    return number ^ (number >> np.uint64(32))


@kernel
def _recoloured(colours, model) -> Any:  # type: ignore[no-untyped-def]
    """Rounds of refinement, until some of them make no more colours; there is none for every state."""
    n = len(colours)
    now = colours.copy()
    ahead = np.empty(n, np.uint64)
    back = np.empty(n, np.uint64)
    table = np.empty(2 * n, np.int64)
    before = 0
    classes = _different(now, table)
    while before < classes < n:
        for _ in range(ROUNDS):
            _recolour(model, now, ahead, back)
        before = classes
        classes = _different(now, table)
    return now


@leaf
def _recolour(model, now, ahead, back) -> None:  # type: ignore[no-untyped-def]
    """One round; sums of hashes, because neither choices nor arrows have an order. The last two are room."""
    back[:] = np.uint64(0)
    for x in range(len(now)):
        ahead[x] = np.uint64(0)
        for c in range(model.first_choice[x], model.first_choice[x + 1]):
            choice = np.uint64(0)
            for e in range(model.indptr[c], model.indptr[c + 1]):
                choice += _mixed(now[model.indices[e]] ^ model.bits[e])
            choice = _mixed(choice)
            ahead[x] += choice
            come = _mixed(choice ^ now[x])
            for e in range(model.indptr[c], model.indptr[c + 1]):
                back[model.indices[e]] += _mixed(come ^ model.bits[e])
    for x in range(len(now)):
        now[x] = _mixed(_mixed(now[x] + ahead[x]) ^ back[x])


@leaf
def _different(colours, table) -> int:  # type: ignore[no-untyped-def]
    """How many colours there are; `table` is room for twice as many states."""
    table[:] = -1
    found = 0
    for x in range(len(colours)):
        at = colours[x] % np.uint64(len(table))
        while table[at] >= 0 and colours[table[at]] != colours[x]:
            at = (at + np.uint64(1)) % np.uint64(len(table))
        if table[at] < 0:
            table[at] = x
            found += 1
    return found
