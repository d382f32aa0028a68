"""The paper, importance of states and paths; and what follows from it: choices, decisions, what-ifs."""

from waypost.importance.choices import ChoiceImportance, choice_importance
from waypost.importance.decisions import Decision, Decisions, decisions
from waypost.importance.paths import path_importance
from waypost.importance.results import Bounds, Explanation, PathImportance, Scope, StateImportance
from waypost.importance.states import absolute_importance, explain, group_importance, state_importance
from waypost.importance.whatifs import SuccessAfter, SuccessWithout, success_after, success_without, without

__all__ = [
    "Bounds",
    "ChoiceImportance",
    "Decision",
    "Decisions",
    "Explanation",
    "PathImportance",
    "Scope",
    "StateImportance",
    "SuccessAfter",
    "SuccessWithout",
    "absolute_importance",
    "choice_importance",
    "decisions",
    "explain",
    "group_importance",
    "path_importance",
    "state_importance",
    "success_after",
    "success_without",
    "without",
]
