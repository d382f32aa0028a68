"""Which steps mattered on the way to the goal?

>>> import waypost
>>> from waypost.cases import loan
>>> waypost.state_importance(loan(), target="Granted", scope="all")["Application"]
Bounds(lower=0.0, upper=1.0)
"""

from waypost.importance import absolute_importance, group_importance, path_importance, state_importance
from waypost.solve import reachability
