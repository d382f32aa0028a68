"""The paper: importance of states and paths, and nothing but the paper."""

from waypost.importance.results import Bounds, Explanation, PathImportance, StateImportance

__all__ = ["Bounds", "Explanation", "PathImportance", "StateImportance"]
