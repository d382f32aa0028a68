"""AALpy automata: learned MDPs and Markov chains as they come out of the learner."""

from __future__ import annotations

from typing import Any

from waypost.errors import FormatError
from waypost.model import MDP


def from_aalpy(automaton: Any) -> MDP:
    """Build an MDP from an AALpy ``Mdp`` or ``MarkovChain``.

    A state is called by its number and output, ``q1: won``, and every output is a label.

    >>> from aalpy.automata import Mdp
    >>> learned = Mdp.from_state_setup({
    ...     "q0": ("start", {"try": [("q1", 0.9), ("q2", 0.1)]}), "q1": ("won", {}), "q2": ("lost", {})})
    >>> mdp = from_aalpy(learned)
    >>> mdp.states, list(mdp.labels)
    (('q0: start', 'q1: won', 'q2: lost'), ['start', 'won', 'lost'])
    """
    states = getattr(automaton, "states", None)
    if not states or not all(hasattr(state, "output") for state in states):
        raise FormatError("this is no AALpy Mdp or MarkovChain: its states have no output")
    names = {id(state): f"{state.state_id}: {state.output}" for state in states}
    choices: dict[str, dict[str, dict[str, float]]] = {}
    for state in states:
        steps = state.transitions if isinstance(state.transitions, dict) else {"step": state.transitions}
        enabled = choices.setdefault(names[id(state)], {})
        for action, outcomes in steps.items():
            for successor, probability in outcomes:
                outcome = enabled.setdefault(str(action), {})
                name = names[id(successor)]
                outcome[name] = outcome.get(name, 0.0) + float(probability)
    labels: dict[str, list[str]] = {}
    for state in states:
        labels.setdefault(str(state.output), []).append(names[id(state)])
    return MDP.from_dict(choices, initial=names[id(automaton.initial_state)], labels=labels)
