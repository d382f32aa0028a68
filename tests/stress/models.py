"""Models on which floats go wrong when nobody takes care; each is made from random numbers, and the target is "goal".

Kinds: probabilities of very different size, rooms that are hardly ever left, long series of coincidences, queues,
redundant parts, slow chains, targets that are hardly ever met.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from waypost.model import MDP

Steps = dict[str, dict[str, dict[str, Fraction]]]


def shuffled(rng: np.random.Generator, steps: Steps, initial: str) -> MDP:
    """The model with its states and actions in a random order."""
    names = list(steps)
    rng.shuffle(names)
    mixed: Steps = {}
    for name in names:
        actions = list(steps[name])
        rng.shuffle(actions)
        mixed[name] = {action: steps[name][action] for action in actions}
    return MDP.from_dict(mixed, initial=initial, labels={"goal": ["goal"]})


def _random(rng: np.random.Generator, n: int, weight: Callable[[], Fraction]) -> MDP:
    """Random steps between `n` states, the goal and a trap; a path leads from the start to the goal."""
    names = [f"q{i}" for i in range(n)]
    steps: Steps = {"goal": {}, "trap": {}}
    for i, name in enumerate(names):
        steps[name] = {}
        for a in range(int(rng.integers(1, 4))):
            size = int(rng.integers(1, 4))
            ends = [str(y) for y in rng.choice([*names, "goal", "trap"], size, replace=False)]
            if a == 0:
                onward = names[i + 1] if i + 1 < n else "goal"
                ends = list(dict.fromkeys([onward, *ends]))
            weights = [weight() for _ in ends]
            total = sum(weights)
            steps[name][f"a{a}"] = {y: w / total for y, w in zip(ends, weights, strict=True)}
    return shuffled(rng, steps, "q0")


def ordinary(rng: np.random.Generator) -> MDP:
    """Fractions with small numbers: ties are likely."""
    return _random(rng, int(rng.integers(5, 25)), lambda: Fraction(int(rng.integers(1, 4))))


def rare(rng: np.random.Generator) -> MDP:
    """Probabilities down to 1e-9 in places."""

    def weight() -> Fraction:
        return Fraction(1, 10 ** int(rng.integers(1, 10))) if rng.random() < 0.15 else Fraction(int(rng.integers(1, 4)))

    return _random(rng, int(rng.integers(8, 30)), weight)


def stiff(rng: np.random.Generator) -> MDP:
    """Probabilities from 1 to 1e-12 mixed."""

    def weight() -> Fraction:
        return Fraction(int(rng.integers(1, 10)), 10 ** int(rng.integers(3, 13) * (rng.random() < 0.6)))

    return _random(rng, int(rng.integers(8, 20)), weight)


def rooms(rng: np.random.Generator) -> MDP:
    """Rooms within rooms, each left once in 1e4 to 1e9 steps, some of the doors by choice."""
    depth, width = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    steps: Steps = {"goal": {}, "trap": {}}
    names = [[f"r{d}.{i}" for i in range(width)] for d in range(depth)]
    for d, room in enumerate(names):
        for i, name in enumerate(room):
            out = Fraction(int(rng.integers(1, 5)), 10 ** int(rng.integers(4, 10)))
            deeper = names[d + 1][0] if d + 1 < depth else "goal"
            higher = names[d - 1][-1] if d else "trap"
            inner = room[int(rng.integers(width))], room[(i + 1) % width]
            share = Fraction(int(rng.integers(1, 10)), 10)
            door = str(rng.choice([deeper, higher, "trap", "goal"]))
            stay = {room[(i + 1) % width]: 1 - out, deeper: out} if i == 0 else {inner[0]: 1 - out}
            if i:
                stay[inner[1]] = stay.get(inner[1], Fraction(0)) + out * share
                stay[door] = stay.get(door, Fraction(0)) + out * (1 - share)
            steps[name] = {"stay": stay}
            if rng.random() < 0.6:
                other = {room[int(rng.integers(width))]: 1 - out * share}
                exit_ = str(rng.choice([deeper, higher, "goal"]))
                other[exit_] = other.get(exit_, Fraction(0)) + out * share
                steps[name]["else"] = other
    return shuffled(rng, steps, "r0.0")


def heads(n: int) -> Steps:
    """`n` heads in a row, tails start again; or a quick way: half of the wins pass `medal`."""
    half = Fraction(1, 2)
    steps: Steps = {f"h{i}": {"toss": {f"h{i + 1}": half, "h0": half}} for i in range(n)}
    steps["h0"]["quick"] = {"medal": half, "plain": half}
    steps[f"h{n}"] = {"on": {"medal": Fraction(1)}}
    return {**steps, "medal": {"on": {"goal": Fraction(1)}}, "plain": {"on": {"goal": Fraction(1)}}, "goal": {}}


def tosses(rng: np.random.Generator) -> MDP:
    """Heads in a row, with a chance to fall out on the way or none."""
    n = int(rng.integers(20, 57))
    steps = heads(n)
    if rng.random() < 0.5:
        half = Fraction(1, 2)
        steps["trap"] = {}
        steps["h1"]["toss"] = {"h2": half, "h0": half - Fraction(1, 10**6), "trap": Fraction(1, 10**6)}
    if rng.random() < 0.5:
        steps[f"h{n // 2}"]["home"] = {"h0": Fraction(1)}
    return shuffled(rng, steps, "h0")


def queue(rng: np.random.Generator) -> MDP:
    """A queue with little load that fills up, or is closed; `door` is on one of the ways."""
    n, load = int(rng.integers(8, 40)), Fraction(int(rng.integers(1, 4)), 10)
    steps: Steps = {f"k{i}": {"serve": {f"k{i + 1}": load, f"k{i - 1}": 1 - load}} for i in range(1, n)}
    steps["k0"] = {
        "wait": {"k1": Fraction(1)},
        "close": {"door": Fraction(1, 3), "yard": Fraction(2, 3)},
    }
    steps[f"k{n}"] = {"full": {"door": Fraction(1)} if rng.random() < 0.5 else {"door": load, "k0": 1 - load}}
    on = {"goal": Fraction(1)}
    steps |= {"door": {"on": on}, "yard": {"on": on}, "goal": {}}
    if rng.random() < 0.5:
        steps["trap"] = {}
        steps["yard"]["on"] = {"goal": 1 - load, "trap": load}
    return shuffled(rng, steps, "k0")


def parts(rng: np.random.Generator) -> MDP:
    """Redundant parts: one may be built in, they fail with probabilities that hardly differ."""
    steps: Steps = {"start": {}, "goal": {}, "trap": {}}
    size = 10 ** int(rng.integers(6, 19))
    for i in range(int(rng.integers(2, 7))):
        fails = Fraction(int(rng.integers(1, 4)), size)
        steps["start"][f"take{i}"] = {f"p{i}": Fraction(1)}
        steps[f"p{i}"] = {"run": {"goal": 1 - fails, "trap": fails}}
        if rng.random() < 0.5:
            steps[f"p{i}"]["again"] = {"start": 1 - fails, "trap": fails}
    return shuffled(rng, steps, "start")


def slow_chain(rng: np.random.Generator) -> MDP:
    """A Markov chain that walks to and fro, with a drift, and is left at its ends."""
    n = int(rng.integers(5, 50))
    up = Fraction(int(rng.integers(1, 20)), 20)
    steps: Steps = {"goal": {}, "trap": {}}
    for i in range(n):
        jitter = up if rng.random() < 0.7 else Fraction(1, 10 ** int(rng.integers(1, 8)))
        ends = {f"c{i + 1}" if i + 1 < n else "goal": jitter}
        back = f"c{max(i - 1, 0)}" if i or rng.random() < 0.7 else "trap"
        ends[back] = ends.get(back, Fraction(0)) + 1 - jitter
        steps[f"c{i}"] = {"go": {y: p for y, p in ends.items() if p}}
    return shuffled(rng, steps, "c0")


def vanishing(rng: np.random.Generator) -> MDP:
    """A target of probability 1e-100 to 1e-280, on several ways."""
    n = int(rng.integers(8, 19))
    tiny = Fraction(1, 10**12)
    steps: Steps = {"goal": {}, "trap": {}}
    for i in range(n):
        onward = f"v{i + 1}" if i + 1 < n else "goal"
        chance = tiny * int(rng.integers(1, 10))
        steps[f"v{i}"] = {"go": {onward: chance, "trap": 1 - chance}}
        if rng.random() < 0.6:
            side = {f"w{i}": chance * int(rng.integers(1, 5)), "trap": Fraction(0), f"v{max(i - 1, 0)}": Fraction(1, 2)}
            side["trap"] = 1 - sum(side.values())
            steps[f"v{i}"]["side"] = side
            steps[f"w{i}"] = {"on": {onward: Fraction(4, 5), "trap": Fraction(1, 5)}}
    return shuffled(rng, steps, "v0")


KINDS: dict[str, Callable[[np.random.Generator], MDP]] = {
    "ordinary": ordinary,
    "rare": rare,
    "stiff": stiff,
    "rooms": rooms,
    "tosses": tosses,
    "queue": queue,
    "parts": parts,
    "slow chain": slow_chain,
    "vanishing": vanishing,
}
