"""Which steps mattered on the way to the goal?

>>> import waypost
>>> from waypost.cases import loan
>>> waypost.state_importance(loan(), target="Granted", scope="all")["Application"]
Bounds(lower=0.0, upper=1.0)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from waypost import report
    from waypost.agents import AgentExplanation, explain_agent
    from waypost.cases import case
    from waypost.environments import count_mdp, explore, rollouts
    from waypost.errors import WaypostError
    from waypost.formats import read_mdp, write_mdp
    from waypost.formats.strategies import read_strategy, write_strategy
    from waypost.importance import (
        Bounds,
        ChoiceImportance,
        Decisions,
        Explanation,
        Kind,
        PathImportance,
        Question,
        StateImportance,
        Witnesses,
        absolute_importance,
        choice_importance,
        decisions,
        explain,
        group_importance,
        path_importance,
        state_importance,
        success_after,
        success_without,
        without,
    )
    from waypost.importance.variables import VariableImportance, by_variable
    from waypost.learn import learn_mdp, observed_strategy
    from waypost.logs import read_log
    from waypost.model import MDP, Strategy
    from waypost.patterns import Pattern, PatternImportance, find_patterns, pattern_importance, usual_ways
    from waypost.solve import reachability
    from waypost.story import explain_log, find_log_patterns
    from waypost.uncertainty import bootstrap

__all__ = [
    "MDP",
    "AgentExplanation",
    "Bounds",
    "ChoiceImportance",
    "Decisions",
    "Explanation",
    "Kind",
    "PathImportance",
    "Pattern",
    "PatternImportance",
    "Question",
    "StateImportance",
    "Strategy",
    "VariableImportance",
    "WaypostError",
    "Witnesses",
    "absolute_importance",
    "bootstrap",
    "by_variable",
    "case",
    "choice_importance",
    "count_mdp",
    "decisions",
    "explain",
    "explain_agent",
    "explain_log",
    "explore",
    "find_log_patterns",
    "find_patterns",
    "group_importance",
    "learn_mdp",
    "observed_strategy",
    "path_importance",
    "pattern_importance",
    "reachability",
    "read_log",
    "read_mdp",
    "read_strategy",
    "report",
    "rollouts",
    "state_importance",
    "success_after",
    "success_without",
    "usual_ways",
    "without",
    "write_mdp",
    "write_strategy",
]

_HOME = {  # where each public name lives; imported when it is first used, so that `waypost --help` answers at once
    "MDP": "waypost.model",
    "Pattern": "waypost.patterns",
    "PatternImportance": "waypost.patterns",
    "Strategy": "waypost.model",
    "WaypostError": "waypost.errors",
    "AgentExplanation": "waypost.agents",
    "VariableImportance": "waypost.importance.variables",
    "bootstrap": "waypost.uncertainty",
    "by_variable": "waypost.importance.variables",
    "case": "waypost.cases",
    "count_mdp": "waypost.environments",
    "explain_agent": "waypost.agents",
    "explain_log": "waypost.story",
    "explore": "waypost.environments",
    "find_log_patterns": "waypost.story",
    "find_patterns": "waypost.patterns",
    "learn_mdp": "waypost.learn",
    "observed_strategy": "waypost.learn",
    "pattern_importance": "waypost.patterns",
    "reachability": "waypost.solve.reachability",
    "read_log": "waypost.logs",
    "read_mdp": "waypost.formats",
    "read_strategy": "waypost.formats.strategies",
    "rollouts": "waypost.environments",
    "usual_ways": "waypost.patterns",
    "write_mdp": "waypost.formats",
    "write_strategy": "waypost.formats.strategies",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("waypost")
    if name == "report":
        return importlib.import_module("waypost.report")
    if name not in __all__:
        raise AttributeError(f"module 'waypost' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME.get(name, "waypost.importance")), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
