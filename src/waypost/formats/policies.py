"""What agents bring, as strategies: tables of values or probabilities, numbers of actions, functions, ``predict``.

States and actions may be meant by number: state `s` is the environment's state `s`, action `a` its choice `a`, as in
models made by `from_gymnasium`, `explore` and `from_tensor`; where states are called by numbers, these are meant. What
an agent answers for a state is read by `waypost.formats.answers`. States with a single action are never asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.environments.contract import name_of
from waypost.environments.playing import plain, predicted, remembers
from waypost.errors import StrategyError, WaypostError, unknown_name
from waypost.formats.answers import (
    TableOf,
    action_name,
    all_actions,
    is_row,
    meant,
    own_row,
    taken_by_name,
    taken_by_row,
    with_choices,
)
from waypost.model import MDP, Strategy

Observe = Callable[[int], Any]
WITH_MEMORY = ({"before", "after"}, {"modes", "update"})  # keys of strategies that remember, as we write them
ASKED = 400  # questions after which an agent that gave the same answers is taken not to draw


def strategy_from_function(
    mdp: MDP, choose: Callable[[Any], Any], *, of: TableOf | None = None, observe: Observe | None = None
) -> Strategy:
    """Ask a function what to do in every state that has a choice: an action, or numbers for all actions.

    It is given the name of the state, or what `observe` makes of its number, and answers with the name or number of an
    action, with ``{action: probability}``, or with a row: one probability, or one value, per action.

    >>> from waypost.cases import loan
    >>> careful = strategy_from_function(loan(), lambda state: {"s0": "Consult", "Error": "Quit"}.get(state) or
    ...     ("Submit" if state == "Rework" else "Apply"))
    >>> careful.to_dict()["Rework"]
    {'Submit': 1.0}
    """
    numbers, several = state_numbers(mdp), with_choices(mdp).tolist()
    seen = [mdp.states[s] if observe is None else observe(numbers[s]) for s in several]

    def ask(given: Any) -> Any:
        try:
            return plain(choose(given))
        except Exception as error:
            if isinstance(error, WaypostError) or observe is not None:
                raise
            raise StrategyError(
                f"the function does not take the state name {given!r} ({type(error).__name__}: {str(error)[:200]}); if "
                "it expects something else pass observe=, for example observe=lambda s: s for the state's number"
            ) from error

    said = [ask(given) for given in seen]
    for _ in _rounds(len(several)):
        for s, given, answer in reversed(list(zip(several, seen, said, strict=True))):
            if not _same(answer, ask(given)):
                raise _wavering("function", mdp.states[s])
    return _answered(mdp, several, said, of)


def _rounds(states: int) -> range:
    """How often all states are asked about again: an agent that draws rarely gives the same answer many times."""
    return range(max(1, -(-ASKED // max(1, states))))


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) if isinstance(one, Mapping | str) else bool(np.array_equal(one, other))


def _wavering(agent: str, state: str) -> StrategyError:
    return StrategyError(
        f"asked several times in state {state!r}, the {agent} gives two answers: it draws, or remembers what it was "
        "asked; give the probabilities of its actions, {state: {action: probability}}, or let it play: "
        "waypost.environments.record and waypost.agents.abstract_agent"
    )


def strategy_from_mapping(mdp: MDP, given: Mapping[Any, Any], *, of: TableOf | None = None) -> Strategy:
    """Read ``{state: answer}``, states by name or by number: an action, ``{action: probability}``, or a row.

    >>> mdp = MDP.from_dict({"s": {"wait": "s", "go": "t"}, "t": {}}, initial="s")
    >>> strategy_from_mapping(mdp, {0: 1}).to_dict()["s"], strategy_from_mapping(mdp, {0: [0.1, 2.5]}).to_dict()["s"]
    ({'go': 1.0}, {'go': 1.0})
    """
    if any(parts <= set(given) for parts in WITH_MEMORY):
        return Strategy.from_dict(mdp, given)
    if given and all(
        isinstance(s, str) and s.isdecimal() and mdp.find(s) is None for s in given
    ):  # as JSON has numbers
        given = {int(state): taken for state, taken in given.items()}
    states = [mdp.state(_state_name(mdp, state)) for state in given]
    return _answered(mdp, states, [plain(taken) for taken in given.values()], of)


def _answered(mdp: MDP, states: Sequence[int], answers: Sequence[Any], of: TableOf | None) -> Strategy:
    """Strategy from an answer for each of some states; what is said of states without a choice does not count."""
    every, several = all_actions(mdp), set(with_choices(mdp).tolist())
    asked = [(s, answer) for s, answer in zip(states, answers, strict=True) if s in several]
    rows = {s: own_row(mdp, s, answer, every) for s, answer in asked if is_row(answer)}
    kind = of or meant(rows.values())
    return Strategy.from_dict(mdp, {
        mdp.states[s]: taken_by_row(mdp, s, rows[s], kind) if s in rows else taken_by_name(mdp, s, answer, every, of)
        for s, answer in asked
    })  # fmt: skip


def strategy_from_table(mdp: MDP, table: NDArray[Any], *, of: TableOf | None = None) -> Strategy:
    """Read a table with one row per state: its values or probabilities, one column per action, or its action.

    Rows that all sum to 1 are probabilities, others are values, of which the greatest is taken, the first of equals.
    Where only most of them sum to 1, `of` must say what they are. Row `s` belongs to state `s`, column `a` to its
    choice `a`, as in models made by `from_gymnasium` and `from_tensor`.

    >>> mdp = MDP.from_dict({"s": {"wait": "s", "go": "t"}, "t": {}}, initial="s")
    >>> strategy_from_table(mdp, np.array([[0.3, 0.7], [0.5, 0.5]])).to_dict()["s"]
    {'wait': 0.3, 'go': 0.7}
    >>> strategy_from_table(mdp, np.array([[0.3, 0.7], [0.5, 0.5]]), of="values").to_dict()["s"]
    {'go': 1.0}
    >>> strategy_from_table(mdp, np.array([1, 0])).to_dict()["s"]
    {'go': 1.0}
    """
    if of not in (None, "values", "probabilities"):
        raise StrategyError(f"a table is of 'values' or of 'probabilities', not of {of!r}")
    numbers, several = state_numbers(mdp), with_choices(mdp).tolist()
    if table.ndim == 1 and table.dtype.kind in "iufU":
        for s in several:
            if numbers[s] >= len(table):
                raise StrategyError(
                    f"the policy has {len(table)} actions, one per state; state {mdp.states[s]!r} is number "
                    f"{numbers[s]} and has none"
                )
        return _answered(mdp, several, table[[numbers[s] for s in several]].tolist(), of)
    if table.ndim != 2 or table.dtype.kind not in "iufb":
        raise StrategyError(
            f"this is {_shape(table)} of {table.dtype}; a Q-table has one row per state and one column per action, all "
            "numbers; a policy may also be one whole number, or name of an action, per state"
        )
    every = all_actions(mdp)
    for s in several:
        owned = mdp.actions_of(s)
        if numbers[s] >= len(table) or table.shape[1] not in {len(owned), len(every or owned)}:
            raise StrategyError(
                f"the Q-table is {_shape(table)}; state {mdp.states[s]!r} is number {numbers[s]} and has {len(owned)} "
                f"actions{_reshaped(table, max(numbers[s] for s in several), len(every or owned))}"
            )
    return _answered(mdp, several, [table[numbers[s]] for s in several], of)


def _shape(table: NDArray[Any]) -> str:
    return " by ".join(map(str, table.shape)) or "a single number"


def _reshaped(table: NDArray[Any], last: int, actions: int) -> str:
    """What to pass instead of a table whose numbers would be enough."""
    if table.shape[0] == actions and table.shape[1] > last:
        return "; its rows are the actions: pass table.T"
    whole = table.dtype.kind in "iu" and table.size > last
    return "; if these are the actions of the fields of a grid, pass table.ravel()" if whole else ""


def strategy_from_agent(
    mdp: MDP,
    agent: Any,
    *,
    of: TableOf | None = None,
    deterministic: bool = True,
    observe: Observe | None = None,
) -> Strategy:
    """Ask an agent with ``predict``, as stable-baselines3 has it, in every state with a choice.

    It is given the states' numbers, all at once if it can, or what `observe` makes of a number: for one trained on
    one-hot vectors ``observe=lambda s: np.eye(16)[s]``. What it predicts is an action, or a row: one probability, or
    one value, per action, as Keras has it. With ``deterministic=False``, a policy that draws its actions gives their
    probabilities.
    """
    several = with_choices(mdp)
    numbers = [state_numbers(mdp)[s] for s in several.tolist()]
    seen: Any = np.array(numbers) if observe is None else [observe(number) for number in numbers]
    if not deterministic:
        return _drawn(mdp, agent, several, seen)
    said = _predicted(agent, seen, observed=observe is not None)
    if len(several) and remembers(agent, seen[0]):
        raise StrategyError(
            "the agent remembers what it saw (its predict() gives a state), so that what it does does not hang on the "
            "state of the model alone; let it play: waypost.environments.record and waypost.agents.abstract_agent"
        )
    every = all_actions(mdp)
    done = _done(mdp, several, said, every)
    for _ in _rounds(len(several)):
        again = _done(mdp, several, _predicted(agent, seen, observed=observe is not None), every)
        for s, one, other in zip(several.tolist(), done, again, strict=True):
            if one != other:
                raise _wavering("agent", mdp.states[s])
    return _answered(mdp, several.tolist(), said, of)


def _done(mdp: MDP, states: NDArray[np.int64], answers: Sequence[Any], every: tuple[str, ...] | None) -> list[Any]:
    """What is done in each state, to be compared: networks count in few digits, and not always in the same order."""
    pairs = zip(states.tolist(), answers, strict=True)
    return [int(np.argmax(answer)) if is_row(answer) else action_name(mdp, s, answer, every) for s, answer in pairs]


def _predicted(agent: Any, seen: Any, *, observed: bool) -> list[Any]:
    """What an agent predicts in each state: all at once, or one by one if it takes one observation at a time."""
    if len(seen) > 1:
        try:
            together = np.asarray(predicted(agent, np.stack(seen)))
            if together.shape[:1] == (len(seen),):
                return [plain(answer) for answer in together]
        except Exception:  # noqa: BLE001, S110  anything may go wrong in there; one at a time tells what
            pass
    try:
        return [plain(predicted(agent, one)) for one in seen]
    except Exception as error:
        what = "what observe= makes of a state" if observed else "the number of a state"
        raise StrategyError(
            f"the agent does not take {what} ({type(error).__name__}: {str(error)[:200]}); pass observe=, a function "
            "from state numbers to what the agent sees, such as observe=lambda s: np.eye(16)[s] for one-hot vectors, "
            "or observe=lambda s: [s] for an agent that takes rows of numbers"
        ) from error


def _drawn(mdp: MDP, agent: Any, several: NDArray[np.int64], seen: Any) -> Strategy:
    policy: Any = getattr(agent, "policy", None)
    if not hasattr(policy, "get_distribution"):
        raise StrategyError("this agent has no distribution over actions; use deterministic=True")
    tensor = policy.obs_to_tensor(np.stack(seen))[0]
    odds = plain(policy.get_distribution(tensor).distribution.probs).astype(float)
    return _answered(mdp, several.tolist(), list(odds), "probabilities")


def state_numbers(mdp: MDP) -> list[int]:
    """(S,) the number by which an agent knows each state: what it is called, where states are called by numbers.

    >>> state_numbers(MDP.from_dict({"7": {"a": "4", "b": "7"}, "4": {"a": "end", "b": "4"}, "end": {}}, initial="7"))
    [7, 4, 2]
    >>> state_numbers(MDP.from_dict({"s": {"a": "t", "b": "s"}, "t": {}}, initial="s"))
    [0, 1]
    """
    if not all(mdp.states[s].isdecimal() for s in with_choices(mdp).tolist()):
        return list(range(mdp.n_states))
    return [int(name) if name.isdecimal() else s for s, name in enumerate(mdp.states)]


def _state_name(mdp: MDP, state: Any) -> str:
    """Name of a state given by name, by number, or by what its name was made of."""
    said = name_of(state) if isinstance(state, tuple) else plain(state)
    if isinstance(said, int) and not isinstance(said, bool) and mdp.find(str(said)) is None:
        if not 0 <= said < mdp.n_states:
            raise StrategyError(f"the strategy speaks of state number {said}, the model has {mdp.n_states}")
        return mdp.states[said]
    if mdp.find(str(said)) is None:
        if isinstance(said, tuple):
            names = ", ".join(map(repr, list(mdp.variables)[: max(2, len(said))]))
            sees = f"tuple(mdp.variables[x].at(s) for x in [{names}])" if names else "divmod(s, 4)"
            raise StrategyError(
                f"no state is called {said!r}, but {mdp.states[mdp.initial]!r}, for example; call states by name or by "
                "number, or pass a function and what it sees of the state of a number, in the order of your tuples: "
                f"lambda seen: table[seen], observe=lambda s: {sees}"
            )
        raise unknown_name("state", str(said), mdp.states)
    return str(said)
