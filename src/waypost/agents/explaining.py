"""An agent beside the best: how often it succeeds, where it loses the goal, and how two agents differ.

With ``vmax`` the greatest probability of the target, what an agent loses is the sum of what it loses by its decisions
and by going round for ever (`waypost.decisions`). Every run of an agent has a *fate*: it reaches the target, or it
settles for ever in states from which it does not, hopeless ones or ones it only had to leave. "Best" is the greatest
probability of the target, however long it takes and without discount; `waypost.model.steps.within` counts steps.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from waypost.errors import require
from waypost.formats.strategies import read_strategy
from waypost.importance import Decisions, StateImportance, decisions, state_importance
from waypost.importance.deciding import expected_visits
from waypost.model import MDP, Strategy, Target, stopped_chain, unfolded_chain, unfolded_start
from waypost.solve import reachability


class Fate(NamedTuple):
    """Where runs of an agent settle without the target."""

    states: tuple[str, ...]  # in which they stay for ever
    probability: float
    hope: float  # greatest probability of the target from there; above 0, the agent only goes round


class Difference(NamedTuple):
    """A state in which two agents do different things."""

    state: str
    best: tuple[str, ...]
    taken: Mapping[str, float]
    taken_by_other: Mapping[str, float]
    cost: float  # of success, over all visits
    cost_to_other: float


@dataclass(frozen=True, eq=False)
class AgentExplanation:
    """An agent beside the best, and beside another one.

    Attributes
    ----------
    success, best
        Probability of the target for the agent, and the greatest there is.
    decisions
        Every state with a choice: what each action is worth, what the agent does and what that costs.
    fates
        Where its runs settle without the target, most likely first.
    importance
        Importance of the states under the agent; None for one that never succeeds, of which it is undefined.
    against
        The other agent, explained the same way.
    """

    mdp: MDP
    target: str
    strategy: Strategy
    decisions: Decisions
    fates: tuple[Fate, ...]
    importance: StateImportance | None
    against: AgentExplanation | None = None

    def __repr__(self) -> str:
        other = "" if self.against is None else f", against={self.against.success:.6g}"
        return f"AgentExplanation({self.target}, success={self.success:.6g}, best={self.best:.6g}{other})"

    @property
    def success(self) -> float:
        """Probability of the target for the agent."""
        return self.decisions.reached

    @property
    def best(self) -> float:
        """Greatest probability of the target."""
        return self.decisions.reachability

    @property
    def differences(self) -> tuple[Difference, ...]:
        """States that either agent meets and in which they do different things, by what is lost there."""
        if self.against is None:
            return ()
        others = {other.state: other for other in self.against.decisions}
        found = [
            Difference(d.state, d.best, d.taken, other.taken, d.cost, other.cost)
            for d in self.decisions
            if (other := others[d.state]).taken != d.taken and max(d.met, other.met) > 0
        ]
        return tuple(sorted(found, key=lambda d: -max(d.cost, d.cost_to_other)))

    def to_frame(self) -> Any:
        """Where the agent departs from the best, the most costly first, or where it differs from the other."""
        pandas = require("pandas", "table", "to_frame()")
        if self.against is not None:
            rows = [
                {**d._asdict(), "best": " or ".join(d.best), "taken": dict(d.taken), "taken_by_other": dict(d[3])}
                for d in self.differences
            ]
            return pandas.DataFrame(rows, columns=Difference._fields).set_index("state")
        rows = [
            {"state": d.state, "best": " or ".join(d.best), "taken": dict(d.taken), "met": d.met, "cost": d.cost}
            for d in self.decisions.departures
        ]
        return pandas.DataFrame(rows, columns=["state", "best", "taken", "met", "cost"]).set_index("state")

    def summary(self, top: int = 5) -> str:
        """The explanation in words, at most `top` lines of each kind."""
        return str(importlib.import_module("waypost.report.agents").agent_summary(self, top))

    def _repr_markdown_(self) -> str:
        return self.summary().replace("\n", "  \n")


def explain_agent(mdp: MDP, agent: Any, *, target: Target, against: Any = None) -> AgentExplanation:
    """Explain an agent: its success beside the best possible, and where and why it loses the rest.

    Parameters
    ----------
    agent
        A `Strategy`, or anything `waypost.read_strategy` takes; read it there where it needs `observe` or `table`.
    against
        Another agent, to stand beside it.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> hasty = {"s0": "Apply", "Error": "Quit", "Consultation": "Apply", "Rework": "Submit"}
    >>> found = explain_agent(loan(), hasty, target="Granted", against=Strategy.uniform(loan()))
    >>> found
    AgentExplanation('Granted', success=0.931, best=0.98, against=0.57575)
    >>> [(d.state, d.best, round(d.cost, 3)) for d in found.decisions.departures]
    [('Error', ('Consult',), 0.049)]
    >>> [(fate.states, round(fate.probability, 3)) for fate in found.fates]
    [(('Rejected',), 0.069)]
    """
    strategy = read_strategy(mdp, agent)
    found = decisions(mdp, target=target, strategy=strategy)
    return AgentExplanation(
        mdp=mdp,
        target=found.target,
        strategy=strategy,
        decisions=found,
        fates=_fates(strategy, target),
        importance=state_importance(mdp, target=target, scope=strategy) if found.reached > 0 else None,
        against=None if against is None else explain_agent(mdp, against, target=target),
    )


def _fates(strategy: Strategy, target: Target) -> tuple[Fate, ...]:
    """Closed sets of states in which runs settle before the target, and how likely each of them is.

    The chain is stopped at the target; a set is closed if no arrow leaves it.
    """
    mdp = strategy.mdp
    wanted = np.tile(mdp.where(target), strategy.memory)
    start = unfolded_start(strategy)
    chain = stopped_chain(unfolded_chain(strategy), wanted)
    visits = expected_visits(chain, start, wanted)
    settled = np.isinf(visits)  # the closed sets, entered once
    passing = np.where(settled, 0.0, visits)
    passing[wanted] = 0.0
    entered = np.where(settled, start + chain.T @ passing, 0.0)
    _, part = connected_components(chain, directed=True, connection="strong")
    hope = np.tile(reachability(mdp, target=target, optimum="max"), strategy.memory)
    found = []
    for closed in np.unique(part[settled]).tolist():
        members = np.flatnonzero(part == closed)
        states = tuple(mdp.states[s] for s in np.unique(members % mdp.n_states).tolist())
        found.append(Fate(states, min(1.0, float(entered[members].sum())), float(hope[members].max())))
    return tuple(sorted(found, key=lambda fate: -fate.probability))
