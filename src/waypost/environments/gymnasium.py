"""Gymnasium environments that carry their table, as MDPs.

A table ``env.unwrapped.P[state][action] = [(probability, next state, reward, terminated), ...]`` is taken as it is:
outcomes that lead to the same state are added up, and a step with ``terminated`` leads to an end (`environments.ends`).
Grid positions become names such as ``row=3, col=4``, so that targets can be written as expressions.

Labels: ``terminal`` are the ends, ``goal`` those with the greatest reward, ``hole`` and ``cliff`` what they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.environments.contract import begun
from waypost.environments.ends import EnvironmentStep, EpisodeModel
from waypost.errors import FormatError
from waypost.model import MDP

Namer = Callable[[int], str]

ACTIONS: Mapping[str, Sequence[str]] = {  # what the numbers mean, by class of environment
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "CliffWalkingEnv": ("up", "right", "down", "left"),
    "TaxiEnv": ("south", "north", "east", "west", "pickup", "dropoff"),
}

RESETS = 200  # from which it is counted where an environment begins that does not say so
SINGLE = 1e-6  # numbers of single precision add up to 1 no better than this
TAXI_STANDS = ("red", "green", "yellow", "blue", "in_taxi")  # where a passenger may be


def from_gymnasium(
    env: Any, *, states: Namer | None = None, actions: Sequence[str] | None = None, initial: int | None = None
) -> MDP:
    """Build an MDP from an environment with a table, such as FrozenLake, Taxi or CliffWalking.

    State `i` of the MDP is state `i` of the environment and its choices are the actions in order, so that a Q-table
    fits (`read_strategy`). It begins as its ``initial_state_distrib`` says, or else where so many resets begin. Where
    these are several states, a state ``start`` leads there.

    Parameters
    ----------
    states
        Gives a state number its name; by default the grid position, or the number.
    actions
        Names of the actions.
    initial
        Begin in this state, whatever the environment says.

    Examples
    --------
    >>> import gymnasium
    >>> from_gymnasium(gymnasium.make("FrozenLake-v1", is_slippery=False))
    MDP(states=16, choices=49, transitions=49, initial='row=0, col=0')
    """
    world = getattr(env, "unwrapped", env)
    table = getattr(world, "P", None)
    if isinstance(table, np.ndarray):
        raise FormatError(
            f"P of {type(world).__name__} is an array; pass the array itself, waypost.read_mdp(P), with P[a, s, s'] "
            "the probability that action a leads from s to s'"
        )
    if not has_table(world):
        raise FormatError(
            f"{type(world).__name__} has no table P; see explore() for small worlds, rollouts() for others"
        )
    table = _by_number(table)
    n_states = len(table)
    n_actions = 1 + max((action for enabled in table.values() for action in enabled), default=0)
    names = list(actions or ACTIONS.get(type(world).__name__, [str(a) for a in range(n_actions)]))
    namer = states or _namer(world)
    if len(names) != n_actions:
        raise FormatError(f"{len(names)} action names for {n_actions} actions")
    steps = _ending_where_entered(_steps(table, n_states))
    named = [namer(s) for s in range(n_states)]
    mdp = EpisodeModel(steps, named, names, _start(world, initial, n_states)).mdp()
    return mdp.with_labels({**mdp.labels, **_dangers(world, mdp.n_states)})


def has_table(world: Any) -> bool:
    """Whether a world has a table ``P`` of its steps."""
    table = getattr(world, "P", None)
    return isinstance(table, Mapping | list | tuple | np.ndarray) and len(table) > 0


def _by_number(table: Any) -> dict[int, dict[int, Any]]:
    """Table with states and actions by number, whether it has dicts or lists of them."""
    rows = dict(table) if isinstance(table, Mapping) else dict(enumerate(table))
    for state in range(len(rows)):
        if state not in rows:
            raise FormatError(
                f"the environment's table has {len(rows)} states but no state {state}; states and actions are numbers "
                "from 0 on, P[state][action] = [(probability, next state, reward, terminated), ...]"
            )
    enabled = {s: dict(row) if isinstance(row, Mapping) else dict(enumerate(row)) for s, row in rows.items()}
    for s, row in enabled.items():
        for action in row:
            if not isinstance(action, int | np.integer) or action < 0:
                raise FormatError(
                    f"P[{s}] has an action {action!r}; actions are numbers from 0 on, and actions=[...] names them"
                )
    return {s: {int(action): outcomes for action, outcomes in row.items()} for s, row in enabled.items()}


def _steps(table: Mapping[int, Mapping[int, Any]], n_states: int) -> list[EnvironmentStep]:
    """Every outcome; an action without any is not possible in that state."""
    steps = []
    for state in range(n_states):
        for action, outcomes in table[state].items():
            found = [_outcome(f"P[{state}][{action}]", outcome) for outcome in outcomes]
            total = sum(probability for _, probability, _, _ in found)
            single = 0 < abs(total - 1) <= SINGLE  # counted in few digits: divided by what they add up to
            for to, probability, reward, ended in found:
                share = probability / total if single else probability
                steps.append(EnvironmentStep(state, action, to, share, reward, ended))
    return steps


def _ending_where_entered(steps: Sequence[EnvironmentStep]) -> list[EnvironmentStep]:
    """End episodes where a state is entered of which every step ends them in itself.

    Some tables say ``terminated`` only of what is done in the end, and pay where it is entered. The reward of the end
    is what both steps bring.
    """
    own: dict[int, set[tuple[int, float, bool]]] = {}
    for step in steps:
        if step.probability > 0:
            own.setdefault(step.state, set()).add((step.to, step.reward, step.ended))
    ends = {s: reward for s, found in own.items() if len(found) == 1 for to, reward, over in found if to == s and over}
    return [
        step if step.ended or step.to not in ends else step._replace(ended=True, reward=step.reward + ends[step.to])
        for step in steps
    ]


def _outcome(where: str, outcome: Any) -> tuple[int, float, float, bool]:
    """An outcome of a table: where it leads, how likely, the reward, and whether it ends the episode."""
    try:
        probability, successor, reward, terminated = outcome
        found = int(successor), float(probability), float(reward), bool(terminated)
    except (TypeError, ValueError):
        raise FormatError(
            f"{where} has the outcome {outcome!r}; expected (probability, next state, reward, terminated)"
        ) from None
    if not 0 <= found[1] <= 1 + SINGLE:
        raise FormatError(f"{where} has probability {probability!r} of going to state {successor}, not in [0, 1]")
    return found


def _start(world: Any, initial: int | None, n_states: int) -> dict[int, float]:
    if initial is not None:
        return {initial: 1.0}
    given = getattr(world, "initial_state_distrib", getattr(world, "isd", None))
    if given is None:
        return _where_it_begins(world, n_states) if hasattr(world, "reset") else {0: 1.0}
    distribution: NDArray[np.float64] = np.asarray(given, float)
    if distribution.shape != (n_states,):
        raise FormatError("the environment's initial distribution does not fit its table")
    return {int(s): float(distribution[s]) for s in np.flatnonzero(distribution)}


def _where_it_begins(world: Any, n_states: int) -> dict[int, float]:
    """How often each state came first in so many resets."""
    first: Counter[int] = Counter()
    for seed in range(RESETS):
        seen, _ = begun(world, seed)
        state = seen if np.ndim(seen) == 0 else getattr(world, "s", None)
        if not isinstance(state, int | np.integer) or not 0 <= state < n_states:
            raise FormatError(
                f"reset() of {type(world).__name__} gives {str(seen)[:60]!r}, which is no number of a state; say where "
                "episodes begin: waypost.environments.from_gymnasium(env, initial=0), or give it an "
                "initial_state_distrib, the probability of each state"
            )
        first[int(state)] += 1
    return {state: n / RESETS for state, n in sorted(first.items())}


def _dangers(world: Any, n_states: int) -> dict[str, NDArray[np.bool_]]:
    """Mark the holes of a FrozenLake and the cliff of a CliffWalking, so that pictures can show them."""
    holes = np.asarray(getattr(world, "desc", ())) == b"H"
    cliff = np.asarray(getattr(world, "_cliff", ()), bool)
    found = {"hole": holes.ravel(), "cliff": cliff.ravel()}
    return {name: np.pad(mask, (0, n_states - len(mask))) for name, mask in found.items() if mask.any()}


def _namer(world: Any) -> Namer:
    """Name states by grid position where the environment has a grid."""
    if type(world).__name__ == "TaxiEnv":
        return lambda s: _taxi_state(*map(int, world.decode(s)))
    columns = getattr(world, "ncol", None) or (world.shape[1] if len(getattr(world, "shape", ())) == 2 else None)
    return lambda s: f"row={s // columns}, col={s % columns}" if columns else str(s)


def _taxi_state(row: int, column: int, passenger: int, destination: int) -> str:
    """Name a state of Taxi, its stands as the map colours them.

    >>> _taxi_state(2, 0, 4, 1)
    'row=2, col=0, passenger=in_taxi, destination=green'
    """
    return f"row={row}, col={column}, passenger={TAXI_STANDS[passenger]}, destination={TAXI_STANDS[destination]}"
