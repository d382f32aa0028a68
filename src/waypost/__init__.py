"""Which steps mattered on the way to the goal?

>>> import waypost
>>> from waypost.cases import loan
>>> waypost.state_importance(loan(), target="Granted", scope="all")["Application"]
Bounds(lower=0.0, upper=1.0)
"""

from waypost.errors import WaypostError
from waypost.formats import read_mdp
from waypost.importance import (
    Bounds,
    PathImportance,
    StateImportance,
    absolute_importance,
    explain,
    group_importance,
    path_importance,
    state_importance,
)
from waypost.model import MDP, Strategy
from waypost.solve import reachability

__all__ = [
    "MDP",
    "Bounds",
    "PathImportance",
    "StateImportance",
    "Strategy",
    "WaypostError",
    "absolute_importance",
    "explain",
    "group_importance",
    "path_importance",
    "reachability",
    "read_mdp",
    "state_importance",
]
