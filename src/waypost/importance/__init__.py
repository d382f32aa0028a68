"""The paper: importance of states and paths, and nothing but the paper."""

from waypost.importance.paths import path_importance
from waypost.importance.results import Bounds, Explanation, Kind, PathImportance, Scope, StateImportance, Witnesses
from waypost.importance.states import absolute_importance, explain, group_importance, state_importance

__all__ = [
    "Bounds",
    "Explanation",
    "Kind",
    "PathImportance",
    "Scope",
    "StateImportance",
    "Witnesses",
    "absolute_importance",
    "explain",
    "group_importance",
    "path_importance",
    "state_importance",
]
