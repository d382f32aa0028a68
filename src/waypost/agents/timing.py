"""Conduct of an agent that has so many steps: forward from the start, backward from the target, one step at a time.

What is best hangs on the steps that are left, and what is lost is added up over all of them:

    V_0 = 1 on the target, else 0;    Q_k(s, a) = sum_y P(s, a, y) V_(k-1)(y);    V_k(s) = max_a Q_k(s, a)

In a place, an action is worth the average of ``Q_k(s, a)`` over the agent's visits. The greatest of these averages
tells what an agent that counts no steps should do there; the average of ``V_k(s)`` is what one that counts them could
reach.

These are sums of products of what is not negative, so a number is off by some ``n`` roundings after ``n`` steps. Which
ones are exactly 0 or 1 is decided on the graph, step by step beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from waypost.agents.conduct import LEAST, MOST, Conduct, certain, shares_of
from waypost.errors import ModelError
from waypost.importance.deciding import CLOSE
from waypost.model import MDP, Strategy, stopped_chain, unfolded_chain, unfolded_start
from waypost.model.arrays import Floats, Mask

LARGEST = 100_000_000  # states times steps whose values are kept


@dataclass(frozen=True, eq=False)
class TimedConduct:
    """What an agent does in so many steps, what it reaches, and where it is when it ends."""

    conduct: Conduct
    best: float  # greatest probability of the target in time
    reached: float
    steps: float  # until the target is reached or lost, or the time is up
    ended: Floats  # (S,) probability of having ended there, without the target
    late: Floats  # (S,) probability of standing there when the time is up


def timed_conduct(strategy: Strategy, wanted: Mask, steps: int) -> TimedConduct:
    """Conduct of an agent that is to be at the target in so many steps.

    >>> mdp = MDP.from_dict({"a": {"try": {"b": 0.5, "a": 0.5}, "wait": "a"}, "b": {}}, initial="a")
    >>> found = timed_conduct(Strategy.uniform(mdp), mdp.where("b"), 2)
    >>> found.best, found.reached, found.conduct.costs.tolist(), found.late.tolist()
    (0.75, 0.4375, [0.0, 0.3125, 0.0], [0.5625, 0.0])
    """
    mdp, memory = strategy.mdp, strategy.memory
    best = _best_in_time(mdp, wanted, steps)
    over = np.tile(wanted | mdp.is_final, memory)
    onward = csr_array(stopped_chain(unfolded_chain(strategy), over).T)
    arrows = csr_array((np.ones(onward.nnz), onward.indices, onward.indptr), shape=onward.shape)
    here = unfolded_start(strategy)
    there = here > 0  # whether it may be there: a probability may be too small for a float
    arrived, entered, played = here.copy(), there.copy(), _Played(strategy, *_worth(mdp, best, steps))
    for left in range(steps, 0, -1):
        here[over], there[over] = 0.0, False
        if not there.any():
            break
        played.add(here.reshape(memory, -1), there.reshape(memory, -1), *_worth(mdp, best, left))
        here, there = onward @ here, arrows @ there > 0
        arrived += here
        entered |= there
    here[over], there[over] = 0.0, False
    every = np.tile(wanted, memory)
    failed = there.any() or bool((entered & over & ~every).any())
    return TimedConduct(
        conduct=played.conduct(np.asarray(entered.reshape(memory, -1).any(axis=0))),
        best=float(best[min(steps, len(best) - 1)][mdp.initial]),
        reached=certain(float(arrived[every].sum()), surely=not failed, maybe=bool(entered[every].any())),
        steps=float(played.visits.sum()),
        ended=np.where(over & ~every, arrived, 0.0).reshape(memory, -1).sum(axis=0),
        late=here.reshape(memory, -1).sum(axis=0),
    )


def _best_in_time(mdp: MDP, wanted: Mask, steps: int) -> list[Floats]:
    """By the steps left, (S,) greatest probability of the target; fewer, if more steps change nothing."""
    matrix, first = mdp.transitions, mdp.first_choice[:-1]
    arrows = csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    maybe, surely = wanted.copy(), wanted.copy()
    found = [wanted.astype(float)]
    for _ in range(steps):
        maybe = wanted | np.logical_or.reduceat(arrows @ maybe > 0, first)
        surely = wanted | np.logical_or.reduceat(arrows @ ~surely == 0, first)
        value = np.clip(np.maximum.reduceat(matrix @ found[-1], first), LEAST, MOST)
        value[~maybe], value[surely] = 0.0, 1.0
        if (value == found[-1]).all():
            break
        found.append(value)
        if len(found) * mdp.n_states > LARGEST:
            raise ModelError(
                f"{steps:,} steps of {mdp.n_states:,} states are more than {LARGEST:,} values; ask for fewer steps"
            )
    return found


def _worth(mdp: MDP, best: list[Floats], left: int) -> tuple[Floats, Floats]:
    """(C,) what each choice is worth with so many steps left, and (S,) what the best of them is."""
    before, now = (best[min(k, len(best) - 1)] for k in (left - 1, left))
    most = now[mdp.choice_state]
    worth = mdp.transitions @ before
    return np.where(most - worth <= CLOSE * most, most, worth), now


class _Played:
    """What was done so far, over all steps, and what each choice was worth then."""

    def __init__(self, strategy: Strategy, worth: Floats, hoped: Floats) -> None:
        self.mdp, self.modes = strategy.mdp, np.stack(strategy.modes)
        self.by_mode = np.zeros((strategy.memory, self.mdp.n_states))
        self.costs, self.wrong = np.zeros(self.mdp.n_choices), np.zeros(self.mdp.n_choices, bool)
        self.first = np.concatenate([worth, hoped])  # what it is worth where the agent never is
        self.sums = np.zeros(len(self.first))  # over visits, (C,) and (S,) one behind the other
        self.least, self.greatest = np.full(len(self.first), 1.0), np.zeros(len(self.first))

    @property
    def visits(self) -> Floats:
        """(S,) how often it stood there."""
        return np.asarray(self.by_mode.sum(axis=0))

    def add(self, here: Floats, there: Mask, worth: Floats, hoped: Floats) -> None:
        """Add a step, at which the agent is (M, S) here with a probability, or may at least be there."""
        owner = self.mdp.choice_state
        gaps = hoped[owner] - worth
        self.by_mode += here
        self.costs += (here[:, owner] * self.modes).sum(axis=0) * gaps
        self.wrong |= ((there[:, owner] & (self.modes > 0)).any(axis=0)) & (gaps > 0)
        values, standing = np.concatenate([worth, hoped]), here.sum(axis=0)
        self.sums += np.concatenate([standing[owner], standing]) * values
        anywhere = np.asarray(there.any(axis=0))
        met = np.concatenate([anywhere[owner], anywhere])
        self.least = np.where(met, np.minimum(self.least, values), self.least)
        self.greatest = np.where(met, np.maximum(self.greatest, values), self.greatest)

    def conduct(self, met: Mask) -> Conduct:
        """All of it; what is worth most on average over the visits to a place is best there."""
        owner, first = self.mdp.choice_state, self.mdp.first_choice[:-1]
        often = np.concatenate([self.visits[owner], self.visits])
        average = np.clip(self.sums / np.where(often > 0, often, 1.0), self.least, self.greatest)
        average[(average == 1) & (self.least < 1)] = MOST
        average[(average == 0) & (self.greatest > 0)] = LEAST
        average = np.where(often > 0, average, self.first)
        worth, hoped = average[: len(owner)], average[len(owner) :]
        most = np.maximum.reduceat(worth, first)[owner]
        good = most - worth <= CLOSE * most
        shares = shares_of(self.mdp, self.modes, self.by_mode)
        return Conduct(self.visits, shares, self.costs, good.astype(np.int64), self.wrong, worth, hoped, met)
