"""A child that asks about a model in its own way, and prints every bound to the last bit.

Run as ``python tests/stress/bits.py KIND ORDER WORKERS plain|compiled``: the questions are asked in a random order.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext

import numpy as np

from stress.models import KINDS
from waypost.graph.compiled import eagerly
from waypost.importance.question import Question
from waypost.importance.sweeps import bounds_of_states


def main(kind: str, order: int, workers: int, compiled: bool) -> None:
    """Ask, in an order, with so many workers; print scope, state and bounds, sorted."""
    rng = np.random.default_rng(order)
    mdp = KINDS[kind](np.random.default_rng(11))
    lines = []
    tasks = [(scope, absolute) for scope in ("all", "optimal") for absolute in (False, True)]
    with eagerly() if compiled else nullcontext():
        for k in rng.permutation(len(tasks)):
            scope, absolute = tasks[k]
            question = Question.of(mdp, target="goal", scope=scope)
            for s in rng.permutation(mdp.n_states)[: order % 3]:
                question.states(mdp.states[s])
            asked = rng.permutation(mdp.n_states)
            found = bounds_of_states(question, asked, absolute=absolute and scope == "all", workers=workers)
            for i, s in enumerate(asked):
                bits = " ".join(float(bound[i]).hex() for bound in found)
                lines.append(f"{scope} {absolute} {mdp.states[s]} {bits}")
    sys.stdout.write("\n".join(sorted(lines)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "compiled")
