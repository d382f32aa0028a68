"""Storm as a peer: its conditional query, looped over states and bounds, each query within a time limit."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waypost.errors import WaypostError
from waypost.paper.bench import storm_child
from waypost.processes import Child, ChildError

REACH = 'Pmax=? [F "target"]'
START = 'Pmax=? [F "init"]'  # which costs nothing


@dataclass
class Answers:
    """What Storm said to a list of queries."""

    seconds: list[list[float]]  # per query, one number per time it was asked; the time limit where it was met
    values: list[float | None]  # per query; None where it was not answered
    reading: float | None = None
    megabytes: float | None = None  # unknown where Storm was stopped
    unanswered: set[int] = field(default_factory=set)  # queries that met the time limit
    fractions: list[str] = field(default_factory=list)  # per query, if asked for exactly; empty where there is none

    @property
    def asked(self) -> int:
        """How many queries were asked, from the first on."""
        return sum(1 for query in self.seconds if query)

    @property
    def per_state(self) -> list[float]:
        """Seconds of each pair of queries: both bounds of a state."""
        best = [min(query) for query in self.seconds[: self.asked]]
        return [a + b for a, b in zip(best[::2], best[1::2], strict=True)]

    @property
    def best_round(self) -> float:
        """Seconds of the fastest round over all queries."""
        done = self.seconds[: self.asked]
        return min(sum(query[r] for query in done) for r in range(min(map(len, done))))


def is_there() -> bool:
    """Whether stormpy is installed."""
    return importlib.util.find_spec("stormpy") is not None


def conditional(label: str, bound: str) -> str:
    """Importance of the state with a label, in a model with absorbing target; `bound` is "min" or "max"."""
    return f'P{bound}=? [F "{label}" || F "target"]'


def ask(
    model: Path,
    queries: Sequence[str],
    *,
    limit: float,
    rounds: int = 1,
    enough: float = math.inf,
    exact: bool = False,
) -> Answers:
    """Ask Storm; a query that takes longer than `limit` seconds is given up and the next one asked.

    Building the model has ten times as long. After `enough` seconds no further pair of queries is asked. Its engine for
    rationals is asked for `exact` answers.
    """
    found = Answers([[] for _ in queries], [None] * len(queries), fractions=[""] * len(queries))
    todo = list(range(len(queries)))
    while todo:
        done = 0
        job = {"model": str(model), "queries": [queries[q] for q in todo], "rounds": rounds, "exact": exact}
        job["warm"] = START if exact else REACH
        with Child(storm_child.__file__, "work") as child:
            child.send(job)
            found.reading = next_answer(child, 10 * limit + 60)["reading"]
            next_answer(child, limit + 60)  # the plain query that warms up
            for _ in range(rounds):
                for q in todo:
                    if q % 2 == 0 and sum(map(sum, found.seconds)) > enough:
                        return found
                    try:
                        answer = next_answer(child, limit)
                    except TimeoutError:
                        break
                    found.seconds[q].append(answer["seconds"])
                    if exact:
                        found.fractions[q] = answer["value"]
                    else:
                        found.values[q] = _number(answer["value"])
                    done += 1
                else:
                    continue
                break
            else:
                found.megabytes = next_answer(child, 60)["megabytes"]
                return found
        stuck = todo[done % len(todo)]
        if not found.seconds[stuck]:
            found.unanswered.add(stuck)
            found.seconds[stuck].append(limit)
        todo = [q for q in todo if q != stuck and len(found.seconds[q]) < rounds]
        todo.sort(key=lambda q: bool(found.seconds[q]))  # those that were not asked yet come first, in their order
    return found


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def next_answer(child: Child, limit: float) -> dict[str, Any]:
    """Receive one answer within `limit` seconds; `TimeoutError` if it does not come."""
    try:
        answer: dict[str, Any] = child.receive(limit)
    except ChildError as error:
        if error.trouble == "time":
            raise TimeoutError from None
        raise WaypostError("Storm broke down in the middle of a benchmark; run it again, or without Storm") from error
    return answer
