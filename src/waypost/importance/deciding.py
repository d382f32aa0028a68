"""Decisions that matter: what each action is worth, how often one is asked, and what the wrong one costs.

With ``vmax`` the greatest probability of the target ``t``, an action is worth ``Q(s, a) = sum_y P(s, a, y) vmax(y)``:
it is taken, and then everybody does their best. What a strategy loses is the sum of what it loses by its decisions,

    vmax(s0) - v(s0) = sum_s visits(s) sum_a strategy(s, a) (vmax(s) - Q(s, a))  +  idle

with ``visits`` the expected number of visits before the target, and ``idle`` what it loses by going round for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from waypost.arguments import checked
from waypost.errors import NameUnknownError, UndefinedImportanceError, require
from waypost.graph import Ints, Mask
from waypost.importance.answer import report
from waypost.model import MDP, Strategy, Target, describe_target, stopped_chain, unfolded_chain, unfolded_start
from waypost.model.arrays import Floats
from waypost.solve.reachability import Reach
from waypost.solve.visits import Visits

CLOSE = 1e-12  # relative; actions nearer than this are equally good
TOGETHER = 256  # states whose visits are asked for at once
WAVES = 1_000  # steps of a chain that never comes back; a longer one is eliminated
MOST = 2_000  # states with a choice; in a larger model decisions are asked for on their own
MOST_WORK = 20_000_000  # states with a choice times states


@dataclass(frozen=True)
class Decision:
    """One state with a choice.

    ``met`` is the probability of ever standing there before the target, ``visits`` how often one does so on average
    (``inf`` where one may go round for ever); ``stakes`` is what the worst action costs, once; ``cost`` is what the
    strategy loses here, over all visits, compared with the best.
    """

    state: str
    values: Mapping[str, float]  # probability of the target after each action, followed by the best
    best: tuple[str, ...]  # the actions with the greatest value; first one that also makes headway
    taken: Mapping[str, float]  # how often the strategy takes each action, where it does
    met: float
    visits: float
    cost: float

    @property
    def stakes(self) -> float:
        """What the worst action costs compared with the best."""
        return max(self.values.values()) - min(self.values.values())

    @property
    def departs(self) -> bool:
        """Whether the strategy takes an action here that is not the best."""
        return self.met > 0 and any(action not in self.best for action in self.taken)


@dataclass(frozen=True, eq=False)
class Decisions:
    """Every state with a choice, the one with the most at stake (times how often it is met) first.

    Attributes
    ----------
    mdp, target
        What was asked about.
    decisions
        A `Decision` for each state with a choice.
    reachability, reached
        The greatest probability of the target, and the one with the strategy.
    idle
        Lost by going round for ever, without any wrong decision.
    given
        Whether a strategy was given; otherwise it is a best one.

    Examples
    --------
    >>> from waypost import decisions
    >>> from waypost.cases import loan
    >>> found = decisions(loan(), target="Granted")
    >>> [decision.state for decision in found][:2], round(found["Consultation"].stakes, 2)
    (['Consultation', 'Rework'], 0.98)
    """

    mdp: MDP
    target: str
    decisions: tuple[Decision, ...]
    reachability: float  # the greatest probability of the target
    reached: float  # with the strategy
    idle: float  # lost by going round for ever, without any wrong decision
    given: bool  # whether a strategy was given; otherwise it is a best one

    def __len__(self) -> int:
        return len(self.decisions)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def __getitem__(self, state: str) -> Decision:
        for decision in self.decisions:
            if decision.state == state:
                return decision
        raise NameUnknownError(f"state {state!r} has no choice before {self.target}")

    @property
    def cost(self) -> float:
        """What the strategy loses in all, compared with the best."""
        return self.reachability - self.reached

    @property
    def telling(self) -> tuple[Decision, ...]:
        """Decisions in which some action is worse than another."""
        return tuple(d for d in self.decisions if len(d.best) < len(d.values))

    @property
    def departures(self) -> tuple[Decision, ...]:
        """Decisions in which the strategy departs from the best, the most costly first."""
        return tuple(sorted((d for d in self.decisions if d.departs), key=lambda d: -d.cost))

    def summary(self, top: int = 5) -> str:
        """The `top` decisions that matter most in words, one line each."""
        return str(report("decisions_summary")(self, top))

    def to_frame(self) -> Any:
        """One row per decision."""
        pandas = require("pandas", "table", "to_frame()")
        rows = [
            {"best": " or ".join(d.best), "met": d.met, "visits": d.visits, "stakes": d.stakes, "cost": d.cost}
            for d in self.decisions
        ]
        return pandas.DataFrame(rows, index=pandas.Index([d.state for d in self.decisions], name="state"))


@checked
def decisions(mdp: MDP, *, target: Target, strategy: Strategy | None = None) -> Decisions:
    """Decisions on the way to `target`, under a given strategy or a best one.

    Parameters
    ----------
    mdp, target
        As in `state_importance`.
    strategy
        The strategy whose decisions are judged; a best one by default.

    Returns
    -------
    Decisions
        Every state with a choice, the one with the most at stake first.

    Raises
    ------
    UndefinedImportanceError
        If no strategy reaches the target.
    StrategyError
        If the strategy belongs to another model.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> found = decisions(loan(), target="Granted", strategy=Strategy.uniform(loan()))
    >>> first = found["Consultation"]
    >>> first.best, round(first.stakes, 2), round(first.met, 3)
    (('Apply',), 0.98, 0.75)
    >>> round(found.cost, 6) == round(sum(d.cost for d in found), 6)
    True
    """
    names = target if isinstance(target, str) else list(target)
    wanted = mdp.where(names)
    reach = Reach.of(mdp, wanted, exact=False)
    best = np.asarray(reach.max.values, float)
    if best[mdp.initial] == 0:
        raise UndefinedImportanceError(
            f"no strategy reaches {describe_target(names)} from {mdp.states[mdp.initial]!r}, so no decision matters"
        )
    played = strategy.of(mdp) if strategy is not None else _best_strategy(mdp, reach)
    worth = np.asarray(mdp.transitions @ best)
    worth[reach.conserving] = best[mdp.choice_state][reach.conserving]
    chain = unfolded_chain(played)
    spread = np.tile(wanted, played.memory)
    start = unfolded_start(played)
    visits = expected_visits(chain, start, spread)
    asked = np.flatnonzero((np.diff(mdp.first_choice) > 1) & ~wanted)
    met = _met(chain, start, spread, visits, asked, mdp.n_states)
    found = [
        _decision(mdp, s, worth, reach, played, visits.reshape(played.memory, -1)[:, s], likely)
        for s, likely in zip(asked.tolist(), met.tolist(), strict=True)
    ]
    reached = min(1.0, float(visits[spread].sum()))
    if strategy is None:
        reached = float(best[mdp.initial])
    lost = best[mdp.initial] - reached
    idle = max(0.0, float(lost - sum(d.cost for d in found)))
    return Decisions(
        mdp=mdp,
        target=describe_target(names),
        decisions=tuple(sorted(found, key=lambda d: (-d.stakes * d.met, -d.stakes))),
        reachability=float(best[mdp.initial]),
        reached=reached,
        idle=idle if idle > 1e-9 else 0.0,
        given=strategy is not None,
    )


def few_decisions(mdp: MDP) -> bool:
    """Whether a model has states with a choice, and so few that telling of them costs next to nothing.

    >>> from waypost.cases import loan
    >>> few_decisions(loan())
    True
    """
    several = int((np.diff(mdp.first_choice) > 1).sum())
    return 0 < several <= MOST and several * mdp.n_states <= MOST_WORK


def _decision(mdp: MDP, s: int, worth: Floats, reach: Reach, played: Strategy, visits: Floats, met: float) -> Decision:
    own = slice(int(mdp.first_choice[s]), int(mdp.first_choice[s + 1]))
    best = float(reach.max.values[s])
    gaps = best - worth[own]
    gaps[gaps <= CLOSE * best] = 0.0
    actions = mdp.actions[own]
    order = sorted(range(len(actions)), key=lambda k: own.start + k != reach.max.choice[s])
    finite = np.where(np.isfinite(visits), visits, 0.0)  # who comes back for ever loses nothing by it
    shares = np.stack([mode[own] for mode in played.modes])  # (M, k)
    weight = visits > 0
    taken = shares[weight].mean(axis=0) if weight.any() else shares[0]
    return Decision(
        state=mdp.states[s],
        values={action: float(best - gap) for action, gap in zip(actions, gaps, strict=True)},
        best=tuple(actions[k] for k in order if gaps[k] == 0),
        taken={action: float(p) for action, p in zip(actions, taken, strict=True) if p > 0},
        met=met,
        visits=float(visits.sum()),
        cost=float(finite @ (shares @ gaps)),
    )


def best_strategy(mdp: MDP, *, target: Target) -> Strategy:
    """A strategy without memory that reaches `target` with the greatest probability."""
    return _best_strategy(mdp, Reach.of(mdp, mdp.where(target), exact=False))


def _best_strategy(mdp: MDP, reach: Reach) -> Strategy:
    choice = np.where(reach.max.choice < 0, mdp.first_choice[:-1], reach.max.choice)
    return Strategy.deterministic_of(mdp, choice)


def expected_visits(chain: csr_array, start: Floats, target: Mask) -> Floats:
    """(n,) expected number of visits to each state before the target, itself included; ``inf`` where one stays.

    >>> chain = csr_array(np.array([[0.5, 0.25, 0.25], [0, 1, 0], [0, 0, 1]]))
    >>> expected_visits(chain, np.array([1.0, 0.0, 0.0]), np.array([False, False, True]))
    array([2. , inf, 0.5])
    """
    from scipy.sparse.csgraph import connected_components  # scipy's solvers come with it: only where visits are counted

    n = chain.shape[0]
    leaving = stopped_chain(chain, target)
    seen = _reached_states(leaving, start)
    count, part = connected_components(leaving, directed=True, connection="strong")
    source, goal = leaving.nonzero()
    closed = np.ones(count, bool)
    closed[part[source[part[source] != part[goal]]]] = False
    stays = closed[part] & ~target
    inner = np.flatnonzero(seen & ~stays & ~target)
    visits = np.zeros(n)
    visits[seen & stays] = np.inf
    if len(inner):
        waves = _in_waves(leaving, inner, start) if np.bincount(part)[part[inner]].max() == 1 else None
        visits[inner] = _left(leaving, inner).before(start[inner]) if waves is None else waves
    ends = np.flatnonzero(seen & target)
    visits[ends] = start[ends] + leaving[inner][:, ends].T @ visits[inner]
    return visits


def _in_waves(chain: csr_array, inner: Ints, start: Floats) -> Floats | None:
    """(k,) visits to states of which none is entered again once it is left, one step after the other; None if many.

    A model that counts its steps is such a chain: what flows on is added up, and after the last step nothing does.
    """
    rows = _without_loops(chain)[inner]
    ways_out = rows.sum(axis=1)
    onward = csr_array(csr_array(rows[:, inner]).T)
    flow = start[inner] / ways_out
    visits = np.zeros(len(inner))
    for _ in range(WAVES):
        visits += flow
        flow = (onward @ flow) / ways_out
        if not flow.any():
            return visits
    return None


def _without_loops(chain: csr_array) -> csr_array:
    """Steps that lead elsewhere."""
    here = np.repeat(np.arange(chain.shape[0]), np.diff(chain.indptr)) == chain.indices
    return csr_array((np.where(here, 0.0, chain.data), chain.indices, chain.indptr), shape=chain.shape)


def _reached_states(chain: csr_array, start: Floats) -> Mask:
    from scipy.sparse.csgraph import breadth_first_order

    seen = np.zeros(chain.shape[0], bool)
    for first in np.flatnonzero(start):
        seen[breadth_first_order(chain, first, return_predecessors=False)] = True
    return seen


def _met(chain: csr_array, start: Floats, target: Mask, visits: Floats, asked: Ints, n: int) -> Floats:
    """(k,) probability of visiting each of the asked states, in whatever mode, before the target.

    Of a state with one mode it is ``(start N)_s / N_ss`` for ``N = (I - P)^-1``, eliminated once for all states;
    ``1 / N_ss`` is the probability of the ways out where no run comes back from elsewhere. Where a state may be met in
    several modes, or for ever, the chain is stopped there.
    """
    from scipy.sparse.csgraph import connected_components

    _, part = connected_components(chain, directed=True, connection="strong")
    alone_in_part = np.bincount(part)[part] == 1
    ways_out = _without_loops(chain).sum(axis=1)
    inner = np.flatnonzero(np.isfinite(visits) & (visits > 0) & ~target)
    place = np.full(len(target), -1)
    place[inner] = np.arange(len(inner))
    copies = [np.arange(s, len(target), n) for s in asked.tolist()]
    copies = [own[visits[own] > 0] for own in copies]
    met = np.zeros(len(asked))
    single = [k for k, own in enumerate(copies) if len(own) == 1 and np.isfinite(visits[own[0]])]
    alone = frozenset(single)
    for k in single:
        s = int(copies[k][0])
        if alone_in_part[s]:
            met[k] = min(1.0, visits[s] * ways_out[s])
    single = [k for k in single if not alone_in_part[copies[k][0]]]
    eliminated = _left(chain, inner) if single else None
    for first in range(0, len(single), TOGETHER):
        some = single[first : first + TOGETHER]
        states = np.array([copies[k][0] for k in some])
        unit = np.zeros((len(inner), len(some)))
        unit[place[states], np.arange(len(some))] = 1.0
        again = eliminated.after(unit)[place[states], np.arange(len(some))] if eliminated else np.ones(len(some))
        met[some] = np.minimum(1.0, visits[states] / again)
    for k, own in enumerate(copies):
        if len(own) and k not in alone:
            cut = np.isin(np.arange(len(target)), own)
            met[k] = min(1.0, expected_visits(stopped_chain(chain, cut), start, target | cut)[own].sum())
    return met


def _left(chain: csr_array, inner: Ints) -> Visits:
    """Visits to the states `inner` of a chain, before it goes elsewhere."""
    rows = csr_array(chain[inner])
    elsewhere = np.ones(chain.shape[0])
    elsewhere[inner] = 0.0
    return Visits.of(csr_array(rows[:, inner]), rows @ elsewhere)
