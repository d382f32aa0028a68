"""What an agent's answer for one state means: an action by name or number, or numbers for all actions.

A number is the position of an action among the actions of the model; where actions are called by numbers, it is the
action called so. A row has one number for each action: its probabilities, or its values, of which the greatest is
taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from waypost.environments.playing import plain
from waypost.errors import StrategyError
from waypost.model import MDP

TableOf = Literal["values", "probabilities"]
ActionRow = NDArray[np.float64]  # one number per action
SUM_TOLERANCE = 1e-6  # networks count in few digits


def with_choices(mdp: MDP) -> NDArray[np.int64]:
    """States with several actions: in the others there is nothing to ask."""
    return np.flatnonzero(np.diff(mdp.first_choice) > 1)


def all_actions(mdp: MDP) -> tuple[str, ...] | None:
    """Actions in the order of their numbers, where some state has them all or they are called by their numbers.

    >>> steps = {"a": {"go": "b", "wait": "a", "hop": "b"}, "b": {"go": "c", "hop": "c"}, "c": {}}
    >>> all_actions(MDP.from_dict(steps, initial="a"))
    ('go', 'wait', 'hop')
    """
    offered = {mdp.actions_of(s) for s in with_choices(mdp).tolist()}
    names = set().union(*offered)
    if names and all(name.isdecimal() for name in names):
        return tuple(map(str, range(max(map(int, names)) + 1)))
    fullest = max(offered, key=len, default=())
    return fullest if names <= set(fullest) else None


def is_row(answer: Any) -> bool:
    """Whether an answer has numbers for several actions.

    >>> is_row([0.2, 0.8]), is_row(np.array([1])), is_row("left")
    (True, False, False)
    """
    return isinstance(answer, np.ndarray | list | tuple) and np.size(np.asarray(answer, object)) > 1


def own_row(mdp: MDP, s: int, answer: Any, every: tuple[str, ...] | None) -> ActionRow:
    """The numbers of the actions that a state has, out of a row for these, or for all actions there are."""
    owned = mdp.actions_of(s)
    try:
        row = np.asarray(answer, float)
    except (TypeError, ValueError):
        raise StrategyError(
            f"the answer {answer!r} for state {mdp.states[s]!r} is no action; give the name or the number of one, or "
            "one number for each action"
        ) from None
    row = row.reshape(-1) if row.size == max(row.shape) else row
    if row.ndim != 1 or len(row) not in {len(owned), len(every or owned)}:
        raise StrategyError(
            f"{row.size} numbers for state {mdp.states[s]!r}, which has {len(owned)} actions: {', '.join(owned)}"
        )
    own = row[[every.index(name) for name in owned]] if every and len(every) == len(row) else row
    if np.isnan(own).any():
        action = owned[int(np.flatnonzero(np.isnan(own))[0])]
        raise StrategyError(
            f"the number for action {action!r} in state {mdp.states[s]!r} is NaN; mend the agent, or, where the action "
            "is never to be taken, give it the value -inf"
        )
    return own


def meant(rows: Collection[ActionRow]) -> TableOf:
    """Whether rows are values or probabilities, where they tell.

    >>> meant([np.array([0.3, 0.7]), np.array([1.0, 0.0])]), meant([np.array([0.3, 0.9]), np.array([1.0, 0.0])])
    ('probabilities', 'values')
    """
    sums = np.array([(row >= 0).all() and abs(row.sum() - 1) <= SUM_TOLERANCE for row in rows], bool)
    if sums.all():
        return "probabilities"
    several = np.array([np.count_nonzero(row) for row in rows])
    told = sums & (several > 1)  # a lone 1 means the same either way
    if 2 * told.sum() > np.count_nonzero(several):
        raise StrategyError(
            f"{sums.sum()} of the {len(rows)} rows of states with a choice sum to 1, as probabilities do, the others "
            "do not; say what they are: table='values' or table='probabilities' (of a FILE at the command line "
            "FILE:values or FILE:probabilities)"
        )
    return "values"


def taken_by_row(mdp: MDP, s: int, row: ActionRow, of: TableOf) -> dict[str, float]:
    """What a row says is done, by name: the action of the greatest value, the first of equals, or its probabilities."""
    names = mdp.actions_of(s)
    if of == "values":
        return {names[int(np.argmax(row))]: 1.0}
    total = row.sum()
    odds = row / total if abs(total - 1) <= SUM_TOLERANCE else row  # else let the checks say what is wrong
    return {name: float(p) for name, p in zip(names, odds, strict=True) if p}


def taken_by_name(mdp: MDP, s: int, answer: Any, every: tuple[str, ...] | None, of: TableOf | None) -> dict[str, float]:
    """What an answer that is no row says is done, by name: an action, or a mapping of actions to numbers."""
    if isinstance(answer, Mapping):
        named = {action_name(mdp, s, action, every): plain(number) for action, number in answer.items()}
        numbers = [number for number in named.values() if isinstance(number, int | float)]
        if of is None and len(named) > 1 and len(numbers) == len(named) and abs(sum(numbers) - 1) > SUM_TOLERANCE:
            raise StrategyError(
                f"the numbers of the actions in state {mdp.states[s]!r} sum to {sum(numbers):.12g}, not 1, as "
                "probabilities do; if they are values, of which the greatest is taken, say table='values'"
            )
        return {max(named, key=lambda name: named[name]): 1.0} if of == "values" and named else named
    return {action_name(mdp, s, answer, every): 1.0}


def action_name(mdp: MDP, s: int, answer: Any, every: tuple[str, ...] | None) -> str:
    """Name of the action that an answer means in a state.

    >>> mdp = MDP.from_dict({"s": {"wait": "s", "go": "t"}, "t": {}}, initial="s")
    >>> [action_name(mdp, 0, answer, all_actions(mdp)) for answer in ("go", 1, 1.0, True, np.array([1]))]
    ['go', 'go', 'go', 'go', 'go']
    """
    said = plain(answer)
    if isinstance(said, str) or str(said) in mdp.actions_of(s):
        return str(said)
    if not isinstance(said, bool | int | float) or said != np.floor(said) or not np.isfinite(said):
        raise StrategyError(
            f"the answer {said!r} for state {mdp.states[s]!r} is no action; give the name or the number of one, or one "
            "number for each action"
        )
    return by_number(mdp, s, int(said), every)


def by_number(mdp: MDP, s: int, number: int, every: tuple[str, ...] | None) -> str:
    """Name of the action that a number means in a state."""
    own = mdp.actions_of(s)
    if every is not None and every == tuple(map(str, range(len(every)))):
        if str(number) in own:
            return str(number)
        raise StrategyError(f"action number {number} does not exist in state {mdp.states[s]!r}, only {', '.join(own)}")
    if not 0 <= number < len(own) and not (every and 0 <= number < len(every)):
        raise StrategyError(
            f"action number {number} does not exist in state {mdp.states[s]!r}; its actions are numbered from 0 to "
            f"{len(own) - 1}: {', '.join(own)}"
        )
    if every is not None and own != every and own[number : number + 1] != every[number : number + 1]:
        raise StrategyError(
            f"in state {mdp.states[s]!r}, which has the actions {', '.join(own)}, number {number} may mean "
            f"{every[number]!r} of all actions or one of its own; give actions by name, {{state: action}}"
        )
    return own[number]
