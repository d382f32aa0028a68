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
    from waypost.cases import case
    from waypost.environments import count_mdp, explore, rollouts
    from waypost.errors import WaypostError
    from waypost.formats import read_mdp, write_mdp
    from waypost.formats.strategies import read_strategy, write_strategy
    from waypost.importance import (
        Bounds,
        Explanation,
        Kind,
        PathImportance,
        Question,
        StateImportance,
        Witnesses,
        absolute_importance,
        explain,
        group_importance,
        path_importance,
        state_importance,
    )
    from waypost.learn import learn_mdp, observed_strategy
    from waypost.logs import read_log
    from waypost.model import MDP, Strategy
    from waypost.solve import reachability
    from waypost.uncertainty import bootstrap

__all__ = [
    "MDP",
    "Bounds",
    "Explanation",
    "Kind",
    "PathImportance",
    "Question",
    "StateImportance",
    "Strategy",
    "WaypostError",
    "Witnesses",
    "absolute_importance",
    "bootstrap",
    "case",
    "count_mdp",
    "explain",
    "explore",
    "group_importance",
    "learn_mdp",
    "observed_strategy",
    "path_importance",
    "reachability",
    "read_log",
    "read_mdp",
    "read_strategy",
    "report",
    "rollouts",
    "state_importance",
    "write_mdp",
    "write_strategy",
]

_HOME = {  # where each public name lives; imported when it is first used, so that `waypost --help` answers at once
    "MDP": "waypost.model",
    "Strategy": "waypost.model",
    "WaypostError": "waypost.errors",
    "bootstrap": "waypost.uncertainty",
    "case": "waypost.cases",
    "count_mdp": "waypost.environments",
    "explore": "waypost.environments",
    "learn_mdp": "waypost.learn",
    "observed_strategy": "waypost.learn",
    "reachability": "waypost.solve",
    "read_log": "waypost.logs",
    "read_mdp": "waypost.formats",
    "read_strategy": "waypost.formats.strategies",
    "rollouts": "waypost.environments",
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
