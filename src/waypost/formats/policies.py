"""What agents bring, as strategies: tables of values or probabilities, numbers of actions, functions, ``predict``.

States and actions may be meant by number: state `s` is the environment's state `s`, action `a` its choice `a`, as in
models made by `from_gymnasium`, `explore` and `from_tensor`; where states are called by numbers, these are meant. Where
some actions are not possible in every state, number `a` is the action called ``a``, if actions are called by their
numbers; else a number that could mean two actions is refused. A table may have a column for every action there is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from waypost.environments.playing import predicted, remembers
from waypost.errors import StrategyError, WaypostError, unknown_name
from waypost.model import MDP, Strategy

TableOf = Literal["values", "probabilities"]
Observe = Callable[[int], Any]
SUM_TOLERANCE = 1e-6  # networks count in few digits


def strategy_from_function(mdp: MDP, choose: Callable[[Any], Any], *, observe: Observe | None = None) -> Strategy:
    """Ask a function what to do in every state that has a choice: an action, or a distribution over actions.

    It is given the name of the state, or what `observe` makes of its number, and answers with the name or number of an
    action, with ``{action: probability}``, or with one probability per action.

    >>> from waypost.cases import loan
    >>> careful = strategy_from_function(loan(), lambda state: {"s0": "Consult", "Error": "Quit"}.get(state) or
    ...     ("Submit" if state == "Rework" else "Apply"))
    >>> careful.to_dict()["Rework"]
    {'Submit': 1.0}
    """
    numbers = state_numbers(mdp)
    asked = {mdp.states[s]: mdp.states[s] if observe is None else observe(numbers[s]) for s in _several(mdp).tolist()}
    said: dict[str, Any] = {}
    for name, given in asked.items():
        try:
            said[name] = choose(given)
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            if isinstance(error, WaypostError) or observe is not None:
                raise
            raise StrategyError(
                f"the function does not take the state name {given!r} ({type(error).__name__}: {error}); if it expects "
                "something else pass observe=, for example observe=lambda s: s for the state's number"
            ) from error
    for name in reversed(said):
        if not _same(said[name], choose(asked[name])):
            raise _wavering("function", name)
    return strategy_from_mapping(mdp, said)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) if isinstance(one, Mapping | str) else bool(np.array_equal(one, other))


def _wavering(agent: str, state: str) -> StrategyError:
    return StrategyError(
        f"asked twice in state {state!r}, the {agent} gives two answers: it draws, or remembers what it was asked; "
        "give the probabilities of its actions, {state: {action: probability}}, or let it play: "
        "waypost.environments.record and waypost.agents.abstract_agent"
    )


def strategy_from_mapping(mdp: MDP, given: Mapping[Any, Any]) -> Strategy:
    """Read ``{state: action or {action: probability}}``, states and actions by name or by number.

    >>> mdp = MDP.from_dict({"s": {"wait": "s", "go": "t"}, "t": {}}, initial="s")
    >>> strategy_from_mapping(mdp, {0: 1}).to_dict()["s"]
    {'go': 1.0}
    """
    if not all(isinstance(state, str) and isinstance(taken, str | Mapping) for state, taken in given.items()):
        given = {_state_name(mdp, state): taken for state, taken in given.items()}
        every = all_actions(mdp)
        given = {name: _taken(mdp, mdp.state(name), taken, every) for name, taken in given.items()}
    return Strategy.from_dict(mdp, given)


def strategy_from_table(mdp: MDP, table: NDArray[Any], *, of: TableOf | None = None) -> Strategy:
    """Read a table with one row per state: its values or probabilities, one column per action, or its action's number.

    Rows that all sum to 1 are probabilities, others are values, of which the greatest is taken. Where only most of
    them sum to 1, `of` must say what they are.

    >>> mdp = MDP.from_dict({"s": {"wait": "s", "go": "t"}, "t": {}}, initial="s")
    >>> strategy_from_table(mdp, np.array([[0.3, 0.7], [0.5, 0.5]])).to_dict()["s"]
    {'wait': 0.3, 'go': 0.7}
    >>> strategy_from_table(mdp, np.array([[0.3, 0.7], [0.5, 0.5]]), of="values").to_dict()["s"]
    {'go': 1.0}
    >>> strategy_from_table(mdp, np.array([1, 0])).to_dict()["s"]
    {'go': 1.0}
    """
    if table.ndim == 1 and table.dtype.kind in "iu":
        return _from_numbers(mdp, table)
    if table.ndim != 2 or table.dtype.kind not in "iufb" or np.isnan(table).any():
        raise StrategyError(
            "a Q-table has one row per state and one column per action, all numbers; "
            "a policy may also be one whole number per state, its action"
        )
    if of not in (None, "values", "probabilities"):
        raise StrategyError(f"a table is of 'values' or of 'probabilities', not of {of!r}")
    rows = _rows(mdp, table.astype(float))
    meant = of or _meant(rows.values())
    return strategy_from_q_table(mdp, table) if meant == "values" else _from_odds(mdp, rows)


def strategy_from_q_table(mdp: MDP, values: NDArray[Any]) -> Strategy:
    """Take the action of the greatest value in every state; the first of equals.

    Row `s` belongs to state `s`, column `a` to its choice `a`, as in models made by `from_gymnasium` and `from_tensor`.

    >>> mdp = MDP.from_dict({"s": {"wait": "s", "go": "t"}, "t": {}}, initial="s")
    >>> strategy_from_q_table(mdp, np.array([[0.1, 0.9], [0, 0]])).to_dict()["s"]
    {'go': 1.0}
    """
    choice = mdp.first_choice[:-1].copy()
    for s, row in _rows(mdp, np.asarray(values, float)).items():
        choice[s] += int(np.argmax(row))
    return Strategy.deterministic_of(mdp, choice)


def strategy_from_agent(
    mdp: MDP, agent: Any, *, deterministic: bool = True, observe: Observe | None = None
) -> Strategy:
    """Ask an agent with ``predict``, as stable-baselines3 has it, in every state with a choice.

    It is given the states' numbers, all at once if it can, or what `observe` makes of a number: for one trained on
    one-hot vectors ``observe=lambda s: np.eye(16)[s]``. With ``deterministic=False``, a policy that draws its actions
    gives their probabilities.
    """
    several = _several(mdp)
    numbers = [state_numbers(mdp)[s] for s in several.tolist()]
    seen: Any = np.array(numbers) if observe is None else [observe(number) for number in numbers]
    if not deterministic:
        return _drawn(mdp, agent, several, seen)
    taken = _predicted(agent, seen, observed=observe is not None)
    if len(several) and remembers(agent, seen[0]):
        raise StrategyError(
            "the agent remembers what it saw (its predict() gives a state), so that what it does does not hang on the "
            "state of the model alone; let it play: waypost.environments.record and waypost.agents.abstract_agent"
        )
    for s in several[taken != _predicted(agent, seen, observed=observe is not None)].tolist():
        raise _wavering("agent", mdp.states[s])
    return Strategy.deterministic_of(mdp, _numbered(mdp, several, taken))


def _predicted(agent: Any, seen: Any, *, observed: bool) -> NDArray[np.int64]:
    """(k,) numbers of the actions: all at once, or one by one for an agent that takes one observation at a time."""
    try:
        together = np.asarray(predicted(agent, np.stack(seen)))
        if together.size == len(seen):
            return together.reshape(-1).astype(np.int64)
    except Exception:  # noqa: BLE001, S110  anything may go wrong in there; one at a time tells what
        pass
    try:
        return np.array([int(np.asarray(predicted(agent, one)).reshape(-1)[0]) for one in seen], np.int64)
    except Exception as error:
        what = "what observe= makes of a state" if observed else "the number of a state"
        raise StrategyError(
            f"the agent does not take {what} ({type(error).__name__}: {str(error)[:200]}); pass observe=, a function "
            "from state numbers to what the agent sees, such as observe=lambda s: np.eye(16)[s] for one-hot vectors"
        ) from error


def _drawn(mdp: MDP, agent: Any, several: NDArray[np.int64], seen: Any) -> Strategy:
    policy: Any = getattr(agent, "policy", None)
    if not hasattr(policy, "get_distribution"):
        raise StrategyError("this agent has no distribution over actions; use deterministic=True")
    tensor = policy.obs_to_tensor(np.stack(seen))[0]
    odds = policy.get_distribution(tensor).distribution.probs.detach().cpu().numpy().astype(float)
    return _from_odds(mdp, dict(zip(several.tolist(), odds, strict=True)))


def _from_odds(mdp: MDP, odds: Mapping[int, NDArray[np.float64]]) -> Strategy:
    """Strategy from probabilities, by the position of the state."""
    return strategy_from_mapping(mdp, {mdp.states[s]: each for s, each in odds.items()})


def _several(mdp: MDP) -> NDArray[np.int64]:
    """States with a choice."""
    return np.flatnonzero(np.diff(mdp.first_choice) > 1)


def state_numbers(mdp: MDP) -> list[int]:
    """(S,) the number by which an agent knows each state: what it is called, where states are called by numbers.

    >>> state_numbers(MDP.from_dict({"7": {"a": "4", "b": "7"}, "4": {"a": "end", "b": "4"}, "end": {}}, initial="7"))
    [7, 4, 2]
    >>> state_numbers(MDP.from_dict({"s": {"a": "t", "b": "s"}, "t": {}}, initial="s"))
    [0, 1]
    """
    if not all(mdp.states[s].isdecimal() for s in _several(mdp).tolist()):
        return list(range(mdp.n_states))
    return [int(name) if name.isdecimal() else s for s, name in enumerate(mdp.states)]


def all_actions(mdp: MDP) -> tuple[str, ...] | None:
    """Actions in the order of their numbers, where some state has them all or they are called by their numbers.

    >>> steps = {"a": {"go": "b", "wait": "a", "hop": "b"}, "b": {"go": "c", "hop": "c"}, "c": {}}
    >>> all_actions(MDP.from_dict(steps, initial="a"))
    ('go', 'wait', 'hop')
    """
    offered = {mdp.actions_of(s) for s in _several(mdp).tolist()}
    names = set().union(*offered)
    if names and all(name.isdecimal() for name in names):
        return tuple(map(str, range(max(map(int, names)) + 1)))
    fullest = max(offered, key=len, default=())
    return fullest if names <= set(fullest) else None


def _rows(mdp: MDP, table: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
    """By state with a choice, the numbers of its own actions, if the table fits."""
    every, numbers = all_actions(mdp), state_numbers(mdp)
    found = {}
    for s in _several(mdp).tolist():
        owned, number = mdp.actions_of(s), numbers[s]
        if number >= len(table) or table.shape[1] not in {len(owned), len(every or owned)}:
            raise StrategyError(
                f"the Q-table is {table.shape[0]} by {table.shape[1]}; state {mdp.states[s]!r} is number {number} and "
                f"has {len(owned)} actions"
            )
        columns = [every.index(name) for name in owned] if every and len(every) == table.shape[1] else slice(None)
        found[s] = table[number, columns]
    return found


def _meant(rows: Collection[NDArray[np.float64]]) -> TableOf:
    """Whether rows are values or probabilities, where they tell."""
    sums = np.array([abs(row.sum() - 1) <= SUM_TOLERANCE and (row >= 0).all() for row in rows], bool)
    if sums.all():
        return "probabilities"
    several = np.array([np.count_nonzero(row) for row in rows])
    told = sums & (several > 1)  # a lone 1 means the same either way
    if 2 * told.sum() > np.count_nonzero(several):
        raise StrategyError(
            f"{sums.sum()} of the {len(rows)} rows of states with a choice sum to 1, as probabilities do, the others "
            "do not; say what they are: table='values' or table='probabilities'"
        )
    return "values"


def _from_numbers(mdp: MDP, numbers: NDArray[Any]) -> Strategy:
    several, known = _several(mdp), np.array(state_numbers(mdp))
    for s in several[known[several] >= len(numbers)].tolist():
        raise StrategyError(
            f"the policy has {len(numbers)} actions, one per state; state {mdp.states[s]!r} is number {known[s]} and "
            "has none"
        )
    return Strategy.deterministic_of(mdp, _numbered(mdp, several, numbers[known[several]]))


def _numbered(mdp: MDP, states: NDArray[np.int64], numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Give the choices that action numbers mean in states that have several."""
    choice, every = mdp.first_choice[:-1].copy(), all_actions(mdp)
    for s, number in zip(states.tolist(), numbers.tolist(), strict=True):
        choice[s] += mdp.actions_of(s).index(_by_number(mdp, s, int(number), every))
    return choice


def _by_number(mdp: MDP, s: int, number: int, every: tuple[str, ...] | None) -> str:
    """Name of the action that a number means in a state."""
    own = mdp.actions_of(s)
    if every is not None and every == tuple(map(str, range(len(every)))):
        if str(number) in own:
            return str(number)
        raise StrategyError(f"action number {number} does not exist in state {mdp.states[s]!r}, only {', '.join(own)}")
    if not 0 <= number < len(own) and not (every and 0 <= number < len(every)):
        raise StrategyError(f"action number {number} does not exist in state {mdp.states[s]!r}")
    if every is not None and own != every and own[number : number + 1] != every[number : number + 1]:
        raise StrategyError(
            f"in state {mdp.states[s]!r}, which has the actions {', '.join(own)}, number {number} may mean "
            f"{every[number]!r} of all actions or one of its own; give actions by name, {{state: action}}"
        )
    return own[number]


def _state_name(mdp: MDP, state: Any) -> str:
    """Name of a state given by name, by number, or by what its name was made of."""
    if isinstance(state, int | np.integer) and not isinstance(state, bool) and mdp.find(str(state)) is None:
        if not 0 <= state < mdp.n_states:
            raise StrategyError(f"the strategy speaks of state number {state}, the model has {mdp.n_states}")
        return mdp.states[int(state)]
    if mdp.find(str(state)) is None:
        raise unknown_name("state", str(state), mdp.states)
    return str(state)


def _taken(mdp: MDP, s: int, taken: Any, every: tuple[str, ...] | None) -> Any:
    """An action, or a distribution over actions, by name."""
    names = mdp.actions_of(s)
    if isinstance(taken, np.ndarray | list | tuple) and np.ndim(taken) == 1 and len(taken) > 1:
        odds = np.asarray(taken, float)
        if len(odds) != len(names):
            raise StrategyError(
                f"{len(odds)} probabilities for state {mdp.states[s]!r}, which has {len(names)} actions"
            )
        total = odds.sum()
        odds = odds / total if abs(total - 1) <= SUM_TOLERANCE else odds  # else let the checks say what is wrong
        return {name: float(p) for name, p in zip(names, odds, strict=True) if p}
    if isinstance(taken, Mapping):
        return {_action_name(mdp, s, action, every): p for action, p in taken.items()}
    return _action_name(mdp, s, taken, every)


def _action_name(mdp: MDP, s: int, action: Any, every: tuple[str, ...] | None) -> str:
    number = action.item() if isinstance(action, np.generic | np.ndarray) and np.size(action) == 1 else action
    if isinstance(number, int) and not isinstance(number, bool) and str(number) not in mdp.actions_of(s):
        return _by_number(mdp, s, number, every)
    return str(number)
