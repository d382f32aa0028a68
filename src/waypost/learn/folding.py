"""Merging nodes of a prefix tree, in arrays: steps lead elsewhere, and what hangs below is folded together.

The step that leads to node `k` of the tree is *edge* `k`. It belongs to one node at a time, its *owner*, and leads to
`k` until that is merged into a state. An edge is found by its owner and its step: the edges that a node has had from
the start lie side by side, in the order of their steps; those that came to it are in lists of the edges whose owner and
step have the same hash. Few edges move and few nodes become states, so what only these need takes no memory for others:
arrays that are not filled have no pages until they are written to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from waypost.graph.compiled import kernel
from waypost.learn.hoeffding import fits
from waypost.learn.tree import NOTHING, PrefixTree

OPEN, STATE = 1, 2  # what a node is: below a state and not yet looked at, or a state; 0 for all others
PER_BUCKET = 16  # nodes of the tree for each hash of an edge that moved


class Folded(NamedTuple):
    """A tree while its nodes are merged."""

    owner: Any  # (nodes,) of each edge
    target: Any
    step: Any
    seen: Any
    first_child: Any  # (nodes + 1,) where the edges of each node lay at first
    head: Any  # first edge of each node
    tail: Any  # last edge of each node, where it is known; else 0, which is no edge
    follow: Any  # the edge of the same owner that comes after
    bucket: Any  # first of the edges that moved, by their hash
    chained: Any  # of an edge that moved: the one with the same hash that comes after
    status: Any
    output: Any  # (steps + 1,) number of each step's output, and of the root's
    first_state: Any  # (outputs,) the state with that output that comes first in the tree
    next_state: Any  # of a state: the one with the same output that comes after
    heap: Any  # open nodes
    sizes: Any  # how many open nodes, how many states, how many edges were folded


def folded(tree: PrefixTree, *, spent: bool = False) -> Folded:
    """Tree before anything is merged: its root is open. A tree that is `spent` lends its arrays, others are copied."""
    nodes = len(tree)
    names = {name: k for k, name in enumerate(dict.fromkeys([tree.start, *(output for _, output in tree.steps)]))}
    size = 1 << max(4, (nodes // PER_BUCKET).bit_length())
    start = Folded(
        owner=tree.parent if spent else tree.parent.copy(),
        target=np.arange(nodes, dtype=np.int32),
        step=tree.step,
        seen=tree.seen.copy(),  # what the data say is asked for to the end
        first_child=tree.first_child,
        head=tree.head if spent else tree.head.copy(),
        tail=np.zeros(nodes, np.int32),
        follow=tree.follow if spent else tree.follow.copy(),
        bucket=np.full(size, NOTHING, np.int32),
        chained=np.empty(nodes, np.int32),
        status=np.zeros(nodes, np.uint8),
        output=np.array([*(names[output] for _, output in tree.steps), 0], np.int32),  # the root's step is the last
        first_state=np.full(len(names), NOTHING, np.int32),
        next_state=np.empty(nodes, np.int32),
        heap=np.zeros(nodes, np.int32),
        sizes=np.array([1, 0, 0]),
    )
    start.status[0] = OPEN
    return start


@kernel
def _hash(f: Any, owner: Any, step: Any) -> Any:
    mixed = np.int64(owner) * 1000003 + np.int64(step) * 7919
    return (mixed ^ (mixed >> 15)) & (len(f.bucket) - 1)


@kernel
def make_state(f: Any, node: Any) -> None:
    """Make a node a state, and open what is below it."""
    f.status[node] = STATE
    f.sizes[1] += 1
    output = f.output[f.step[node]]
    before, after = NOTHING, f.first_state[output]
    while after != NOTHING and after < node:
        before, after = after, f.next_state[after]
    f.next_state[node] = after
    if before == NOTHING:
        f.first_state[output] = node
    else:
        f.next_state[before] = node
    edge = f.head[node]
    while edge != NOTHING:
        _open(f, f.target[edge])
        edge = f.follow[edge]


@kernel
def _open(f: Any, node: Any) -> None:
    """Let a node wait among the open ones, a binary heap."""
    if f.status[node] != 0:
        return
    f.status[node] = OPEN
    place = f.sizes[0]
    f.sizes[0] += 1
    while place > 0 and f.heap[(place - 1) // 2] > node:
        f.heap[place] = f.heap[(place - 1) // 2]
        place = (place - 1) // 2
    f.heap[place] = node


@kernel
def _next_open(f: Any) -> Any:
    """Take the first open node."""
    found = f.heap[0]
    f.sizes[0] -= 1
    size = f.sizes[0]
    node = f.heap[size]
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and f.heap[below + 1] < f.heap[below]:
            below += 1
        if f.heap[below] >= node:
            break
        f.heap[place] = f.heap[below]
        place = below
    f.heap[place] = node
    f.status[found] = 0
    return found


@kernel
def _at_first(f: Any, edge: Any) -> Any:
    """Whether an edge is where it was in the tree."""
    return f.first_child[f.owner[edge]] <= edge < f.first_child[f.owner[edge] + 1]


@kernel
def _edge(f: Any, owner: Any, step: Any) -> Any:
    """Edge of a node by its step."""
    low, end = np.int64(f.first_child[owner]), np.int64(f.first_child[owner + 1])
    high = end
    while low < high:
        middle = (low + high) // 2
        if f.step[middle] < step:
            low = middle + 1
        else:
            high = middle
    if low < end and f.step[low] == step and f.owner[low] == owner:
        return low
    edge = np.int64(f.bucket[_hash(f, owner, step)])
    while edge != NOTHING and (f.owner[edge] != owner or f.step[edge] != step):
        edge = np.int64(f.chained[edge])
    return edge


@kernel
def _move(f: Any, edge: Any, owner: Any) -> None:
    """Give an edge to another node, as its last one."""
    if not _at_first(f, edge):
        place = _hash(f, f.owner[edge], f.step[edge])
        if f.bucket[place] == edge:
            f.bucket[place] = f.chained[edge]
        else:
            before = f.bucket[place]
            while f.chained[before] != edge:
                before = f.chained[before]
            f.chained[before] = f.chained[edge]
    f.owner[edge] = owner
    place = _hash(f, owner, f.step[edge])
    f.chained[edge] = f.bucket[place]
    f.bucket[place] = edge
    if f.head[owner] == NOTHING:
        f.head[owner] = edge
    else:
        f.follow[_last(f, owner)] = edge
    f.tail[owner] = edge
    f.follow[edge] = NOTHING


@kernel
def _last(f: Any, owner: Any) -> Any:
    """Last edge of a node that has some."""
    edge = f.tail[owner]
    if edge == 0:
        edge = f.head[owner]
        while f.follow[edge] != NOTHING:
            edge = f.follow[edge]
    return edge


@kernel
def merge(f: Any, state: Any, node: Any) -> None:
    """Merge an open node into a state, and open what comes below states by that."""
    f.target[node] = state
    stack = np.zeros((64, 2), np.int64)  # depth first: of two nodes folded together the first stays
    stack[0, 0], stack[0, 1] = state, f.head[node]
    top = 0
    while top >= 0:
        into, edge = stack[top]
        if edge == NOTHING:
            top -= 1
            continue
        stack[top, 1] = f.follow[edge]
        f.sizes[2] += 1
        known = _edge(f, into, f.step[edge])
        if known == NOTHING:
            _move(f, edge, into)
            if f.status[into] == STATE:
                _open(f, f.target[edge])
            continue
        f.seen[known] += f.seen[edge]
        top += 1
        if top == len(stack):
            stack = np.concatenate((stack, np.zeros_like(stack)))
        stack[top, 0], stack[top, 1] = f.target[known], f.head[f.target[edge]]


@kernel
def settle(f: Any, data: Any, width: Any, most: Any) -> None:
    """Look at open nodes: each is merged into the first state that fits, or is a state itself.

    Stop where nothing is open, or after about `most` pairs compared and edges folded.
    """
    until = data.tally[0] + f.sizes[2] + most
    while f.sizes[0] > 0 and data.tally[0] + f.sizes[2] < until:
        node = _next_open(f)
        state = f.first_state[f.output[f.step[node]]]
        while state != NOTHING and not fits(data, np.int64(state), np.int64(node), width):
            state = f.next_state[state]
        if state == NOTHING:
            make_state(f, node)
        else:
            merge(f, state, node)


@kernel
def edges_of(f: Any, nodes: Any) -> Any:
    """Edges of some nodes, one after another."""
    count = 0
    for node in nodes:
        edge = f.head[node]
        while edge != NOTHING:
            count += 1
            edge = f.follow[edge]
    found = np.empty(count, np.int64)
    count = 0
    for node in nodes:
        edge = f.head[node]
        while edge != NOTHING:
            found[count] = edge
            count += 1
            edge = f.follow[edge]
    return found
