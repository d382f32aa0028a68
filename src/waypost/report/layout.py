"""Where the states of a picture stand: Graphviz where it is installed, layers of our own where it is not.

Names never reach Graphviz, only numbers and sizes, so that no name can disturb it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Point = tuple[float, float]
Direction = Literal["wide", "tall"]
LayoutEngine = Literal["auto", "graphviz", "layers"]

GAP = 34.0  # between neighbours of a layer
STEP = 70.0  # between layers, for the arrows and their labels


@dataclass(frozen=True)
class Layout:
    """A picture's geometry; y grows downwards, and curves are cubic Bezier points: 1 + 3k of them."""

    width: float
    height: float
    centres: tuple[Point, ...]  # one per node
    curves: tuple[tuple[Point, ...], ...]  # one per arrow, from border to border


def place(
    sizes: Sequence[tuple[float, float]],
    arrows: Sequence[tuple[int, int]],
    *,
    direction: Direction = "wide",
    engine: LayoutEngine = "auto",
) -> Layout:
    """Place nodes of the given sizes so that arrows run forward; node 0 comes first.

    >>> picture = place([(80, 30)] * 3, [(0, 1), (1, 2)], engine="layers")
    >>> picture.centres
    ((40.0, 15.0), (190.0, 15.0), (340.0, 15.0))
    """
    if engine == "auto":
        engine = "graphviz" if importlib.util.find_spec("pygraphviz") else "layers"
    make = _graphviz if engine == "graphviz" else _layers
    return make(sizes, arrows, direction)


def _graphviz(sizes: Sequence[tuple[float, float]], arrows: Sequence[tuple[int, int]], direction: Direction) -> Layout:
    import pygraphviz

    inch = 72.0
    graph = pygraphviz.AGraph(directed=True, strict=False)
    graph.graph_attr.update(
        rankdir="LR" if direction == "wide" else "TB",
        nodesep=GAP / 2 / inch,
        ranksep=STEP / inch if direction == "wide" else STEP * 0.7 / inch,
    )
    graph.node_attr.update(shape="box", fixedsize="true", label="")
    for node, (width, height) in enumerate(sizes):
        graph.add_node(node, width=width / inch, height=height / inch)
    for key, (source, target) in enumerate(arrows):
        graph.add_edge(source, target, key=key, arrowsize=0.01, weight=1)
    graph.layout(prog="dot")
    box = [float(x) for x in graph.graph_attr["bb"].split(",")]
    height = box[3]

    def point(text: str) -> Point:
        x, y = text.split(",")
        return round(float(x), 1), round(height - float(y), 1)

    centres = tuple(point(graph.get_node(node).attr["pos"]) for node in range(len(sizes)))
    curves = []
    for key, (source, target) in enumerate(arrows):
        text = graph.get_edge(source, target, key=key).attr["pos"].replace("\\\n", "")
        curves.append(tuple(point(part) for part in text.split() if not part.startswith(("e,", "s,"))))
    return Layout(box[2], height, centres, tuple(curves))


def _layers(sizes: Sequence[tuple[float, float]], arrows: Sequence[tuple[int, int]], direction: Direction) -> Layout:
    """Longest-path layers, ordered by the mean position of their neighbours; long arrows keep a lane in every layer."""
    turned = [(h, w) for w, h in sizes] if direction == "tall" else list(sizes)
    forward = _without_cycles(len(sizes), arrows)
    depth = _depths(len(sizes), forward)
    lanes, links = _lanes(forward, depth)
    turned += [(1.0, 6.0)] * (len(depth) - len(sizes))
    layers = _ordered(depth, links)
    centres: list[Point] = [(0.0, 0.0)] * len(depth)
    along = 0.0
    across_total = max(sum(turned[n][1] + GAP for n in layer) - GAP for layer in layers)
    for layer in layers:
        thick = max(turned[n][0] for n in layer)
        across = (across_total - sum(turned[n][1] + GAP for n in layer) + GAP) / 2
        for n in layer:
            centres[n] = (along + thick / 2, across + turned[n][1] / 2)
            across += turned[n][1] + GAP
        along += thick + STEP
    curves = [_curve(centres, turned, arrow, lanes.get(arrow, ())) for arrow in arrows]
    width, height = along - STEP, across_total
    if direction == "tall":
        centres = [(y, x) for x, y in centres]
        curves = [tuple((y, x) for x, y in curve) for curve in curves]
        width, height = height, width
    return Layout(width, height, tuple(centres[: len(sizes)]), tuple(curves))


def _without_cycles(n: int, arrows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Arrows that remain once those closing a cycle of the depth-first search are left out."""
    after: list[list[int]] = [[] for _ in range(n)]
    for source, target in arrows:
        after[source].append(target)
    state = [0] * n  # 0 new, 1 on the stack, 2 done
    kept = []
    for root in range(n):
        if state[root]:
            continue
        stack = [(root, iter(after[root]))]
        state[root] = 1
        while stack:
            node, rest = stack[-1]
            target = next(rest, -1)
            if target < 0:
                state[node] = 2
                stack.pop()
                continue
            if state[target] != 1:
                kept.append((node, target))
            if state[target] == 0:
                state[target] = 1
                stack.append((target, iter(after[target])))
    return kept


def _depths(n: int, forward: Sequence[tuple[int, int]]) -> list[int]:
    waiting = [0] * n
    after: list[list[int]] = [[] for _ in range(n)]
    for source, target in forward:
        waiting[target] += 1
        after[source].append(target)
    depth = [0] * n
    ready = [node for node in range(n) if not waiting[node]]
    for node in ready:  # grows while it is read
        for target in after[node]:
            depth[target] = max(depth[target], depth[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return depth


def _lanes(
    forward: Sequence[tuple[int, int]], depth: list[int]
) -> tuple[dict[tuple[int, int], list[int]], list[tuple[int, int]]]:
    """Put an invisible node into every layer that an arrow passes; `depth` grows by them."""
    lanes: dict[tuple[int, int], list[int]] = {}
    links: list[tuple[int, int]] = []
    for source, target in forward:
        lane = list(range(len(depth), len(depth) + depth[target] - depth[source] - 1))
        depth.extend(range(depth[source] + 1, depth[target]))
        lanes[source, target] = lane
        links += pairwise([source, *lane, target])
    return lanes, links


def _ordered(depth: Sequence[int], forward: Sequence[tuple[int, int]]) -> list[list[int]]:
    layers: list[list[int]] = [[] for _ in range(max(depth) + 1)]
    for node, d in enumerate(depth):
        layers[d].append(node)
    near: list[list[int]] = [[] for _ in depth]
    for source, target in forward:
        near[source].append(target)
        near[target].append(source)
    place_of = [0.0] * len(depth)
    for turn in range(8):
        for layer in layers if turn % 2 == 0 else reversed(layers):
            means = {n: sum(place_of[m] for m in near[n]) / len(near[n]) if near[n] else place_of[n] for n in layer}
            layer.sort(key=lambda n, means=means: (means[n], n))  # type: ignore[misc]
            for k, n in enumerate(layer):
                place_of[n] = (k + 0.5) / len(layer)
    return layers


def _curve(
    centres: Sequence[Point], sizes: Sequence[tuple[float, float]], arrow: tuple[int, int], lane: Sequence[int]
) -> tuple[Point, ...]:
    source, target = arrow
    (x, y), (u, v) = centres[source], centres[target]
    width, height = sizes[source]
    if source == target:
        top = y - height / 2
        return ((x - 10, top), (x - 24, top - 26), (x + 24, top - 26), (x + 10, top))
    if u > x:  # forward: from the right side to the left side
        stops = [(x + width / 2, y), *(centres[node] for node in lane), (u - sizes[target][0] / 2, v)]
        curve = [stops[0]]
        for a, b in pairwise(stops):
            bend = (b[0] - a[0]) / 2
            curve += [(a[0] + bend, a[1]), (b[0] - bend, b[1]), b]
        return tuple(curve)
    # backward or within a layer: out below, in below
    drop = max(y + height / 2, v + sizes[target][1] / 2) + GAP
    start, end = (x, y + height / 2), (u, v + sizes[target][1] / 2)
    return (start, (x, drop), (u, drop), end)
