"""The example of the paper's appendix: improving one state's importance need not improve another's."""

from __future__ import annotations

from waypost.model import MDP


def ex1() -> MDP:
    """``M_ex1`` of the paper's appendix; the goal is ``"t"``, ``"sink"`` never gets there.

    >>> ex1()
    MDP(states=5, choices=6, transitions=8, initial='s0')
    """
    return MDP.from_dict(
        {
            "s0": {"a": {"s1": "0.1", "s2": "0.9"}},
            "s1": {"a": {"t": "0.1", "sink": "0.9"}},
            "s2": {"a": "t", "b": "s1"},
            "t": {},
            "sink": {},
        },
        initial="s0",
    )
