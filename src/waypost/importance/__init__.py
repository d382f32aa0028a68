"""The paper, importance of states and paths; and what follows from it: choices, decisions, what-ifs."""

from waypost.importance.asking import (
    absolute_importance,
    group_importance,
    path_importance,
    state_importance,
)
from waypost.importance.choices import ChoiceImportance, choice_importance
from waypost.importance.deciding import Decision, Decisions, decisions
from waypost.importance.explaining import explain
from waypost.importance.groups import group_witness, states_and_groups, with_groups
from waypost.importance.question import Question, Scope
from waypost.importance.results import Bounds, Explanation, Kind, StateImportance, Witnesses
from waypost.importance.single import PathImportance
from waypost.importance.whatifs import SuccessAfter, SuccessWithout, success_after, success_without, without

__all__ = [
    "Bounds",
    "ChoiceImportance",
    "Decision",
    "Decisions",
    "Explanation",
    "Kind",
    "PathImportance",
    "Question",
    "Scope",
    "StateImportance",
    "SuccessAfter",
    "SuccessWithout",
    "Witnesses",
    "absolute_importance",
    "choice_importance",
    "decisions",
    "explain",
    "group_importance",
    "group_witness",
    "path_importance",
    "state_importance",
    "states_and_groups",
    "success_after",
    "success_without",
    "with_groups",
    "without",
]
