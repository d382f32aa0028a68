"""The paper: importance of states and paths, and nothing but the paper."""

from waypost.importance.asking import (
    absolute_importance,
    explain,
    group_importance,
    path_importance,
    state_importance,
)
from waypost.importance.question import Question, Scope
from waypost.importance.results import Bounds, Explanation, Kind, PathImportance, StateImportance, Witnesses

__all__ = [
    "Bounds",
    "Explanation",
    "Kind",
    "PathImportance",
    "Question",
    "Scope",
    "StateImportance",
    "Witnesses",
    "absolute_importance",
    "explain",
    "group_importance",
    "path_importance",
    "state_importance",
]
