"""Both bounds of the states asked for, and of a path: from a question to plain answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import ArgumentError, PrecisionError
from waypost.graph import Ints
from waypost.importance.passing import bounds
from waypost.importance.paths import path_bounds
from waypost.importance.question import Question, plain
from waypost.importance.results import StateImportance, present
from waypost.importance.single import PathImportance
from waypost.importance.sweeps import Progress, bounds_of_states
from waypost.model import MDP
from waypost.model.checking import names_of

TOGETHER = 6  # fewer states than this are asked about one by one


@dataclass(frozen=True, eq=False)
class Numbers:
    """Bounds of some states, and why one could not be certified, by state."""

    lower: NDArray[Any]  # (n,) floats, or Fractions in exact mode
    upper: NDArray[Any]  # (n,)
    refused: Mapping[int, str]


def states_of(mdp: MDP, names: str | Iterable[str] | None) -> Ints:
    """States by their names, each once, in the order asked for; all of them by default, and none for ``()``."""
    if names is None:
        return np.arange(mdp.n_states)
    wanted = () if isinstance(names, tuple) and not names else names_of("states", names)
    return np.array(list(dict.fromkeys(mdp.state(name) for name in wanted)), np.int64)


def ask_states(
    question: Question,
    asked: Ints,
    *,
    absolute: bool = False,
    together: bool | None = None,
    progress: Progress | None = None,
) -> StateImportance:
    """Both bounds of every state asked for, `together` unless they are few."""
    if progress is not None and not callable(progress):
        raise ArgumentError(f"progress is a function that is told a number of bounds, not {progress!r}")
    if absolute and question.scope != "all":
        return without_normalisation(ask_states(question, asked, progress=progress))
    together = len(asked) >= TOGETHER if together is None else together
    found = numbers(question, asked, absolute=absolute, together=together, progress=progress)
    return answer(question, asked, found, absolute=absolute)


def answer(question: Question, asked: Ints, found: Numbers, *, absolute: bool = False) -> StateImportance:
    """Numbers as people read them; an error where none of them could be certified."""
    if found.refused and len(found.refused) == len(asked):  # nothing is left to answer
        raise PrecisionError(next(iter(found.refused.values())))
    return StateImportance(
        mdp=question.mdp,
        target=question.name,
        problem="absolute" if absolute else "importance",
        scope=question.scope_name,
        asked=asked,
        lower=found.lower,
        upper=found.upper,
        refused={question.mdp.states[s]: why for s, why in found.refused.items()},
        question=question,
    )


def without_normalisation(result: StateImportance) -> StateImportance:
    """Absolute importance where every strategy in scope reaches the target equally often: times how often."""
    best = plain(present(result.question).best)
    return replace(result, problem="absolute", lower=result.lower * best, upper=result.upper * best)


def numbers(
    question: Question, asked: Ints, *, absolute: bool = False, together: bool, progress: Progress | None = None
) -> Numbers:
    """Both bounds of some states, `together` where that can be, or one by one; absolute over all strategies only."""
    refused: dict[int, str] = {}
    if together and not question.exact and (question.chain is None or question.chain.modes == 1):
        lower, upper = bounds_of_states(question, asked, absolute=absolute, progress=progress, refused=refused)
        return Numbers(lower, upper, refused)
    dtype: Any = object if question.exact else float
    lower, upper = np.empty(len(asked), dtype), np.empty(len(asked), dtype)
    for k, state in enumerate(asked.tolist()):
        single = np.arange(question.mdp.n_states) == state
        try:
            lower[k], upper[k] = map(plain, bounds(question, single, absolute=absolute))
        except PrecisionError as why:
            lower[k], upper[k], refused[state] = 0.0, plain(question.best) if absolute else 1.0, str(why)
        if progress is not None:
            progress(2)
    return Numbers(lower, upper, refused)


def ask_path(question: Question, path: Sequence[str]) -> PathImportance:
    """Both bounds of a path."""
    names = names_of("path", path)
    lower, upper, following = map(plain, path_bounds(question, names))
    return PathImportance(
        mdp=question.mdp,
        target=question.name,
        path=names,
        scope=question.scope_name,
        lower=lower,
        upper=upper,
        reachability=plain(question.best),
        reachability_following=following,
        question=question,
    )
