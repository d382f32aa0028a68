"""What is in a model, before anything is asked of it: sizes, unreachable states, and how likely each label is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from waypost.graph import Graph, end_components, reachable, strong_components
from waypost.model import MDP
from waypost.solve.rational import to_fraction
from waypost.solve.reachability import Reach


@dataclass(frozen=True)
class Overview:
    """Sizes and structure of a model."""

    states: int
    choices: int
    transitions: int
    initial: str
    deciding: int  # states that offer more than one choice
    most_choices: int  # of one state
    cycles: int  # strong components of more than one state
    largest_cycle: int  # states of the largest of them
    end_components: int  # of more than one state
    leaving: int  # the most transitions that leave a state
    touching: int  # the most that leave or enter one
    unreachable: tuple[str, ...]  # states that no run from the initial one visits
    goals: tuple[str, ...]  # its labels; without any, its final states


@dataclass(frozen=True)
class GoalReached:
    """A label or a final state, how many states it has, and how likely it is from the initial state."""

    name: str
    states: int
    least: Any = None  # a float, or a Fraction in exact mode; None for a label that holds nowhere
    greatest: Any = None


def overview(mdp: MDP) -> Overview:
    """Sizes and structure of a model.

    >>> from waypost.cases import loan
    >>> found = overview(loan())
    >>> found.states, found.deciding, found.goals
    (10, 4, ('Granted', 'Rejected'))
    """
    graph = Graph.of(mdp)
    component, _ = end_components(graph)
    cycles = np.bincount(strong_components(graph).component)
    visited = reachable(graph, np.arange(mdp.n_states) == mdp.initial)
    out = np.bincount(mdp.choice_state, weights=np.diff(mdp.transitions.indptr), minlength=mdp.n_states)
    into = np.bincount(mdp.transitions.indices, minlength=mdp.n_states)
    return Overview(
        states=mdp.n_states,
        choices=mdp.n_choices,
        transitions=mdp.transitions.nnz,
        initial=mdp.states[mdp.initial],
        deciding=int((np.diff(mdp.first_choice) > 1).sum()),
        most_choices=int(np.diff(mdp.first_choice).max()),
        cycles=int((cycles > 1).sum()),
        largest_cycle=int(cycles.max()),
        end_components=int((np.bincount(component[component >= 0]) > 1).sum()),
        leaving=int(out.max()),
        touching=int((out + into).max()),
        unreachable=tuple(mdp.states[s] for s in np.flatnonzero(~visited)),
        goals=tuple(mdp.labels) or _final_states(mdp),
    )


def goals_reached(mdp: MDP, goals: tuple[str, ...], *, exact: bool = False) -> Iterator[GoalReached]:
    """Least and greatest probability of reaching each label or state, one after the other.

    >>> from waypost.cases import loan
    >>> next(goals_reached(loan(), ("Granted",), exact=True))
    GoalReached(name='Granted', states=1, least=Fraction(0, 1), greatest=Fraction(49, 50))
    """
    for name in goals:
        if name in mdp.labels and not mdp.labels[name].any():
            yield GoalReached(name, 0)
            continue
        reach = Reach.of(mdp, mdp.where(name), exact=exact)
        least, greatest = (found.values[mdp.initial] for found in (reach.min, reach.max))
        plain = to_fraction if exact else float
        yield GoalReached(name, int(reach.target.sum()), plain(least), plain(greatest))


def _final_states(mdp: MDP) -> tuple[str, ...]:
    """Names of the states that only lead to themselves."""
    t, first = mdp.transitions, mdp.first_choice[:-1]
    alone = (np.diff(mdp.first_choice) == 1) & (np.diff(t.indptr)[first] == 1)
    final = np.flatnonzero(alone & (t.indices[t.indptr[first]] == np.arange(mdp.n_states)))
    return tuple(mdp.states[s] for s in final)
