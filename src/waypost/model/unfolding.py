"""A strategy with memory as one without, on the product of its model with its memory; and the Markov chain it leaves.

Paper, Sect. 5: a finite-memory strategy is a memoryless one on ``S x modes``. Other tools know memoryless strategies
and Markov chains, so that a witness can be handed to them and checked there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from waypost.model.mdp import MDP
from waypost.model.names import some_of
from waypost.model.strategy import Strategy, induced_chain, reached_from
from waypost.model.valuations import StateNames, Variable

MEMORY = "memory"
TOSS = "toss"
MIXED = "(mixed)"  # what a state of a chain does where its strategy draws one of several actions


def on_product(strategy: Strategy) -> Strategy:
    """Give the same strategy without memory: its model is the product with the modes, as far as it can be reached.

    A state's name gets the mode, ``memory=1``. Where the strategy tosses before the start, the product begins in a
    state ``toss`` that chooses the mode.

    >>> from waypost.cases import loan
    >>> chosen = {"s0": "Consult", "Consultation": "Apply", "Rework": "Submit"}
    >>> told = {"switch": ["Rework"], "before": chosen, "after": {**chosen, "Rework": "Quit"}}
    >>> found = on_product(Strategy.from_dict(loan(), told))
    >>> found, found.mdp.states[found.mdp.initial], found.to_dict()["Rework, memory=1"]
    (Strategy(deterministic, memory=1, states=12), 's0, memory=0', {'Quit': 1.0})
    """
    mdp = strategy.mdp
    if strategy.memory == 1 and strategy.toss is None:
        return strategy
    n, matrix = mdp.n_states, mdp.transitions
    kept = _reached(strategy)  # pairs as mode * n + state, sorted
    mode, state = np.divmod(kept, n)
    number = np.full(strategy.memory * n, -1)
    number[kept] = np.arange(len(kept))
    owned = np.diff(mdp.first_choice)[state]
    first_choice = np.concatenate([[0], np.cumsum(owned)])
    choice = _ranges(mdp.first_choice[state], owned)  # of the model, for every choice of the product
    chooses = np.repeat(mode, owned)
    lengths = np.diff(matrix.indptr)[choice]
    entry = _ranges(matrix.indptr[choice], lengths)
    goal = matrix.indices[entry]
    goal = number[strategy.update[np.repeat(chooses, lengths), goal] * n + goal]
    row = np.repeat(np.arange(len(choice)), lengths)
    actions = list(some_of(mdp.actions, choice))
    taken = np.concatenate([np.zeros(0), *(strategy.modes[m][None, :] for m in range(strategy.memory))], axis=None)
    taken = taken[chooses * mdp.n_choices + choice]
    chance = matrix.data[entry]
    exact = None if mdp.exact is None else list(mdp.exact[entry])
    initial = int(number[strategy.start * n + mdp.initial])
    if strategy.toss is not None:
        starts = strategy.starts
        first_choice = np.append(first_choice, first_choice[-1] + len(starts))
        row = np.concatenate([row, len(choice) + np.arange(len(starts))])
        goal = np.concatenate([goal, [number[m * n + mdp.initial] for m, _ in starts]])
        chance = np.concatenate([chance, np.ones(len(starts))])
        taken = np.concatenate([taken, [float(p) for _, p in starts]])
        actions += [f"{MEMORY}={m}" for m, _ in starts]
        exact = None if exact is None else [*exact, *[Fraction(1)] * len(starts)]
        initial = len(kept)
    product = MDP.from_triplets(
        row,
        goal,
        chance,
        first_choice=first_choice,
        actions=actions,
        initial=initial,
        exact=exact,
        labels={name: _padded(holds[state], len(first_choice) - 1) for name, holds in mdp.labels.items()},
        definitions=mdp.definitions,
        **_named(mdp, state, mode, len(first_choice) - 1),
    )
    return Strategy.memoryless(product, taken)


def induced_mdp(strategy: Strategy) -> MDP:
    """Give the Markov chain that a strategy leaves, as far as it is reached: a model with one choice in every state.

    >>> from waypost.cases import loan
    >>> chain = induced_mdp(Strategy.from_dict(loan(), {"s0": "Consult", "Consultation": "Angry"}))
    >>> chain.states, chain.actions
    (('s0', 'Consultation', 'Angry', 'Rejected'), ('Consult', 'Angry', 'Quit', '(final)'))
    """
    plain = on_product(strategy)
    mdp, taken = plain.mdp, plain.modes[0]
    chain = induced_chain(mdp, taken)
    kept = np.sort(reached_from(chain, mdp.initial))
    number = np.full(mdp.n_states, -1)
    number[kept] = np.arange(len(kept))
    part = csr_array(chain[kept])
    row, goal = np.repeat(np.arange(len(kept)), np.diff(part.indptr)), number[part.indices]
    mixed = np.add.reduceat(taken > 0, mdp.first_choice[:-1]) > 1
    chosen = np.zeros(mdp.n_states, np.int64)
    chosen[mdp.choice_state[taken > 0]] = np.flatnonzero(taken > 0)
    names = mdp.states
    kept_values = None if mdp.valuations is None else {x: _picked(v, kept) for x, v in mdp.valuations.items()}
    if isinstance(names, StateNames) and kept_values is not None:
        called: Any = StateNames(kept_values, names.shown, unnamed=names.unnamed)
    else:
        called = some_of(names, kept)
    return MDP.from_triplets(
        row,
        goal,
        part.data,
        first_choice=np.arange(len(kept) + 1),
        states=called,
        actions=[MIXED if mixed[s] else mdp.actions[chosen[s]] for s in kept.tolist()],
        initial=int(number[mdp.initial]),
        labels={name: holds[kept] for name, holds in mdp.labels.items()},
        exact=None if mdp.exact is None else _mixed_exactly(mdp, taken, kept, part),
        valuations=kept_values,
        definitions=mdp.definitions,
    )


def _reached(strategy: Strategy) -> NDArray[np.int64]:
    """Pairs ``mode * n + state`` that some choices lead to, sorted."""
    mdp, n = strategy.mdp, strategy.mdp.n_states
    source = mdp.choice_state[np.repeat(np.arange(mdp.n_choices), np.diff(mdp.transitions.indptr))]
    goal = mdp.transitions.indices
    modes = range(strategy.memory)
    arrows = (
        np.concatenate([m * n + source for m in modes]),
        np.concatenate([strategy.update[m][goal] * n + goal for m in modes]),
    )
    size = strategy.memory * n
    graph = csr_array((np.ones(len(arrows[0])), arrows), shape=(size, size))
    found = np.zeros(size, bool)
    for mode, _ in strategy.starts:
        found[reached_from(graph, mode * n + mdp.initial)] = True
    return np.flatnonzero(found)


def _named(mdp: MDP, state: NDArray[np.int64], mode: NDArray[np.int64], size: int) -> dict[str, Any]:
    """Names and valuations of the product; the state `TOSS` comes last, where there is one."""
    extra = size - len(state)
    if isinstance(mdp.states, StateNames) and mdp.valuations is not None and MEMORY not in mdp.valuations:
        columns = {x: _longer(_picked(v, state), extra) for x, v in mdp.valuations.items()}
        columns[MEMORY] = _longer(Variable.of(mode), extra)
        return {"valuations": columns, "states": StateNames(columns, [*mdp.states.shown, MEMORY], unnamed=TOSS)}
    names = [f"{mdp.states[s]}, {MEMORY}={m}" for s, m in zip(state.tolist(), mode.tolist(), strict=True)]
    return {"states": [*names, *[TOSS] * extra]}


def _picked(variable: Variable, states: NDArray[np.int64]) -> Variable:
    return Variable.of(variable.values[states], variable.defined[states], variable.words)


def _longer(variable: Variable, extra: int) -> Variable:
    """Column with some states more, which have no value."""
    values = np.concatenate([variable.values, np.zeros(extra, variable.values.dtype)])
    return Variable.of(values, _padded(variable.defined, len(values)), variable.words)


def _padded(mask: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    return np.concatenate([mask, np.zeros(size - len(mask), bool)])


def _ranges(start: NDArray[Any], length: NDArray[Any]) -> NDArray[np.int64]:
    """``start[0], start[0] + 1, ..., start[1], ...``, `length` numbers from each."""
    shift = np.repeat(start - np.concatenate([[0], np.cumsum(length)[:-1]]), length)
    return np.asarray(np.arange(int(length.sum())) + shift)


def _mixed_exactly(
    mdp: MDP, taken: NDArray[np.float64], kept: NDArray[np.int64], part: csr_array
) -> Sequence[Fraction]:
    """Probabilities of the chain as Fractions, in the order of `part`; a strategy's float is its shortest decimal."""
    exact, matrix, found = mdp.rationals(), mdp.transitions, []
    for k, s in enumerate(kept.tolist()):
        odds: dict[int, Fraction] = {}
        used = [c for c in mdp.choices(s) if taken[c]]
        shares = [Fraction(repr(float(taken[c]))) for c in used]
        for c, share in zip(used, shares, strict=True):
            for e in range(matrix.indptr[c], matrix.indptr[c + 1]):
                goal = int(matrix.indices[e])
                odds[goal] = odds.get(goal, Fraction(0)) + share / sum(shares) * exact[e]
        found += [odds[int(goal)] for goal in part.indices[part.indptr[k] : part.indptr[k + 1]]]
    return found
