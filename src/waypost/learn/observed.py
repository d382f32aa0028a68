"""The process as it was run: every activity under the observed strategy of a learned model.

Under one strategy the model is a Markov chain, and an activity is the set of its states. With ``v = Pr(F t)``,
``x = Pr(F t, never the activity)`` and ``y = Pr(the activity is passed)``::

    observed importance   (v - x) / v            share of the good runs that pass it
    among the others      (y - v + x) / (1 - v)  share of the bad runs that pass it
    success after it      (v - x) / y
    success without it    x / (1 - y)

One factorisation of the chain without the activity gives `x` and `y`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, identity

from waypost.learn.mdp import observed_strategy
from waypost.logs import Log
from waypost.model import MDP, induced_chain
from waypost.model.arrays import Mask
from waypost.model.traces import Naming, written


@dataclass(frozen=True)
class Observed:
    """An activity in the model as the process was run; None where a share is one of nothing."""

    good_share: float | None
    bad_share: float | None
    success_after: float | None
    success_without: float | None


def activity_states(mdp: MDP, log: Log, *, naming: Naming = "plain") -> dict[str, Mask]:
    """(S,) the states of each activity of a log in the model learned from it, the most frequent activity first.

    Passing an activity is passing any of its states. Where the process begins, whose turn it is and how it ended are
    no activities.

    >>> from waypost.learn import learn_mdp
    >>> from waypost.logs import EventLog
    >>> log = EventLog.from_sequences([["ask", "pay"]] * 30 + [["ask", "ask"]] * 10)
    >>> mdp = learn_mdp(log, eps=0)
    >>> {name: int(states.sum()) for name, states in activity_states(mdp, log).items()}
    {'ask': 2, 'pay': 1}
    """
    later = np.arange(mdp.n_states) != mdp.initial
    nowhere = np.zeros(mdp.n_states, bool)
    return {name: mdp.labels.get(written(name, naming), nowhere) & later for name in log.activities()}


def observed_activities(mdp: MDP, target: Mask, groups: Mapping[str, Mask]) -> dict[str, Observed]:
    """Every activity under the observed strategy."""
    chain = induced_chain(mdp, observed_strategy(mdp).modes[0])
    reached = passing(chain, target, np.zeros_like(target))[0][mdp.initial]
    found = {}
    for name, states in groups.items():
        without, passed = (float(part[mdp.initial]) for part in passing(chain, target, states))
        both = max(0.0, float(reached) - without)
        found[name] = Observed(
            good_share=_ratio(both, float(reached)),
            bad_share=_ratio(max(0.0, passed - both), 1 - float(reached)),
            success_after=_ratio(both, passed),
            success_without=_ratio(without, 1 - passed),
        )
    return found


def passing(chain: csr_array, target: Mask, states: Mask) -> tuple[Any, Any]:
    """(S,) probability of the target before any of `states`, and of these states at all."""
    from scipy.sparse.linalg import splu  # takes as long to import as all the rest, and a model of no log needs none

    stopped = target | states
    final = np.asarray(chain.diagonal() == 1.0)
    going = np.flatnonzero(~(stopped | final) & _leading(chain, stopped))
    inside = chain[going]
    wanted = np.column_stack([inside @ (target & ~states).astype(float), inside @ states.astype(float)])
    matrix = csc_array(identity(len(going), format="csr") - inside[:, going])
    solved = splu(matrix).solve(wanted) if len(going) else wanted
    before, passed = (target & ~states).astype(float), states.astype(float)
    before[going], passed[going] = solved[:, 0], solved[:, 1]
    return before, passed


def _leading(chain: csr_array, goal: Mask) -> Mask:
    """(S,) from where `goal` can be reached; elsewhere runs may go round in circles for ever."""
    from scipy.sparse.csgraph import breadth_first_order

    n = chain.shape[0]
    ends = np.flatnonzero(goal)
    entries = coo_array(chain)
    rows, columns = np.append(entries.col, np.full(len(ends), n)), np.append(entries.row, ends)
    backward = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n + 1, n + 1))
    found = np.zeros(n + 1, bool)
    found[breadth_first_order(backward, n, return_predecessors=False)] = True
    return found[:n]


def _ratio(part: float, whole: float) -> float | None:
    return min(1.0, part / whole) if whole > 1e-12 else None
