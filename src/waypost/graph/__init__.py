"""Qualitative facts: reachable sets, prob-0 and prob-1, components, dominators. Everything here is exact."""

from waypost.graph.arrows import Graph
from waypost.graph.avoiding import inevitable, only_one_way
from waypost.graph.components import Components, end_components, strong_components
from waypost.graph.corridors import corridors
from waypost.graph.dominators import dominators
from waypost.graph.reach import can_reach, distances, prob0a, prob0e, prob1a, prob1e, reachable, stay
from waypost.model.arrays import Ints, Mask

__all__ = [
    "Components",
    "Graph",
    "Ints",
    "Mask",
    "can_reach",
    "corridors",
    "distances",
    "dominators",
    "end_components",
    "inevitable",
    "only_one_way",
    "prob0a",
    "prob0e",
    "prob1a",
    "prob1e",
    "reachable",
    "stay",
    "strong_components",
]
