"""An agent beside the best: how often it succeeds, where it loses the goal, and how two agents differ.

With ``vmax`` the greatest probability of the target, what an agent loses is the sum of what it loses by its decisions
and by going round for ever (`waypost.decisions`). Every run of an agent has a *fate*: it reaches the target, or it
settles for ever in states from which it does not, hopeless ones or ones it only had to leave. "Best" is the greatest
probability of the target, however long it takes and without discount. With ``within=100`` both are asked to be there in
100 steps: a place is then a decision at every step, and what is lost there is added up.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from waypost.arguments import checked
from waypost.environments.ends import fewest_steps, model_steps, out_of_time
from waypost.errors import UndefinedImportanceError, require
from waypost.formats.policies import Observe, TableOf
from waypost.formats.strategies import read_strategy
from waypost.importance import Decisions, StateImportance, decisions, state_importance
from waypost.importance.deciding import CLOSE, Decision, expected_visits
from waypost.model import MDP, Strategy, Target, stopped_chain, unfolded_chain, unfolded_start
from waypost.model.checking import names_of
from waypost.model.steps import STEP, in_time
from waypost.solve import reachability


class Fate(NamedTuple):
    """Where runs of an agent settle without the target."""

    states: tuple[str, ...]  # in which they stay for ever
    probability: float
    hope: float  # greatest probability of the target from there; above 0, the agent only goes round


class Departure(NamedTuple):
    """A place in which an agent does not do the best, over all steps at which it stands there."""

    state: str
    best: tuple[str, ...]  # where most is lost
    taken: Mapping[str, float]  # how often it takes each action
    visits: float  # how often it stands there, on average
    cost: float  # of success, over all visits


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
    mdp, target, strategy
        What is explained: the agent is a strategy of the model.
    success, best
        Probability of the target for the agent, and the greatest there is.
    decisions
        Every state with a choice: what each action is worth, what the agent does and what that costs.
    fates
        Where its runs settle without the target, most likely first.
    steps, fewest
        Steps that its runs take on average until the target is reached or lost for ever, and those of the shortest run
        to the target there is.
    importance
        Importance of the states under the agent; None for one that never succeeds, of which it is undefined.
    against
        The other agent, explained the same way.
    within, timeless
        Steps in which the target is to be reached, and the model that does not count them; None without such a limit.

    Examples
    --------
    >>> from waypost import Strategy, explain_agent
    >>> from waypost.cases import loan
    >>> explain_agent(loan(), Strategy.uniform(loan()), target="Granted")
    AgentExplanation('Granted', success=0.57575, best=0.98)
    """

    mdp: MDP
    target: str
    strategy: Strategy
    decisions: Decisions
    fates: tuple[Fate, ...]
    steps: float
    fewest: int | None
    importance: StateImportance | None
    against: AgentExplanation | None = None
    within: int | None = None  # steps in which the target is to be reached
    timeless: MDP | None = None  # the model that does not count them

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
    def places(self) -> tuple[Departure, ...]:
        """What the agent does in every place that has a choice, the most costly first."""
        found: dict[str, list[Decision]] = {}
        for decision in self.decisions:
            found.setdefault(self.place(decision.state), []).append(decision)
        places = [_departure(name, at) for name, at in found.items()]
        return tuple(sorted(places, key=lambda place: -place.cost))

    @property
    def departures(self) -> tuple[Departure, ...]:
        """Places in which the agent departs from the best, the most costly first."""
        departing = {self.place(decision.state) for decision in self.decisions.departures}
        return tuple(place for place in self.places if place.state in departing)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Places that either agent meets and in which they do different things, by what is lost there."""
        if self.against is None:
            return ()
        theirs = {place.state: place for place in self.against.places}
        apart = [
            Difference(mine.state, mine.best, mine.taken, other.taken, mine.cost, other.cost)
            for mine in self.places
            if max(mine.visits, (other := theirs[mine.state]).visits) > 0 and not _alike(mine.taken, other.taken)
        ]
        return tuple(sorted(apart, key=lambda d: -max(d.cost, d.cost_to_other)))

    @property
    def world(self) -> MDP:
        """The model as it was given."""
        return self.mdp if self.timeless is None else self.timeless

    @property
    def late(self) -> float:
        """Probability that the time is up before the target is reached or lost; 0 without a limit."""
        return sum(fate.probability for fate in self.fates if self.is_late(fate))

    def is_late(self, fate: Fate) -> bool:
        """Whether runs end there only because the time is up."""
        return self.within is not None and not self.world.is_final[self.world.state(self.place(fate.states[0]))]

    def place(self, state: str) -> str:
        """Name of a state without the step at which it is met."""
        return state if self.within is None else state.rpartition(f", {STEP}")[0]

    def to_frame(self) -> Any:
        """Where the agent departs from the best, the most costly first, or where it differs from the other."""
        pandas = require("pandas", "table", "to_frame()")
        if self.against is not None:
            rows = [
                {**d._asdict(), "best": " or ".join(d.best), "taken": dict(d.taken), "taken_by_other": dict(d[3])}
                for d in self.differences
            ]
            return pandas.DataFrame(rows, columns=Difference._fields).set_index("state")
        rows = [{**d._asdict(), "best": " or ".join(d.best), "taken": dict(d.taken)} for d in self.departures]
        return pandas.DataFrame(rows, columns=Departure._fields).set_index("state")

    def plot(self, **look: Any) -> Any:
        """Map with arrows, where states have coordinates (`waypost.report.plot_agent`)."""
        return importlib.import_module("waypost.report.agentmap").plot_agent(self, **look)

    def summary(self, top: int = 5) -> str:
        """The explanation in words, at most `top` lines of each kind."""
        return str(importlib.import_module("waypost.report.agents").agent_summary(self, top))

    def _repr_markdown_(self) -> str:
        return self.summary().replace("\n", "  \n")


@checked
def explain_agent(
    mdp: MDP,
    agent: Any,
    *,
    target: Target,
    against: Any = None,
    within: int | None = None,
    table: TableOf | None = None,
    observe: Observe | None = None,
) -> AgentExplanation:
    """Explain an agent: its success beside the best possible, and where and why it loses the rest.

    Parameters
    ----------
    mdp
        The model of the environment.
    agent
        A `Strategy`, or anything `waypost.read_strategy` takes.
    target
        Labels or names of states; any of them is the goal.
    against
        Another agent, to stand beside it.
    within
        Steps in which the target is to be reached, by the agent and by the best; as many as it takes without.
    table, observe
        How to read the agents, as in `waypost.read_strategy`.

    Returns
    -------
    AgentExplanation
        Success, decisions, what becomes of runs that fail, and importance under the agent.

    Raises
    ------
    StrategyError
        If the agent does not fit the model.
    UndefinedImportanceError
        If no strategy reaches the target at all.

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
    strategy = read_strategy(mdp, agent, table=table, observe=observe)
    other = None if against is None else read_strategy(mdp, against, table=table, observe=observe)
    if within is None:
        return _explained(strategy, other, target)
    plain = mdp.with_labels({**mdp.labels, **{name: mdp.where(name) for name in names_of("target", target)}})
    steps = model_steps(mdp, within)
    timed = in_time(replace(strategy, mdp=plain), steps)
    if not any(timed.mdp.labels[name].any() for name in names_of("target", target)):
        raise UndefinedImportanceError(out_of_time(mdp, target, within))
    beside = None if other is None else replace(in_time(replace(other, mdp=plain), steps), mdp=timed.mdp)
    return _explained(timed, beside, target, within, plain)


def _explained(
    strategy: Strategy, other: Strategy | None, target: Target, within: int | None = None, timeless: MDP | None = None
) -> AgentExplanation:
    mdp = strategy.mdp
    found = decisions(mdp, target=target, strategy=strategy)
    fates, steps = _settled(strategy, target)
    return AgentExplanation(
        mdp=mdp,
        target=found.target,
        strategy=strategy,
        decisions=found,
        fates=fates,
        steps=steps,
        fewest=fewest_steps(mdp, target),
        importance=state_importance(mdp, target=target, scope=strategy) if found.reached > 0 else None,
        against=None if other is None else _explained(other, None, target, within, timeless),
        within=within,
        timeless=timeless,
    )


def _departure(name: str, at: Sequence[Decision]) -> Departure:
    """What is done in one place, at all its steps together."""
    visits = sum(decision.visits for decision in at)
    counted = 0 < visits < np.inf
    taken: dict[str, float] = {}
    for decision in at:
        part = decision.visits / visits if counted else 1 / len(at)
        for action, share in decision.taken.items():
            taken[action] = taken.get(action, 0.0) + part * share
    worst = max(at, key=lambda decision: decision.cost)
    rounded = {action: 1.0 if share > 1 - CLOSE else share for action, share in taken.items() if share > 0}
    return Departure(name, worst.best, rounded, visits, sum(decision.cost for decision in at))


def _alike(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether two agents take the same actions equally often."""
    return all(abs(one.get(action, 0.0) - other.get(action, 0.0)) <= CLOSE for action in {*one, *other})


def _settled(strategy: Strategy, target: Target) -> tuple[tuple[Fate, ...], float]:
    """Closed sets of states in which runs settle before the target, how likely each is, and steps until then.

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
    inside = np.flatnonzero(settled)
    inside = inside[np.argsort(part[inside], kind="stable")]
    for members in np.split(inside, np.flatnonzero(np.diff(part[inside])) + 1) if len(inside) else ():
        states = tuple(mdp.states[s] for s in np.unique(members % mdp.n_states).tolist())
        found.append(Fate(states, min(1.0, float(entered[members].sum())), float(hope[members].max())))
    steps = float(passing.sum()) - model_steps(mdp, 0)
    return tuple(sorted(found, key=lambda fate: -fate.probability)), steps
