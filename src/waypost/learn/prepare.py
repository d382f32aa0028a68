"""From a raw log and its recipe to the traces that a model is learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waypost.learn.alergia import MergingProgress
from waypost.learn.merging import AUTO, Learned, learn_fitting
from waypost.logs import EVERY_EVENT_CHANCE, Actors, Log, Recipe, io_traces
from waypost.logs.steps.outcome import events_apart
from waypost.model import MDP
from waypost.model.traces import Naming, Trace

NO_ACTORS = (
    "no actor map: all events are chance, so each step has one number, the way the process was run; say whose events "
    "are choices (--actors, --choosing) to see what could be"
)


@dataclass(frozen=True)
class Prepared:
    """Traces, the `eps` to learn with, and what was done to get there."""

    traces: Sequence[Trace]
    eps: float | str = AUTO
    notes: tuple[str, ...] = ()
    log: Log | None = None  # the clean log; None where the data were traces already
    naming: Naming = "plain"  # how the traces write the names of events

    def learn(self) -> MDP:
        """Model that the traces give."""
        return self.learn_fitting().mdp

    def learn_fitting(self, progress: MergingProgress | None = None) -> Learned:
        """Model that the traces give, with how it was merged and how well it fits."""
        return learn_fitting(self.traces, eps=self.eps, progress=progress)


def prepare(
    log: Log, recipe: Recipe | None = None, *, actors: Actors | None = None, eps: float | str | None = None
) -> Prepared:
    """Clean a log by its recipe and turn it into traces; `actors` and `eps` go before the recipe's.

    Without a map of actors all events are chance, and without an `eps` merging is chosen by how well the model fits.

    >>> from waypost.logs import EventLog
    >>> traces = prepare(EventLog.from_sequences([["ask", "pay"]])).traces
    >>> print(*traces[0])
    start ('env', 'ask') ('env', 'pay') ('env', 'end')
    """
    recipe = recipe or Recipe()
    clean = events_apart(recipe(log))
    known = actors or recipe.actors
    notes = (*clean.notes, *_transitions(clean), *(known.doubts() if known else (NO_ACTORS,)))
    return Prepared(
        io_traces(clean, known or EVERY_EVENT_CHANCE, naming=recipe.naming),
        eps if eps is not None else AUTO if recipe.eps is None else recipe.eps,
        notes,
        clean.with_notes(notes),
        recipe.naming,
    )


def _transitions(log: Log) -> tuple[str, ...]:
    """Tell of an activity that is there several times only because it started and was completed."""
    found = log.transitions()
    if max(map(len, found.values()), default=0) <= 1:
        return ()
    kinds = ", ".join(sorted({kind for each in found.values() for kind in each}))
    return (f"events are there once for each of {kinds}; the steps keep_lifecycle and pair_lifecycle make one of them",)
