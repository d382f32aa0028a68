"""Gymnasium environments as MDPs: those that carry their table, and small ones that can be explored.

A table ``env.unwrapped.P[state][action] = [(probability, next state, reward, terminated), ...]`` is taken as it is:
outcomes that lead to the same state are added up, and a step with ``terminated`` ends in a final state. Grid positions
become names such as ``row=3, col=4``, so that targets can be written as expressions.

Labels: ``terminal`` are the final states, ``goal`` those of them that are entered with the greatest reward.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import FormatError, ModelError
from waypost.model import MDP

Namer = Callable[[int], str]

ACTIONS: Mapping[str, Sequence[str]] = {  # what the numbers mean, by class of environment
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "CliffWalkingEnv": ("up", "right", "down", "left"),
    "TaxiEnv": ("south", "north", "east", "west", "pickup", "dropoff"),
}
START = "start"  # an extra state in front of several possible first states


def from_gymnasium(
    env: Any, *, states: Namer | None = None, actions: Sequence[str] | None = None, initial: int | None = None
) -> MDP:
    """Build an MDP from an environment with a table, such as FrozenLake, Taxi or CliffWalking.

    State `i` of the MDP is state `i` of the environment and its choices are the actions in order, so that a Q-table
    fits (`strategy_from_q_table`). Where it may begin in one of several states, a state ``start`` leads there.

    Parameters
    ----------
    states
        Gives a state number its name; by default the grid position, or the number.
    actions
        Names of the actions.
    initial
        Begin in this state, whatever the environment says.

    >>> import gymnasium
    >>> from_gymnasium(gymnasium.make("FrozenLake-v1", is_slippery=False))
    MDP(states=16, choices=49, transitions=49, initial='row=0, col=0')
    """
    world = getattr(env, "unwrapped", env)
    table = getattr(world, "P", None)
    if not table:
        raise FormatError(
            f"{type(world).__name__} has no table P; see explore() for small worlds, rollouts() for others"
        )
    n_states, n_actions = len(table), max(len(enabled) for enabled in table.values())
    names = list(actions or ACTIONS.get(type(world).__name__, [str(a) for a in range(n_actions)]))
    namer = states or _namer(world)
    if len(names) != n_actions:
        raise FormatError(f"{len(names)} action names for {n_actions} actions")
    steps = _steps(table, n_states)
    mdp = _Table(steps, [namer(s) for s in range(n_states)], names).model(_start(world, initial, n_states))
    return mdp.with_labels({**mdp.labels, **_dangers(world, mdp.n_states)})


def explore(
    env: Any,
    *,
    key: Callable[[Any], Hashable] | None = None,
    actions: Sequence[str] | None = None,
    seed: int | None = 0,
    samples: int = 200,
    limit: int = 20_000,
) -> MDP:
    """Build an MDP by trying every action in every state of a small world, such as Minigrid's.

    A step that draws no random number is taken once and is exact. One that does is tried `samples` times, and its
    probabilities are the frequencies, with the counts kept.

    Parameters
    ----------
    key
        What tells two states apart, as text or any hashable value; by default Minigrid's agent, its load and the doors.
    seed
        Of the reset, which also fixes the world.
    limit
        Give up beyond this many states.

    >>> import gymnasium, minigrid
    >>> explore(gymnasium.make("MiniGrid-Empty-5x5-v0"), actions=["left", "right", "forward"])
    MDP(states=34, choices=98, transitions=98, initial='x=1, y=1, facing=right')
    """
    env.reset(seed=seed)
    tell = key or minigrid_state
    names = list(actions) if actions is not None else _action_names(env)
    found: dict[Hashable, int] = {tell(env): 0}
    worlds = [copy.deepcopy(env)]
    steps: list[tuple[int, int, int, float, float, bool]] = []
    ended: set[int] = set()
    seeds = np.random.default_rng(seed)
    for state, world in enumerate(worlds):  # grows while we walk
        for action in range(len(names)) if state not in ended else ():
            outcomes: Counter[tuple[int, float, bool]] = Counter()
            for after, reward, terminated in _tries(world, action, samples, seeds):
                where = tell(after)
                if where not in found:
                    if len(found) >= limit:
                        raise ModelError(
                            f"the environment has more than {limit} states; pass a coarser key= or a larger limit="
                        )
                    found[where] = len(found)
                    worlds.append(after)
                if terminated:
                    ended.add(found[where])
                outcomes[found[where], reward, terminated] += 1
            total = sum(outcomes.values())
            steps += [(state, action, to, n / total, r, end) for (to, r, end), n in outcomes.items()]
        worlds[state] = None  # its copy is no longer needed
    return _Table(steps, [str(where) for where in found], names).model({0: 1.0})


def minigrid_state(env: Any) -> str:
    """Name the state of a Minigrid world: the agent, what it carries, and the doors, keys and boxes that can change.

    The walls are left out; they are the same everywhere.
    """
    world = env.unwrapped
    if not hasattr(world, "agent_pos"):
        raise FormatError(f"{type(world).__name__} is no Minigrid world; pass key=, a function that names its state")
    x, y = world.agent_pos
    facing = ("right", "down", "left", "up")[world.agent_dir]
    parts = [f"x={int(x)}", f"y={int(y)}", f"facing={facing}"]
    if world.carrying is not None:
        parts.append(f"carrying={world.carrying.color}_{world.carrying.type}")
    for column in range(world.grid.width):
        for row in range(world.grid.height):
            cell = world.grid.get(column, row)
            if cell is None or cell.type in ("wall", "floor", "lava", "goal"):
                continue
            kind = cell.type
            if kind == "door":
                kind = "open" if cell.is_open else "locked" if cell.is_locked else "closed"
            parts.append(f"at_{column}_{row}={cell.color}_{kind}")
    return ", ".join(parts)


def _tries(world: Any, action: int, samples: int, seeds: np.random.Generator) -> list[tuple[Any, float, bool]]:
    """Step from copies of a world: once if no random number is drawn, else `samples` times with fresh seeds."""
    tried = []
    for attempt in range(samples):
        after = copy.deepcopy(world)
        random = after.unwrapped.np_random
        if attempt:
            random.bit_generator.state = np.random.default_rng(seeds.integers(2**63)).bit_generator.state
        if hasattr(after.unwrapped, "step_count"):
            after.unwrapped.step_count = 0  # the clock is no part of the state
        before = copy.deepcopy(random.bit_generator.state)
        _, reward, terminated, _, _ = after.step(action)
        tried.append((after, float(reward), bool(terminated)))
        if before == random.bit_generator.state:
            break
    return tried


def _action_names(env: Any) -> list[str]:
    named = getattr(env.unwrapped, "actions", None)  # Minigrid has an enumeration
    n = getattr(env.action_space, "n", None)
    if n is None:
        raise FormatError("only environments with finitely many actions can be explored")
    return (
        [action.name for action in named] if named is not None and len(list(named)) == n else [str(a) for a in range(n)]
    )


def _steps(table: Mapping[int, Any], n_states: int) -> list[tuple[int, int, int, float, float, bool]]:
    steps = []
    for state in range(n_states):
        if state not in table:
            raise FormatError(f"the environment's table has {n_states} states but no state {state}")
        for action, outcomes in table[state].items():
            for outcome in outcomes:
                probability, successor, reward, terminated = outcome
                steps.append((state, int(action), int(successor), float(probability), float(reward), bool(terminated)))
    return steps


def _start(world: Any, initial: int | None, n_states: int) -> dict[int, float]:
    if initial is not None:
        return {initial: 1.0}
    given = getattr(world, "initial_state_distrib", None)
    if given is None:
        return {0: 1.0}
    distribution: NDArray[np.float64] = np.asarray(given, float)
    if distribution.shape != (n_states,):
        raise FormatError("the environment's initial distribution does not fit its table")
    return {int(s): float(distribution[s]) for s in np.flatnonzero(distribution)}


def _dangers(world: Any, n_states: int) -> dict[str, NDArray[np.bool_]]:
    """Mark the holes of a FrozenLake and the cliff of a CliffWalking, so that pictures can show them."""
    holes = np.asarray(getattr(world, "desc", ())) == b"H"
    cliff = np.asarray(getattr(world, "_cliff", ()), bool)
    found = {"hole": holes.ravel(), "cliff": cliff.ravel()}
    return {name: np.pad(mask, (0, n_states - len(mask))) for name, mask in found.items() if mask.any()}


def _namer(world: Any) -> Namer:
    """Name states by grid position where the environment has a grid."""
    if type(world).__name__ == "TaxiEnv":
        return lambda s: ", ".join(
            f"{x}={int(v)}" for x, v in zip(("row", "col", "passenger", "destination"), world.decode(s), strict=True)
        )
    columns = getattr(world, "ncol", None) or (world.shape[1] if len(getattr(world, "shape", ())) == 2 else None)
    return lambda s: f"row={s // columns}, col={s % columns}" if columns else str(s)


class _Table:
    """Steps (state, action, successor, probability, reward, terminated) on their way to an MDP."""

    def __init__(
        self, steps: list[tuple[int, int, int, float, float, bool]], names: list[str], actions: list[str]
    ) -> None:
        self.steps = steps
        self.names = names
        self.actions = actions

    def model(self, start: Mapping[int, float]) -> MDP:
        goes_on = self._met(start)
        final: dict[int, int] = {}  # where a terminating step into a state ends
        names = list(self.names)
        for state, _, to, p, _, end in self.steps:
            if end and p > 0 and to not in final and state != to:
                final[to] = len(names) if to in goes_on else to
                if final[to] == len(names):  # also met in the middle of an episode: ending there is another thing
                    names.append(f"{self.names[to]} (end)")
        over = {state for state, at in final.items() if at == state}
        kept = [(s, a, final.get(to, to) if end else to, p) for s, a, to, p, _, end in self.steps if s not in over]
        if len(start) > 1:
            names.append(START if START not in names else f"({START})")
            kept += [(len(names) - 1, -1, s, p) for s, p in start.items()]
        first, choice, actions = self._choices(kept, len(names))
        return MDP.from_triplets(
            choice,
            [to for _, _, to, _ in kept],
            [p for _, _, _, p in kept],
            first_choice=first,
            states=names,
            actions=actions,
            initial=len(names) - 1 if len(start) > 1 else next(iter(start)),
            labels=self._labels(final, len(names)),
        )

    def _met(self, start: Mapping[int, float]) -> set[int]:
        """Give the states in which an episode can be while it goes on."""
        after: dict[int, list[int]] = {}
        for state, _, to, p, _, end in self.steps:
            if p > 0 and not end:
                after.setdefault(state, []).append(to)
        met, queue = set(start), list(start)
        for state in queue:
            new = set(after.get(state, ())) - met
            met |= new
            queue += new
        return met

    def _choices(self, kept: list[tuple[int, int, int, float]], n: int) -> tuple[NDArray[Any], NDArray[Any], list[str]]:
        width = len(self.actions) + 1
        keys = np.array([s * width + a + 1 for s, a, _, _ in kept], np.int64)
        rows, choice = np.unique(keys, return_inverse=True)
        first = np.searchsorted(rows // width, np.arange(n + 1))
        return first, choice, ["reset" if r % width == 0 else self.actions[r % width - 1] for r in rows.tolist()]

    def _labels(self, final: Mapping[int, int], n: int) -> dict[str, NDArray[np.bool_]]:
        entered: dict[int, float] = {}
        for state, _, to, p, reward, end in self.steps:
            if end and p > 0 and state != to:
                entered[final[to]] = max(reward, entered.get(final[to], reward))
        terminal, goal = np.zeros(n, bool), np.zeros(n, bool)
        terminal[list(entered)] = True
        goal[[s for s, reward in entered.items() if reward == max(entered.values())]] = True
        return {"terminal": terminal, "goal": goal}
