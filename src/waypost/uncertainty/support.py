"""How many cases a number rests on: strategies may use only what was seen often enough.

A branch that one case in forty thousand took, and that happened to end well, makes the best strategy look perfect. So a
choice that was seen fewer than `min_seen` times is left out where there is a better known one; where all choices of a
state are that rare, what was observed happens there, and nobody chooses.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from waypost.errors import WaypostError
from waypost.learn.mdp import choice_counts
from waypost.learn.observed import passing
from waypost.model import MDP, Strategy, Target, induced_chain
from waypost.model.arrays import Mask
from waypost.solve.reachability import reachability

FEW = 30  # a share of fewer cases than this has a standard error of up to nine points
AS_OBSERVED = "(as observed)"


@dataclass(frozen=True)
class LeftOut:
    """A choice that was seen too rarely to be advised."""

    state: str
    action: str
    seen: int


@dataclass(frozen=True, eq=False)
class Supported:
    """A model in which strategies use only choices that were seen often enough."""

    mdp: MDP
    min_seen: int
    left_out: tuple[LeftOut, ...]  # the rarest first
    as_observed: tuple[str, ...]  # states in which every choice was rare

    def sentence(self, best: float, otherwise: float) -> str | None:
        """What was left out, and what the best would be with it; None where nothing was."""
        if not self.left_out:
            return None
        rarest = ", ".join(f"{c.action!r} {_place(c.state)} ({c.seen:,})" for c in self.left_out[:3])
        more = f" and {len(self.left_out) - 3:,} more" if len(self.left_out) > 3 else ""
        told = f"choices seen fewer than {self.min_seen:,} times are not advised: {rarest}{more}"
        if otherwise - best < 0.0005:
            return told
        return f"{told}; with them the best strategies would reach {otherwise:.3f} instead of {best:.3f}"


def _place(state: str) -> str:
    """Say where a choice is: after what, where the state says whose turn it is.

    >>> _place("q87: customer after offer"), _place("q3")
    ("after 'offer'", "in 'q3'")
    """
    before = state.partition(" after ")[2]
    return f"after {before!r}" if before else f"in {state!r}"


def usual_min_seen(cases: int) -> int:
    """How often a choice must have been seen in a log of so many cases: 5 times, or by one case in a thousand.

    >>> usual_min_seen(100), usual_min_seen(40_403)
    (5, 40)
    """
    return max(5, cases // 1000)


def supported(mdp: MDP, min_seen: int) -> Supported:
    """Model without the choices that were seen fewer than `min_seen` times.

    >>> from waypost.learn import learn_mdp
    >>> from waypost.logs import EventLog
    >>> cases = [["ask", "pay"]] * 30 + [["ask", "go"]] * 30 + [["luck", "pay"]]
    >>> found = supported(learn_mdp(EventLog.from_sequences(cases), eps=0), 5)
    >>> [(c.action, c.seen) for c in found.left_out], found.mdp.n_choices
    ([('luck', 1)], 16)
    """
    if isinstance(min_seen, bool) or not isinstance(min_seen, int) or min_seen < 1:
        raise WaypostError(f"a choice must be seen at least once or more (--min-seen), not {min_seen!r} times")
    seen = choice_counts(mdp)
    several = np.diff(mdp.first_choice)[mdp.choice_state] > 1
    rare = several & (seen < min_seen)
    all_rare = np.bincount(mdp.choice_state, weights=~rare, minlength=mdp.n_states) == 0
    dropped = rare & ~all_rare[mdp.choice_state]
    order = np.flatnonzero(dropped)[np.argsort(seen[dropped], kind="stable")]
    return Supported(
        mdp=_without(mdp, dropped, all_rare, seen) if rare.any() else mdp,
        min_seen=min_seen,
        left_out=tuple(LeftOut(mdp.states[mdp.choice_state[c]], mdp.actions[c], int(seen[c])) for c in order),
        as_observed=tuple(mdp.states[s] for s in np.flatnonzero(all_rare)),
    )


def best_with_and_without(mdp: MDP, found: Supported, target: Target) -> tuple[float, float]:
    """Probability of the target by the best strategies: with enough support, and if every choice might be used."""
    names = target if isinstance(target, str) else list(target)
    best, otherwise = (float(reachability(m, target=names, optimum="max")[m.initial]) for m in (found.mdp, mdp))
    return best, otherwise


def share_resting_on_few(strategy: Strategy, target: Mask, few: int = FEW) -> float:
    """Share of the runs to the target in which a strategy takes a choice seen fewer than `few` times."""
    mdp, n = strategy.mdp, strategy.mdp.n_states
    rare = (choice_counts(mdp) < few) & (np.diff(mdp.first_choice)[mdp.choice_state] > 1)
    rows, columns, values, thin = [], [], [], []
    for mode, probabilities in enumerate(strategy.modes):  # a state in mode m is number m n + s
        chain = coo_array(induced_chain(mdp, probabilities))
        rows.append(mode * n + chain.row)
        columns.append(strategy.update[mode, chain.col] * n + chain.col)
        values.append(chain.data)
        thin.append(np.bincount(mdp.choice_state, weights=rare & (probabilities > 0), minlength=n) > 0)
    size = strategy.memory * n
    whole = csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(size, size))
    goal, states = np.tile(target, strategy.memory), np.concatenate(thin)
    if not states.any():
        return 0.0
    start = strategy.start * n + mdp.initial
    reached = float(passing(whole, goal, np.zeros_like(goal))[0][start])
    without = float(passing(whole, goal, states & ~goal)[0][start])
    return 0.0 if reached <= 0 else max(0.0, 1 - without / reached)


def _without(mdp: MDP, dropped: NDArray[np.bool_], mixed: NDArray[np.bool_], seen: NDArray[Any]) -> MDP:
    """Model without some choices, and with the observed mixture as the one choice of some states."""
    if mdp.counts is None:
        raise WaypostError("this model was not learned from a log and has no counts")
    of_entry = np.repeat(np.arange(mdp.n_choices), np.diff(mdp.transitions.indptr))
    state, kept = mdp.choice_state, ~dropped
    head = kept & (~mixed[state] | (np.arange(mdp.n_choices) == mdp.first_choice[state]))
    number = np.cumsum(head) - 1  # of the choice that each old one becomes; the first stands for a mixture
    number = np.where(mixed[state], number[mdp.first_choice[state]], number)
    entries = np.flatnonzero(kept[of_entry])
    total = np.bincount(state, weights=seen, minlength=mdp.n_states)
    exact = mdp.rationals()
    weights = exact[entries].copy()
    for k in np.flatnonzero(mixed[state[of_entry[entries]]]).tolist():
        choice = of_entry[entries[k]]
        weights[k] *= Fraction(int(seen[choice]), int(total[state[choice]]))
    counts = np.bincount(state, weights=head, minlength=mdp.n_states).astype(np.int64)
    return MDP.from_triplets(
        number[of_entry[entries]],
        mdp.transitions.indices[entries],
        [float(w) for w in weights],
        first_choice=np.concatenate([[0], np.cumsum(counts)]),
        states=mdp.states,
        actions=[AS_OBSERVED if mixed[state[c]] else mdp.actions[c] for c in np.flatnonzero(head).tolist()],
        initial=mdp.initial,
        labels=mdp.labels,
        exact=weights.tolist(),
        counts=mdp.counts[entries],
    )
