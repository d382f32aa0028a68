"""Small questions that together need every kernel, on arrays of the same types as anybody else's questions.

Machine code is for certain types. Every model comes in through one function that normalises its arrays, so small ones
are as good as large ones. ``tests/cli/test_compile.py`` looks whether a kernel was forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import product

from waypost.cases import case
from waypost.errors import MissingExtraError
from waypost.graph.compiled import eagerly
from waypost.importance import explain
from waypost.importance.question import Question, Scope
from waypost.learn import learn_mdp
from waypost.logs import EventLog
from waypost.model import MDP
from waypost.patterns import find_patterns

SCOPES: tuple[Scope, ...] = ("all", "optimal")


def rehearse(tell: Callable[[str], None] = lambda _: None) -> None:
    """Ask the questions, with every kernel compiled; `tell` hears what is asked."""
    with eagerly():
        for name, target in (("gridworld", "goal"), ("epidemic:3", "positive"), ("loan", "Granted")):
            tell(name)
            mdp = case(name)
            explain(mdp, target=target, scope=SCOPES, whatifs=True, decisions=True, choices=True, absolute=True)
            explain(mdp, target=target, scope=SCOPES, witnesses=1)
            explain(mdp, target=target, scope=SCOPES, top=3)
            explain(mdp, target=target, scope=SCOPES, states=mdp.states[1])
        for title, mdp in (("a lake", lake(6)), ("a lake with a current", lake(6, free=3))):
            tell(title)
            explain(mdp, target="4,4", scope=SCOPES, decisions=True)
            explain(mdp, target="4,4", scope=SCOPES, top=3)
            explain(mdp, target="4,4", scope=SCOPES, states="2,2")
        tell("fractions")
        explain(lake(10), target="4,4", scope=SCOPES, states="2,2", exact=True)
        tell("what only large models are asked")
        question = Question.of(lake(6), target="4,4", scope="optimal")
        _ = question.alike, question.flow
        tell("learning")
        with suppress(MissingExtraError):  # who has no pandas learns from no log
            learned = learn_mdp(EventLog.from_sequences([["ask", "pay"]] * 30 + [["ask", "call", "leave"]] * 10))
            find_patterns(learned, target="pay")


def lake(size: int, free: int = 1000) -> MDP:
    """Fields in a square on which one slips aside, and breaks in once in ten steps; a choice is on the first `free`.

    >>> lake(3)
    MDP(states=10, choices=37, transitions=137, initial='0,0')
    """
    steps: dict[str, dict[str, dict[str, Fraction]]] = {"hole": {}}
    moves = {"down": (0, 1), "right": (1, 0), "left": (-1, 0), "up": (0, -1)}
    for x, y in product(range(size), repeat=2):
        here = steps[f"{x},{y}"] = {}
        for move, (dx, dy) in list(moves.items())[: None if x + size * y < free else 1]:
            ways = here[move] = {"hole": Fraction(1, 10)}
            for over, down in ((dx, dy), (dy, dx), (-dy, -dx)):
                place = f"{min(max(x + over, 0), size - 1)},{min(max(y + down, 0), size - 1)}"
                ways[place] = ways.get(place, Fraction(0)) + Fraction(3, 10)
    return MDP.from_dict(steps, initial="0,0")
