"""What states are called: their labels, captions and groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from waypost.importance.results import Explanation
from waypost.model import MDP
from waypost.model.effects import told_action
from waypost.report.wording import printable

SPELT = 4  # variables up to which a state goes by all of their values
SHORT_NAMES = "A state goes by the variables in which it differs from the start."
TELL_NOTHING = frozenset({"init", "deadlock", "terminal", "target"})
_NUMBERED = re.compile(r"q\d+: (.+)", re.DOTALL)


def labels_by_state(mdp: MDP) -> list[list[str]]:
    """(S,) the labels that hold in each state, in the model's order."""
    found: list[list[str]] = [[] for _ in range(mdp.n_states)]
    for name, holds in mdp.labels.items():
        for state in np.flatnonzero(holds).tolist():
            found[state].append(name)
    return found


def labels_of(mdp: MDP, state: int) -> list[str]:
    """Labels that hold in one state, in the model's order."""
    return [name for name, holds in mdp.labels.items() if holds[state]]


def captions(mdp: MDP) -> list[str]:
    """(S,) what to call each state: the label that fewest states share with it, or else its name.

    ``init``, ``deadlock``, ``terminal`` and ``target`` tell nothing that the report does not say anyway. Where learning
    numbered the states, ``q7: pay``, the number is no part of what they are called. Where names are values of
    variables, they tell more than a label that a third of the states share.

    >>> mdp = MDP.from_dict({"q0": {"go": "q1"}, "q1": {}}, initial="q0", labels={"O_CANCELLED": ["q1"]})
    >>> captions(mdp)
    ['q0', 'O_CANCELLED']
    """
    numbered = [_NUMBERED.fullmatch(name) for name in mdp.states]
    called = [found[1] for found in numbered if found]
    if len(called) < mdp.n_states:
        called = list(mdp.states)
    most = mdp.n_states / 3 if mdp.variables else mdp.n_states
    telling = [(x, holds) for x, holds in mdp.labels.items() if x not in TELL_NOTHING and holds.sum() <= most]
    for name, holds in sorted(telling, key=lambda item: -int(item[1].sum())):
        for state in np.flatnonzero(holds).tolist():
            called[state] = name
    return called


def titles(mdp: MDP) -> list[str]:
    """(S,) captions, with what the state's name adds in brackets where several states are called the same.

    >>> mdp = MDP.from_dict({"q0": {"go": "q1"}, "q1": {}}, initial="q0", labels={"call": ["q0", "q1"]})
    >>> titles(mdp)
    ['call (q0)', 'call (q1)']
    """
    called = captions(mdp)
    shared = Counter(called)
    names = zip(called, mdp.states, strict=True)
    return [f"{caption} ({addition(caption, name)})" if shared[caption] > 1 else caption for caption, name in names]


def short_titles(mdp: MDP) -> list[str]:
    """(S,) titles in which names of many variables are short, see `short_names`; the start is called so.

    >>> start, later = (", ".join(f"{x}={int(x == y)}" for x in "abcdefg") for y in "ag")
    >>> short_titles(MDP.from_dict({start: {"go": later}, later: {}}, initial=start))
    ['(start)', 'a=0, g=1']
    """
    called, named = short_names(mdp), zip(mdp.states, titles(mdp), strict=True)
    return [title.replace(name, called(s)).replace("((start))", "(start)") for s, (name, title) in enumerate(named)]


def addition(called: str, name: str) -> str:
    """What a state's name adds to what the state is called.

    >>> addition("O_SENT", "q7: O_SENT"), addition("O_SENT", "loc=7"), addition("O_SENT", "O_SENT")
    ('q7', 'loc=7', '')
    >>> addition("key", "x=1, carrying=yellow_key")  # a part of a word is no name
    'x=1, carrying=yellow_key'
    """
    return re.sub(rf"(?<!\w){re.escape(called)}(?!\w)", "", name).strip(" :;,-()[]") if called in name else name


def are_short(mdp: MDP) -> bool:
    """Whether `short_names` leave out anything."""
    return short_names(mdp)(mdp.initial) != mdp.states[mdp.initial]


def short_names(mdp: MDP) -> Callable[[int], str]:
    """What to call states on a terminal: where names are values of many variables, by those that differ at the start.

    >>> start, later = (", ".join(f"{x}={int(x == y)}" for x in "abcdefg") for y in "ag")
    >>> mdp = MDP.from_dict({start: {"go": later}, later: {}}, initial=start)
    >>> called = short_names(mdp)
    >>> called(0), called(1)
    ('(start)', 'a=0, g=1')
    """
    first = mdp.states[mdp.initial]
    return lambda state: differing(first, mdp.states[state]) or "(start)"


def differing(before: str, name: str) -> str:
    """Values of many variables that are not those of the state before; the whole name where it has few, or others.

    >>> differing("a=0, b=0, c=0, d=0, e=0, f=0, g=0", "a=0, b=1, c=0, d=0, e=0, f=0, g=2")
    'b=1, g=2'
    >>> differing("a=0, b=0", "a=0, b=1")
    'a=0, b=1'
    """
    parts, others = name.split(", "), before.split(", ")
    if len(parts) <= SPELT or [x.partition("=")[:2] for x in parts] != [x.partition("=")[:2] for x in others]:
        return name
    return ", ".join(part for part, other in zip(parts, others, strict=True) if part != other)


def group_by_label(explanation: Explanation, positions: Iterable[int]) -> list[tuple[str, list[int]]]:
    """Group positions whose states are called by the same label; a state without one stands alone.

    The order of first appearance is kept.
    """
    called = captions(explanation.mdp)
    groups: dict[tuple[str, int], list[int]] = {}
    for position in positions:
        state = int(explanation.asked[position])
        alone = called[state] not in explanation.mdp.labels
        groups.setdefault((called[state], state if alone else -1), []).append(position)
    return [(name, members) for (name, _), members in groups.items()]


def told(mdp: MDP, state: str, *actions: str) -> str:
    """Actions of a state in words: those that nobody named by what they do.

    >>> mdp = MDP.from_dict({"x=0": {"0": "x=1", "go": "x=2"}, "x=1": {}, "x=2": {}}, initial="x=0")
    >>> told(mdp, "x=0", "go", "0")
    'go or 0 → x=1'
    """
    return " or ".join(printable(told_action(mdp, state, action)) for action in actions)
