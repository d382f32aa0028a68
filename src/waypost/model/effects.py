"""What a choice does: the way to tell choices apart that nobody named.

A command of PRISM or an edge of JANI need not have an action. Its choices are then numbered within their state, which
tells a person nothing; which variables it changes, and to what, is there to be read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from waypost.model.checking import FINAL
from waypost.model.mdp import MDP

MOST = 4  # variables that are told, and values of one
_AGAIN = re.compile(r" \(\d+\)\Z")  # behind the second choice of a state that has the name of the first


def effect(mdp: MDP, choice: int) -> str:
    """Variables that a choice may change, and to what; empty where the model has none.

    >>> steps = {"x=0, y=0": {"0": {"x=1, y=0": 0.5, "x=1, y=1": 0.5}, "1": "x=0, y=0"}, "x=1, y=0": {}, "x=1, y=1": {}}
    >>> mdp = MDP.from_dict(steps, initial="x=0, y=0")
    >>> effect(mdp, 0), effect(mdp, 1)
    ('x=1, y=0 or 1', 'changes nothing')
    """
    if not mdp.variables:
        return ""
    here, there = int(mdp.choice_state[choice]), mdp.successors(choice=choice)
    told = []
    for name, variable in mdp.variables.items():
        if any(variable.at(state) != variable.at(here) for state in there.tolist()):
            values = list(dict.fromkeys(variable.texts(there[variable.defined[there]])))
            told.append(f"{name}={' or '.join([*values[:MOST], *['...'] * (len(values) > MOST)])}")
    return ", ".join([*told[:MOST], *["..."] * (len(told) > MOST)]) or "changes nothing"


def told_action(mdp: MDP, state: str, action: str) -> str:
    """Action as a person can understand it: with its effect, where it has no name or shares it with another.

    >>> steps = {"x=0": {"0": "x=1", "go": "x=2"}, "x=1": {}, "x=2": {}}
    >>> mdp = MDP.from_dict(steps, initial="x=0")
    >>> told_action(mdp, "x=0", "0"), told_action(mdp, "x=0", "go")
    ('0 → x=1', 'go')
    """
    return told_choice(mdp, mdp.choice(mdp.state(state), action))


def told_choice(mdp: MDP, choice: int) -> str:
    """The same of a choice by its position.

    >>> told_choice(MDP.from_dict({"x=0": {"0": "x=1"}, "x=1": {}}, initial="x=0"), 0)
    '0 → x=1'
    """
    action = mdp.actions[choice]
    if action == FINAL:
        return action
    if not action.isdecimal():
        called = [_AGAIN.sub("", mdp.actions[c]) for c in mdp.choices(int(mdp.choice_state[choice]))]
        if called.count(_AGAIN.sub("", action)) == 1:
            return action
    does = effect(mdp, choice)
    return f"{action} → {does}" if does else action


def told_path(mdp: MDP, path: Sequence[str]) -> list[str]:
    """States and actions in turn, as a person can understand them.

    >>> told_path(MDP.from_dict({"x=0": {"0": "x=1"}, "x=1": {}}, initial="x=0"), ["x=0", "0", "x=1"])
    ['x=0', '0 → x=1', 'x=1']
    """
    return [told_action(mdp, path[k - 1], step) if k % 2 else step for k, step in enumerate(path)]
