"""Groups of departures: the few conditions under which an agent loses most of what it loses.

Hundreds of places in which a little is lost are no answer; "without the key, turning left where forward is best" is
one. A group is a conjunction of values of the model's variables, its labels, what is taken and what would be best. It
is found as subgroups are in data mining, greedily, by weighted relative accuracy: among the choices that lose anything,

    share of the loss in the group - share of the choices in the group

is greatest, less a little for every further condition. What one group holds no longer counts for the next. Where
nothing stands out any more, choices belong together that do the same where the same is best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from waypost.agents.conduct import Conduct
from waypost.model import MDP
from waypost.model.arrays import Floats, Ints, Mask
from waypost.model.valuations import Variable

LENGTH = 3  # conditions of a group, at most
BEAM = 12  # conjunctions that are made longer
PRICE = 0.03  # of the loss, which one more condition has to gain
WORTH = 0.1  # of the loss: a group that holds less is not told
MOST = 4  # groups
THRESHOLDS = 16  # tried of a number
MOST_VALUES = 40  # of a variable, above which its values are not told one by one
LARGEST = 100_000  # choices, the most costly ones


class LossGroup(NamedTuple):
    """Places that have something in common, in which an agent loses much of what it loses."""

    where: str  # what the states have in common; empty if only what is taken, or best, is the same
    cost: float  # of success, over all visits
    places: int
    visits: float  # to these places, how often on average
    taken: Mapping[str, float]  # what is lost by each action, the most costly first
    best: Mapping[str, float]  # what is lost where each action would be best


class _Condition(NamedTuple):
    text: str  # empty, if it is about the action
    holds: Mask  # by choice that loses something


def loss_groups(mdp: MDP, conduct: Conduct, costs: Floats) -> tuple[LossGroup, ...]:
    """Groups of choices, by what each loses, (C,); what one holds is in no other.

    >>> steps = {f"x={x}, y={y}": {"on": f"x={x + 1}, y={y}", "off": "lost"} for y in range(4) for x in range(9)}
    >>> ends = {"lost": {}, **{f"x=9, y={y}": {} for y in range(4)}}
    >>> mdp = MDP.from_dict({**steps, **ends}, initial="x=0, y=0")
    >>> off = np.array([action == "off" for action in mdp.actions])
    >>> ones, merits, met = np.ones(mdp.n_states), 1 - off.astype(int), np.ones(mdp.n_states, bool)
    >>> conduct = Conduct(ones, np.full(len(off), 0.5), 0.01 * off, merits, off, merits.astype(float), ones, met)
    >>> row = mdp.where("y=1")[mdp.choice_state]  # where ten times as much is lost
    >>> [(group.where, group.places) for group in loss_groups(mdp, conduct, conduct.costs * np.where(row, 10, 1))]
    [('y=1', 9), ('', 27)]
    """
    total = float(costs.sum())
    losing = np.argsort(-costs, kind="stable")[: min(LARGEST, np.count_nonzero(costs > 0))]
    conditions = list(_conditions(mdp, conduct, losing))
    if not conditions:
        return ()
    holds = csr_array(np.stack([condition.holds for condition in conditions]).astype(float))
    left = np.ones(len(losing), bool)
    found: list[LossGroup] = []
    while len(found) < MOST and left.any():
        shares = np.where(left, costs[losing], 0.0) / total
        chosen = _best_conjunction(holds, shares) or _habit(holds, [not c.text for c in conditions], shares)
        inside = left & np.all([conditions[k].holds for k in chosen], axis=0)
        if costs[losing[inside]].sum() < WORTH * total:
            break
        where = " & ".join(text for k in chosen if (text := conditions[k].text))
        found.append(_group(mdp, conduct, costs, losing[inside], where))
        left &= ~inside
    return tuple(sorted(found, key=lambda group: -group.cost))


def _best_conjunction(holds: csr_array, shares: Floats) -> tuple[int, ...]:
    """Positions of the conditions that hold together where most is lost in few choices; none if nothing stands out."""
    even = np.where(shares > 0, 1 / holds.shape[1], 0.0)
    best: tuple[int, ...] = ()
    worth = PRICE
    beam: dict[tuple[int, ...], Floats] = {(): np.ones(holds.shape[1])}
    for length in range(1, LENGTH + 1):
        inside = np.stack(list(beam.values()), axis=1)  # (choices, conjunctions)
        gains = holds @ (inside * (shares - even)[:, None]) - PRICE * (length - 1)
        longer: dict[tuple[int, ...], Floats] = {}
        before = list(beam)
        for flat in np.argsort(-gains, axis=None, kind="stable")[: 4 * BEAM].tolist():
            row, column = divmod(flat, gains.shape[1])
            chosen = tuple(sorted({*before[column], row}))
            if len(chosen) < length or chosen in longer or len(longer) == BEAM:
                continue
            longer[chosen] = inside[:, column] * holds[[row]].toarray()[0]
            if gains[row, column] > worth + 1e-12:
                best, worth = chosen, float(gains[row, column])
        beam = longer
        if not beam:
            break
    return best


def _habit(holds: csr_array, about_actions: list[bool], shares: Floats) -> tuple[int, ...]:
    """Positions of what is taken and what is best, together, where most is lost."""
    rows = np.flatnonzero(about_actions)
    together = (holds[rows] * shares[None, :]) @ holds[rows].T  # what is lost where both hold
    lost = np.triu(together.toarray(), 1)
    return tuple(rows[list(np.unravel_index(lost.argmax(), lost.shape))].tolist())


def _group(mdp: MDP, conduct: Conduct, costs: Floats, inside: Ints, where: str) -> LossGroup:
    states = np.unique(mdp.choice_state[inside])
    return LossGroup(
        where=where,
        cost=float(costs[inside].sum()),
        places=len(states),
        visits=float(conduct.visits[states].sum()),
        taken=_by_action(mdp, inside, costs[inside]),
        best=_by_action(mdp, _first_best(mdp, conduct)[mdp.choice_state[inside]], costs[inside]),
    )


def _by_action(mdp: MDP, choices: Ints, costs: Floats) -> dict[str, float]:
    """Costs by the name of an action, the greatest first."""
    found: dict[str, float] = {}
    for choice, cost in zip(choices.tolist(), costs.tolist(), strict=True):
        found[mdp.actions[choice]] = found.get(mdp.actions[choice], 0.0) + cost
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _first_best(mdp: MDP, conduct: Conduct) -> Ints:
    """(S,) the best choice of each state."""
    order = np.lexsort((np.arange(mdp.n_choices), -conduct.merits, mdp.choice_state))
    return order[mdp.first_choice[:-1]]


def _conditions(mdp: MDP, conduct: Conduct, losing: Ints) -> Iterator[_Condition]:
    """All that may be said of the choices that lose something: words before numbers, what is not there at the end."""
    states = mdp.choice_state[losing]
    said = [(name, holds[states]) for name, holds in mdp.labels.items()]
    columns = {x: Variable(v.values[states], v.defined[states], v.words) for x, v in mdp.variables.items()}
    worded = {x: v for x, v in columns.items() if v.words is not None or v.values.dtype == bool}
    said += [pair for x, v in worded.items() for pair in _values(x, v)]
    said += [pair for x, v in columns.items() if x not in worded for pair in _numbers(x, v)]
    said += [(f"no {x}", ~v.defined) for x, v in columns.items()]
    yield from (_Condition(text, holds) for text, holds in said if holds.any() and not holds.all())
    for choices in (losing, _first_best(mdp, conduct)[states]):
        names = np.array([mdp.actions[c] for c in choices.tolist()])
        yield from (_Condition("", names == name) for name in np.unique(names))


def _values(name: str, variable: Variable) -> Iterator[tuple[str, Mask]]:
    """Every value, as text, and where it is taken."""
    for value in np.unique(variable.values[variable.defined]):
        holds = variable.defined & (variable.values == value)
        yield f"{name}={variable.texts(np.flatnonzero(holds)[:1])[0]}", holds


def _numbers(name: str, variable: Variable) -> Iterator[tuple[str, Mask]]:
    """Thresholds of a number, evenly spread over its values, and the values if they are few."""
    values = np.unique(variable.values[variable.defined])
    if len(values) <= MOST_VALUES:
        yield from _values(name, variable)
    for value in (
        values[1:][np.unique(np.linspace(0, len(values) - 2, THRESHOLDS).astype(int))] if len(values) > 1 else ()
    ):
        yield f"{name}>={value}", variable.defined & (variable.values >= value)
        yield f"{name}<{value}", variable.defined & (variable.values < value)
