"""The smallest models on which an encoding is wrong, each with one thing to see.

They are what `docs/accuracy.md` draws and what the tests hold the encodings to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from waypost.model import MDP


def waiting() -> MDP:
    """Whoever waits for ever arrives nowhere, yet QP* lets the wait claim any split between ``s`` and not ``s``.

    Waiting conserves the probability 1 of the target, and a circle of conserving choices satisfies Bellman's equations
    with whatever value. The importance of ``s`` is 1/2 under every strategy that reaches ``t``; QP* claims 0 and 1. So
    does LP* where ``M`` is so large that its order is lost in rounding.
    """
    return MDP.from_dict(
        {"s0": {"wait": "s0", "go": {"s": "1/2", "t": "1/2"}}, "s": {"on": "t"}, "t": {}}, initial="s0"
    )


def resting() -> MDP:
    """Whoever rests in ``x`` for ever makes ``s`` the only way, but QP's order forbids to rest.

    The order asks that a terminal state is reached from everywhere. A strategy that leaves ``x`` with probability
    ``d`` satisfies it with levels ``1/d`` apart, so the upper bound 1 of ``s`` is approached and not attained. With
    levels that have bounds, as we give them, only strategies that leave soon are allowed, and QP claims 1/2.
    """
    return MDP.from_dict(
        {"s0": {"go": {"s": "1/2", "x": "1/2"}}, "s": {"on": "t"}, "x": {"rest": "x", "on": "t"}, "t": {}}, initial="s0"
    )


def circling() -> MDP:
    """Two states that lead to each other only: no order exists, so the encodings with one are infeasible.

    The importance of ``s`` is 1, which contradicts the paper's Theorem 1 (feasible if and only if well defined). Taking
    every state that cannot reach ``t`` as terminal repairs it.
    """
    return MDP.from_dict(
        {"s0": {"go": {"s": "1/2", "a": "1/2"}}, "s": {"on": "t"}, "a": {"on": "b"}, "b": {"on": "a"}, "t": {}},
        initial="s0",
    )


def rare() -> MDP:
    """Reaching ``t`` only through ``s`` has probability 1/100,000, which ``eps`` = 1/10,000 cuts off.

    The upper bound of ``s`` is 1; QP may take the risk only as far as the sum stays above ``eps``, and claims 0.1.
    """
    return MDP.from_dict(
        {
            "s0": {"safe": "t", "risk": {"s": "1/100000", "lost": "99999/100000"}},
            "s": {"on": "t"},
            "t": {},
            "lost": {},
        },
        initial="s0",
    )


COUNTEREXAMPLES: Mapping[str, Callable[[], MDP]] = MappingProxyType(
    {"waiting": waiting, "resting": resting, "circling": circling, "rare": rare}
)
