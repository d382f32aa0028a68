"""The quickest of the best strategies, against all strategies of small models."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from waypost import MDP
from waypost.importance.quickest import quickest_strategy
from waypost.solve.reachability import Reach


def drawn(seed: int) -> MDP:
    """A model of five states with up to three choices each: a goal, a trap, and ties between ways of other lengths."""
    draw = np.random.default_rng(seed)
    names = ["a", "b", "c", "d", "goal", "trap"]
    states: dict[str, dict[str, dict[str, float]]] = {"goal": {}, "trap": {}}
    for name in names[:4]:
        states[name] = {}
        for number in range(draw.integers(1, 4)):
            ends = draw.choice(len(names), draw.integers(1, 4), replace=False)
            shares = draw.integers(1, 4, len(ends))
            states[name][f"go{number}"] = {names[e]: float(p) for e, p in zip(ends, shares / shares.sum(), strict=True)}
    return MDP.from_dict(states, initial="a")


def steps_of(mdp: MDP, choice: np.ndarray, going: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability of the target, and steps until it is reached or hopeless, within so many that it makes no odds."""
    n = len(target)
    chain = mdp.transitions.toarray()[choice]
    staying = np.where(going[:, None], chain, np.eye(n))
    counting = np.zeros((n + 1, n + 1))
    counting[:n, :n], counting[:n, n], counting[n, n] = chain * going[:, None], going, 1
    worth, steps = (np.linalg.matrix_power(matrix, 4096) for matrix in (staying, counting))
    return worth @ target, steps[:n, n]


def test_steps_that_floats_cannot_tell_apart_end_in_a_best_strategy():
    """Every state takes 1e17 tries: whatever is found of that, the goal is reached as often as it can be."""
    slow = {f"s{k}": {"on": {f"s{k + 1}": 1e-17, "s0": 1 - 1e-17}, "off": {"s0": 1.0}} for k in range(6)}
    mdp = MDP.from_dict({**slow, "s6": {}}, initial="s0")
    found = quickest_strategy(mdp, target="s6").to_dict()
    assert all(found[f"s{k}"] == {"on": 1.0} for k in range(6))


@pytest.mark.parametrize("seed", range(60))
def test_no_strategy_that_is_as_good_is_quicker(seed):
    mdp = drawn(seed)
    target = mdp.where("goal")
    reach = Reach.of(mdp, target, exact=False)
    best, going = reach.max.values, (reach.max.values > 0) & ~target
    own = [np.flatnonzero(mdp.choice_state == x).tolist() or [0] for x in range(mdp.n_states)]
    found = quickest_strategy(mdp, target="goal").to_dict()
    chosen = np.array([next((c for c in own[x] if mdp.actions[c] in found.get(mdp.states[x], {})), own[x][0])
                       for x in range(mdp.n_states)])  # fmt: skip
    worth, steps = steps_of(mdp, chosen, going, target)
    assert worth == pytest.approx(best, abs=1e-9)
    fewest = np.full(mdp.n_states, np.inf)
    for each in product(*own):
        other, taken = steps_of(mdp, np.array(each), going, target)
        as_good = other >= best - 1e-9
        fewest = np.where(as_good, np.minimum(fewest, taken), fewest)
    assert (steps[going] <= fewest[going] + 1e-6).all()
