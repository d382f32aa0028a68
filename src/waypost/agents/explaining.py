"""An agent beside the best: how often it succeeds, where it loses the goal, and how two agents differ.

With ``vmax`` the greatest probability of the target, what an agent loses is the sum of what it loses by its decisions
and by going round for ever (`waypost.decisions`), where it never does what leads on (`waypost.agents.fates`). Every run
of an agent has a *fate*: it reaches the target, or it settles for ever in states from which it does not, hopeless ones
or ones it only had to leave. "Best" is the greatest probability of the target, however long it takes and without
discount. With ``within=100`` both are asked to be there in 100 steps: a place is then a decision at every step, and
what is lost there is added up.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from waypost.agents.conduct import Conduct, conduct_of
from waypost.agents.fates import Fate, settled, with_circles
from waypost.agents.groups import LossGroup, loss_groups
from waypost.agents.mending import Mended, mended
from waypost.agents.timing import timed_conduct
from waypost.arguments import checked
from waypost.environments.ends import fewest_steps, model_steps, out_of_time
from waypost.errors import UndefinedImportanceError, require
from waypost.formats.answers import TableOf
from waypost.formats.policies import Observe
from waypost.formats.strategies import read_strategy
from waypost.importance import Decisions, StateImportance, decisions, state_importance
from waypost.importance.deciding import CLOSE
from waypost.importance.variables import VariableImportance, by_variable
from waypost.model import MDP, Strategy, Target, describe_target
from waypost.model.arrays import Floats
from waypost.model.checking import names_of
from waypost.model.steps import in_time
from waypost.solve import reachability

LARGEST = 100_000  # states, at every step if there is a limit: of more, importance is not told by variable
MENDABLE = 20_000  # states up to which it is told what to change first


class Departure(NamedTuple):
    """A place in which an agent does not do the best, over all steps at which it stands there."""

    state: str
    best: tuple[str, ...]  # with a limit, on average over all visits
    taken: Mapping[str, float]  # how often it takes each action
    visits: float  # how often it stands there, on average; inf where it goes round for ever
    cost: float  # of success, over all visits
    worth: Mapping[str, float]  # probability of the target after each action, if the best follows; on average as well
    hoped: float  # probability of the target there, if the best is done from there on, whatever time is left


class Difference(NamedTuple):
    """A state in which two agents do different things."""

    state: str
    best: tuple[str, ...]
    taken: Mapping[str, float]
    taken_by_other: Mapping[str, float]
    cost: float  # of success, over all visits
    cost_to_other: float
    worth: Mapping[str, float]  # of each action, and the best there is, as in a `Departure` of the one that loses more
    hoped: float


class Margin(NamedTuple):
    """What one agent loses more than another, in the places in which it does."""

    cost: float  # of success
    places: Mapping[str, float]  # what it loses more in each, the most first
    groups: tuple[LossGroup, ...]  # what most of these places have in common


@dataclass(frozen=True, eq=False)
class AgentExplanation:
    """An agent beside the best, and beside another one.

    Attributes
    ----------
    mdp, target, strategy, names
        What is explained: the agent is a strategy of the model; the target in words, and the names it was given by.
    success, best
        Probability of the target for the agent, and the greatest there is.
    conduct
        What the agent does in every state, how often, and what that costs, as arrays.
    fates
        Where its runs settle without the target, most likely first.
    steps, fewest
        Steps that its runs take on average until the target is reached or lost for ever, and those of the shortest run
        to the target there is.
    within
        Steps in which the target is to be reached; None without such a limit.
    against
        The other agent, explained the same way.

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
    success: float
    best: float
    conduct: Conduct
    fates: tuple[Fate, ...]
    steps: float
    fewest: int | None
    within: int | None = None
    against: AgentExplanation | None = None
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        other = "" if self.against is None else f", against={self.against.success:.6g}"
        return f"AgentExplanation({self.target}, success={self.success:.6g}, best={self.best:.6g}{other})"

    @cached_property
    def decisions(self) -> Decisions:
        """Every state with a choice: what each action is worth, what the agent does and what that costs.

        With a limit, a state at every step, in the model that counts them, which is made when it is asked for.
        """
        return decisions(self._played.mdp, target=self.names, strategy=self._played)

    @cached_property
    def importance(self) -> StateImportance | None:
        """Importance of the states under the agent; None for one that never succeeds, of which it is undefined."""
        if self.success == 0:
            return None
        return state_importance(self._played.mdp, target=self.names, scope=self._played)

    @cached_property
    def variables(self) -> VariableImportance | None:
        """Importance of the values of variables under the agent; None where it cannot be told."""
        timed = 1 if self.within is None else model_steps(self.mdp, self.within) + 1
        if self.success == 0 or not self.mdp.variables or timed * self.mdp.n_states > LARGEST:
            return None
        asked = tuple(self.mdp.variables)
        return by_variable(self._played.mdp, target=self.names, scope=self._played, variables=asked, length=1)

    @cached_property
    def _played(self) -> Strategy:
        """The agent, in the model that counts steps where there is a limit."""
        if self.within is None:
            return self.strategy
        labelled = self.mdp.with_labels({**self.mdp.labels, **{name: self.mdp.where(name) for name in self.names}})
        return in_time(replace(self.strategy, mdp=labelled), model_steps(self.mdp, self.within))

    @cached_property
    def places(self) -> tuple[Departure, ...]:
        """What the agent does in every place that has a choice, the most costly first."""
        lost = self.conduct.lost(self.mdp)
        asked = np.flatnonzero((np.diff(self.mdp.first_choice) > 1) & ~self.mdp.where(self.names))
        return tuple(self._departure(s, lost) for s in asked[np.argsort(-lost[asked], kind="stable")].tolist())

    @cached_property
    def departures(self) -> tuple[Departure, ...]:
        """Places in which the agent departs from the best, the most costly first."""
        lost = self.conduct.lost(self.mdp)
        departing = np.flatnonzero(self.conduct.departs(self.mdp))
        return tuple(self._departure(s, lost) for s in departing[np.argsort(-lost[departing], kind="stable")].tolist())

    def _departure(self, s: int, lost: Floats) -> Departure:
        """What is done in one place."""
        choices = range(int(self.mdp.first_choice[s]), int(self.mdp.first_choice[s + 1]))
        merits, shares = self.conduct.merits, self.conduct.shares
        best = sorted((c for c in choices if merits[c]), key=lambda c: -merits[c])
        taken = {self.mdp.actions[c]: float(shares[c]) for c in choices if shares[c] > 0}
        rounded = {action: 1.0 if share > 1 - CLOSE else share for action, share in taken.items()}
        best_actions = tuple(self.mdp.actions[c] for c in best)
        worth = {self.mdp.actions[c]: float(self.conduct.worth[c]) for c in choices}
        visits, hoped = float(self.conduct.visits[s]), float(self.conduct.hoped[s])
        return Departure(self.mdp.states[s], best_actions, rounded, visits, float(lost[s]), worth, hoped)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Places that either meets and in which they do different things, by how much more one of them loses there."""
        if self.against is None:
            return ()
        theirs = {place.state: place for place in self.against.places}
        apart = []
        for mine in self.places:
            other = theirs[mine.state]
            if max(mine.visits, other.visits) > 0 and not _alike(mine.taken, other.taken):
                most = max(mine, other, key=lambda place: (place.cost, place.visits))
                costs = mine.cost, other.cost
                apart.append(Difference(mine.state, most.best, mine.taken, other.taken, *costs, most.worth, most.hoped))
        return tuple(sorted(apart, key=lambda d: (-abs(d.cost - d.cost_to_other), -d.cost)))

    @cached_property
    def groups(self) -> tuple[LossGroup, ...]:
        """What the places in which most is lost have in common, the most costly first."""
        return loss_groups(self.mdp, self.conduct, self.conduct.costs)

    @cached_property
    def mending(self) -> tuple[Mended, ...]:
        """What to change first: the best where most is lost, then where most is lost after that, and so on.

        Empty for models of very many states.
        """
        return mended(self.strategy, self.conduct, self._judged) if self.mdp.n_states <= MENDABLE else ()

    def _judged(self, strategy: Strategy) -> tuple[Conduct, float]:
        """Conduct and success of another agent with the same task."""
        wanted = self.mdp.where(self.names)
        if self.within is not None:
            timed = timed_conduct(strategy, wanted, model_steps(self.mdp, self.within))
            return timed.conduct, timed.reached
        ending = settled(strategy, self.names, self._hope)
        conduct = with_circles(conduct_of(strategy, self.decisions, ending.visits), strategy, ending.circles)
        return conduct, ending.reached

    @cached_property
    def _hope(self) -> Floats:
        """(S,) greatest probability of the target from each state."""
        return np.asarray(reachability(self.mdp, target=self.names, optimum="max"), float)

    @cached_property
    def behind(self) -> Margin | None:
        """What this agent loses more than the other, where it does; None without another."""
        return None if self.against is None else _margin(self, self.against)

    @cached_property
    def ahead(self) -> Margin | None:
        """What the other agent loses more than this one, where it does; None without another."""
        return None if self.against is None else _margin(self.against, self)

    @property
    def late(self) -> float:
        """Probability that the time is up before the target is reached or lost; 0 without a limit."""
        return sum(fate.probability for fate in self.fates if fate.late)

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

    def to_html(self, **options: Any) -> str:
        """One page to explore offline, as text; `options` are those of `waypost.report.render_agent`."""
        return str(importlib.import_module("waypost.report.agentpage").render_agent(self, **options))

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
    names = names_of("target", target)
    beside = None if other is None else _explained(other, names, within, None)
    return _explained(strategy, names, within, beside)


def _explained(
    strategy: Strategy, target: tuple[str, ...], within: int | None, against: AgentExplanation | None
) -> AgentExplanation:
    if within is not None:
        return _explained_in_time(strategy, target, within, against)
    mdp = strategy.mdp
    found = decisions(mdp, target=target, strategy=strategy)
    hope = reachability(mdp, target=target, optimum="max")
    ending = settled(strategy, target, hope)
    explained = AgentExplanation(
        mdp=mdp,
        target=found.target,
        strategy=strategy,
        success=ending.reached,
        best=found.reachability,
        conduct=with_circles(conduct_of(strategy, found, ending.visits), strategy, ending.circles),
        fates=ending.fates,
        steps=ending.steps - model_steps(mdp, 0),
        fewest=fewest_steps(mdp, target),
        against=against,
        names=target,
    )
    vars(explained).update(decisions=found, _hope=hope)  # known already
    return explained


def _explained_in_time(
    strategy: Strategy, target: tuple[str, ...], within: int, against: AgentExplanation | None
) -> AgentExplanation:
    mdp = strategy.mdp
    found = timed_conduct(strategy, mdp.where(target), model_steps(mdp, within))
    if found.best == 0:
        raise UndefinedImportanceError(out_of_time(mdp, target, within))
    ends = [(s, found.ended, False) for s in np.flatnonzero(found.ended).tolist()]
    ends += [(s, found.late, True) for s in np.flatnonzero(found.late).tolist()]
    fates = [Fate((mdp.states[s],), min(1.0, float(share[s])), 0.0, late) for s, share, late in ends]
    return AgentExplanation(
        mdp=mdp,
        target=describe_target(target),
        strategy=strategy,
        success=found.reached,
        best=found.best,
        conduct=found.conduct,
        fates=tuple(sorted(fates, key=lambda fate: -fate.probability)),
        steps=found.steps - model_steps(mdp, 0),
        fewest=fewest_steps(mdp, target),
        against=against,
        within=within,
        names=target,
    )


def _alike(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether two agents take the same actions equally often."""
    return all(abs(one.get(action, 0.0) - other.get(action, 0.0)) <= CLOSE for action in {*one, *other})


def _margin(one: AgentExplanation, other: AgentExplanation) -> Margin:
    """What one agent loses more than another, place by place."""
    mine, theirs = (each.conduct.lost(one.mdp) for each in (one, other))
    more = np.where(mine > theirs * (1 + CLOSE), mine - theirs, 0.0)
    part = np.where(more > 0, more / np.where(more > 0, mine, 1.0), 0.0)
    groups = loss_groups(one.mdp, one.conduct, one.conduct.costs * part[one.mdp.choice_state])
    order = np.argsort(-more, kind="stable")[: np.count_nonzero(more)].tolist()
    return Margin(float(more.sum()), {one.mdp.states[s]: float(more[s]) for s in order}, groups)
