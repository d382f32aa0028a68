"""The case studies, each one a readable recipe."""

from waypost.cases.epidemic import epidemic
from waypost.cases.ex1 import ex1
from waypost.cases.gridworld import gridworld
from waypost.cases.loan import loan
from waypost.cases.loan_log import loan_log
from waypost.cases.mssd import session_log, share_of
from waypost.cases.registry import CASES, case, find_case, is_case, prepare_case, recipe, recipe_text
from waypost.cases.sessions import listening_sessions

__all__ = [
    "CASES",
    "case",
    "epidemic",
    "ex1",
    "find_case",
    "gridworld",
    "is_case",
    "listening_sessions",
    "loan",
    "loan_log",
    "prepare_case",
    "recipe",
    "recipe_text",
    "session_log",
    "share_of",
]
