"""Reading flat PRISM programs without any other tool: one module, and every command names one state.

Learned models usually are flat, and so is everything `waypost.formats.prism_writer` writes. Every other program goes to
Storm (`waypost.formats.storm`). As in PRISM, the states are those reachable from the initial one; in a file of ours,
whose comments list them, they are the ones listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from waypost.errors import WaypostError
from waypost.formats.lexical import distinct_actions, fraction, probability
from waypost.formats.prism_writer import kept_names
from waypost.model import MDP
from waypost.model.expressions import states_where
from waypost.model.valuations import Variables, column_of

_COMMENT = re.compile(r"//[^\n]*")
_VALUE = r"(?:-?\d{1,15}|true|false)"
_DECLARATION = re.compile(
    rf"(\w+)\s*:\s*(?:\[\s*(-?\d{{1,15}})\s*\.\.\s*(-?\d{{1,15}})\s*\]|bool)\s*init\s+({_VALUE})\Z"
)
_EQUALS = re.compile(rf"\(?\s*(\w+)\s*=\s*({_VALUE})\s*\)?\Z")
_BECOMES = re.compile(rf"\(\s*(\w+)'\s*=\s*({_VALUE})\s*\)\Z")
_LABEL = re.compile(r'label\s+"([^"]*)"\s*=\s*(.*)\Z', re.DOTALL)

State = tuple[str, ...]  # the value of each variable, as text


@dataclass
class _Program:
    """A flat program as it stands."""

    variables: dict[str, str] = field(default_factory=dict)  # name: initial value
    ranges: list[tuple[int, int] | None] = field(default_factory=list)  # None: boolean
    commands: list[tuple[State, str, list[tuple[str, State]]]] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)


def loads_flat(text: str, *, exact: bool = False) -> MDP | None:
    """Read a flat program; None if it is anything more than that, which is then for Storm to judge.

    >>> from waypost.formats.prism_writer import dumps
    >>> mdp = loads_flat(dumps(MDP.from_dict({"s 0": {"go!": "won"}, "won": {}}, initial="s 0")))
    >>> mdp.states, mdp.actions
    (('s 0', 'won'), ('go!', '(final)'))
    """
    program = _parsed(_COMMENT.sub("", text))
    if program is None:
        return None
    kept = kept_names(text)
    order = _kept_order(program, kept["state"])
    names: list[str] | None = None
    if order is None:
        order = _reachable(program)  # what a PRISM program means
    else:
        names = list(kept["state"].values())
    try:
        return _assembled(program, order, names, kept, exact)
    except WaypostError:
        if "//@" in text:  # ours, so nobody else can do better
            raise
        return None


def _parsed(text: str) -> _Program | None:
    head = re.match(r"\s*(?:mdp|dtmc|nondeterministic|probabilistic)\s+module\s+\w+\s+", text)
    body, end, tail = text.partition("endmodule")
    if head is None or not end or "endmodule" in tail:
        return None
    program = _Program()
    if body.rpartition(";")[2].strip() or tail.rpartition(";")[2].strip():
        return None  # a statement that does not end
    for statement in body[head.end() :].split(";"):
        stripped = statement.strip()
        if declared := _DECLARATION.match(stripped):
            if program.commands or declared[1] in program.variables:
                return None
            program.variables[declared[1]] = declared[4]
            program.ranges.append(None if declared[2] is None else (int(declared[2]), int(declared[3])))
        elif stripped and not _add_command(program, stripped):
            return None
    for statement in tail.split(";"):
        if label := _LABEL.match(statement.strip()):
            program.labels[label[1]] = label[2]
        elif statement.strip():
            return None
    mentioned = {s for guard, _, branches in program.commands for s in (guard, *(to for _, to in branches))}
    mentioned.add(tuple(program.variables.values()))
    return program if program.variables and all(_within(state, program.ranges) for state in mentioned) else None


def _within(state: State, ranges: Sequence[tuple[int, int] | None]) -> bool:
    """Whether every value is one its variable can have."""
    for value, bounds in zip(state, ranges, strict=True):
        truth = value in ("true", "false")
        if truth != (bounds is None) or (bounds is not None and not bounds[0] <= int(value) <= bounds[1]):
            return False
    return True


def _add_command(program: _Program, statement: str) -> bool:
    head, arrow, outcome = statement.partition("->")
    action, bracket, condition = head.removeprefix("[").partition("]")
    if not (arrow and bracket and statement.startswith("[") and re.fullmatch(r"\s*\w*\s*", action)):
        return False
    guard = _valuation(condition)
    if guard is None or set(guard) != set(program.variables):
        return False
    branches = []
    for branch in outcome.split("+"):
        given, colon, update = branch.rpartition(":")
        changed = dict(guard)
        for part in update.split("&"):
            assignment = _BECOMES.match(part.strip())
            if assignment is None or assignment[1] not in guard:
                return False
            changed[assignment[1]] = assignment[2]
        branches.append((given.strip() if colon else "1", tuple(changed[x] for x in program.variables)))
    program.commands.append((tuple(guard[x] for x in program.variables), action.strip(), branches))
    return True


def _valuation(condition: str) -> dict[str, str] | None:
    """Read ``x=1 & y=2``."""
    found: dict[str, str] = {}
    for part in condition.strip().split("&"):
        pair = _EQUALS.match(part.strip())
        if pair is None or pair[1] in found:
            return None
        found[pair[1]] = pair[2]
    return found


def _label(text: str, program: _Program, order: Mapping[State, int], variables: Variables) -> NDArray[np.bool_]:
    """Give the states of a label: a list of states such as we write it, or any expression."""
    mask = np.zeros(len(order), bool)
    if text.strip() == "false":
        return mask
    for part in text.split("|"):
        found = _valuation(part.strip().removeprefix("(").removesuffix(")"))
        if found is None or set(found) != set(program.variables):
            return states_where(text, variables, {}, len(order))
        state = tuple(found[x] for x in program.variables)
        if state in order:
            mask[order[state]] = True
    return mask


def _kept_order(program: _Program, kept: Mapping[str, str]) -> dict[State, int] | None:
    """Give the states in the order our comments tell, if there are such comments and they tell all states."""
    if not kept:
        return None
    order: dict[State, int] = {tuple(key.split(",")): k for k, key in enumerate(kept)}
    mentioned = {s for guard, _, branches in program.commands for s in (guard, *(to for _, to in branches))}
    mentioned.add(tuple(program.variables.values()))
    return order if len(order) == len(kept) and mentioned <= set(order) else None


def _reachable(program: _Program) -> dict[State, int]:
    successors: dict[State, list[State]] = {}
    for guard, _, branches in program.commands:
        successors.setdefault(guard, []).extend(to for _, to in branches)
    order: dict[State, int] = {tuple(program.variables.values()): 0}
    queue = list(order)
    for state in queue:
        for to in successors.get(state, []):
            if to not in order:
                order[to] = len(order)
                queue.append(to)
    return order


def _assembled(
    program: _Program,
    order: Mapping[State, int],
    names: Sequence[str] | None,
    kept: Mapping[str, Mapping[str, str]],
    exact: bool,
) -> MDP:
    ranked = sorted((c for c in program.commands if c[0] in order), key=lambda command: order[command[0]])
    owned = np.zeros(len(order), np.int64)
    choice, successor, given = [], [], []
    for c, (guard, _, branches) in enumerate(ranked):
        owned[order[guard]] += 1
        for text, to in branches:
            choice.append(c)
            successor.append(order[to])
            given.append(text)
    first = np.concatenate([[0], np.cumsum(owned)])
    where = "a probability of the PRISM program"
    columns = zip(*order, strict=True)
    variables = {x: column_of(list(enumerate(c)), len(order)) for x, c in zip(program.variables, columns, strict=True)}
    labels = {
        kept["label"].get(name, name): _label(text, program, order, variables) for name, text in program.labels.items()
    }
    own = names is not None and list(variables) == ["state"]  # numbers that we gave the states
    if names is None and (owned == 0).any():
        labels.setdefault("deadlock", owned == 0)  # as PRISM and Storm call final states
    return MDP.from_triplets(
        choice,
        successor,
        [probability(text, where) for text in given],
        first_choice=first,
        states=names,
        valuations=None if own else variables,
        actions=distinct_actions(first, [kept["action"].get(action, action) for _, action, _ in ranked]),
        initial=order[tuple(program.variables.values())],
        labels=labels,
        exact=[fraction(text, where) for text in given] if exact else None,
    )
