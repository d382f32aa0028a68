"""PRISM's explicit files: ``.tra`` (transitions), ``.sta`` (variable values), ``.lab`` (labels).

Both dialects are read, PRISM's own and the one Storm writes; only the first is written::

    model.tra              model.sta      model.lab
    3 3 4                  (x,y)          0="init" 1="goal"
    0 0 1 0.5 try          0:(0,0)        0: 0
    0 0 2 0.5 try          1:(1,0)        1: 1
    1 0 1 1                2:(2,7)
    2 0 2 1

Without ``.sta`` the states are called by their numbers. Names that are no valuations are written as JSON text, for us
to read again; leave the ``.sta`` file out when PRISM is to import such a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from waypost.errors import FormatError
from waypost.formats.lexical import distinct_actions, fraction, probability, read_text, shortest_of, whole
from waypost.formats.registry import Format
from waypost.formats.starting import begun
from waypost.formats.valuations import are_numbers, names_as_columns
from waypost.formats.writing import as_utf8, write_files
from waypost.model import MDP

SUFFIXES = (".tra", ".sta", ".lab")
Lines = Iterator[tuple[str, str]]  # where, text

_DECLARED_LABEL = re.compile(r'(\d{1,15})="([^"]*)"')
_TRA = re.compile(r"\A(?:#[^\n]*\n|\s)*(?:(?:mdp|dtmc)\s*\n\s*\d|\d+[ \t]+\d+(?:[ \t]+\d+)?\s*\n)")
_PLAIN_ACTION = re.compile(r"[A-Za-z_][\w.+-]*\Z")


def read(path: Path | str, *, exact: bool = False, initial: str | None = None) -> MDP:
    """Read ``model.tra`` with the ``.sta`` and ``.lab`` beside it, where they are; any of the three may be named.

    PRISM's combined ``.pexp`` file is read as well.
    """
    path = Path(path)
    text = read_text(path)
    if "# Transitions" in text and path.suffix not in SUFFIXES:
        sections = _sections(text, path.name)
    else:
        kind = path.suffix if path.suffix in SUFFIXES else ".tra"
        beside = {suffix: path.with_suffix(suffix) for suffix in SUFFIXES if suffix != kind}
        sections = {suffix: _lines(read_text(file), file.name) for suffix, file in beside.items() if file.exists()}
        sections[kind] = _lines(text, path.name)
    if ".tra" not in sections:
        raise FormatError(
            f"{path.name} comes without its transitions: there is no {path.with_suffix('.tra').name} beside it"
        )
    table = _read_transitions(sections[".tra"], exact)
    names = _read_states(sections[".sta"]) if ".sta" in sections else None
    labels = _read_labels(sections[".lab"]) if ".lab" in sections else {}
    mdp = _assembled(table, names, labels, path.name)
    return begun(mdp, sorted(set(labels.get("init", [0]))), initial=initial, name=path.name)


def write(mdp: MDP, path: Path | str) -> None:
    """Write ``model.tra``, ``model.sta`` and ``model.lab``, all three or none."""
    texts = {".sta": _states_text(mdp), ".lab": _labels_text(mdp), ".tra": _transitions_text(mdp)}
    places = {suffix: Path(path).with_suffix(suffix) for suffix in texts}
    write_files({places[suffix]: as_utf8(places[suffix], text) for suffix, text in texts.items()})


@dataclass
class _Table:
    """The transitions as they stand in the file."""

    said: tuple[int, ...] = ()  # the numbers in the first line: states, choices (of an MDP), transitions
    source: list[int] = field(default_factory=list)
    choice: list[int] = field(default_factory=list)  # numbered within the state
    successor: list[int] = field(default_factory=list)
    probability: list[float] = field(default_factory=list)
    exact: list[Fraction] = field(default_factory=list)
    actions: dict[tuple[int, int], str] = field(default_factory=dict)


def _lines(text: str, name: str) -> Lines:
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and not (stripped.startswith("#") and stripped not in ("#DECLARATION", "#END")):
            yield f"{name} line {number}", stripped


def _sections(text: str, name: str) -> dict[str, Lines]:
    """Split a combined file at its headings."""
    kinds = {"# Transitions": ".tra", "# States": ".sta", "# Labels": ".lab"}
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            heading = next((kind for start, kind in kinds.items() if line.startswith(start)), None)
            current = [] if heading is None else found.setdefault(heading, [])
        else:
            current.append(line)
    return {kind: _lines("\n".join(lines), f"{name}, {kind[1:]}") for kind, lines in found.items()}


def _read_transitions(lines: Lines, exact: bool) -> _Table:
    where, header = next(lines, ("the file", ""))
    words = header.split()
    if header.lower() in ("mdp", "dtmc"):
        table, nondeterministic = _Table(), header.lower() == "mdp"
    elif len(words) in (2, 3) and all(word.isdigit() for word in words):
        table, nondeterministic = _Table(said=tuple(whole(word, where) for word in words)), len(words) == 3
    else:
        raise FormatError(
            f"{where}: expected 'mdp', or the numbers of states, choices and transitions, found {header[:40]!r}"
        )
    shape = "state choice successor probability [action]" if nondeterministic else "state successor probability"
    known: dict[str, float] = {}  # few numbers stand in many lines
    exactly: dict[str, Fraction] = {}
    for where, line in lines:
        words = line.split(None, 4 if nondeterministic else 3)
        if len(words) < (4 if nondeterministic else 3) or ":" in words[1]:
            raise FormatError(f"{where}: expected '{shape}', found {line[:60]!r}")
        if not nondeterministic:
            words.insert(1, "0")
        state, choice, text = whole(words[0], where), whole(words[1], where), words[3]
        if text not in known:
            exactly[text] = fraction(text, where) if exact else Fraction(0)
            known[text] = float(exactly[text]) if exact else probability(text, where)
        table.source.append(state)
        table.choice.append(choice)
        table.successor.append(whole(words[2], where))
        table.probability.append(known[text])
        if exact:
            table.exact.append(exactly[text])
        if len(words) > 4 and (state, choice) not in table.actions:
            table.actions[state, choice] = _unquoted(words[4], where)
    return table


def _unquoted(text: str, where: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except (ValueError, RecursionError):
        raise FormatError(f"{where}: {text[:40]!r} is not a quoted name") from None


def _read_states(lines: Lines) -> dict[int, str]:
    where, header = next(lines, ("the .sta file", ""))
    variables = [name.strip() for name in header.strip("()").split(",")]
    if not (header.startswith("(") and header.endswith(")")):
        raise FormatError(f"{where}: expected the variables as '(x,y)', found {header[:40]!r}")
    names = {}
    for where, line in lines:
        number, colon, values = line.partition(":")
        values = values.strip()
        if not (colon and values.startswith("(") and values.endswith(")")):
            raise FormatError(f"{where}: expected 'state:(value,...)', found {line[:60]!r}")
        state = whole(number.strip(), where)
        if values.startswith('("'):
            names[state] = _unquoted(values[1:-1], where)
            continue
        given = [value.strip() for value in values[1:-1].split(",")]
        if len(given) != len(variables):
            raise FormatError(f"{where}: {len(given)} values for {len(variables)} variables")
        names[state] = ", ".join(f"{x}={value}" for x, value in zip(variables, given, strict=True))
    return names


def _read_labels(lines: Lines) -> dict[str, list[int]]:
    where, header = next(lines, ("the .lab file", ""))
    if header != "#DECLARATION":
        number_of = {int(number): name for number, name in _DECLARED_LABEL.findall(header)}
        if _DECLARED_LABEL.sub("", header).strip():
            raise FormatError(f'{where}: expected labels as \'0="init" 1="goal"\', found {header[:60]!r}')
        members: dict[str, list[int]] = {name: [] for name in number_of.values()}
        for where, line in lines:
            state, _, numbers = line.partition(":")
            for number in numbers.split():
                if whole(number, where) not in number_of:
                    raise FormatError(f"{where}: label {number} is not declared in the first line")
                members[number_of[int(number)]].append(whole(state.strip(), where))
        return members
    members = {}
    for _, line in lines:
        if line == "#END":
            break
        members.update({name: [] for name in line.split()})
    for where, line in lines:
        state, *names = line.split()
        for name in names:
            if name not in members:
                raise FormatError(f"{where}: label {name[:40]!r} is not declared between #DECLARATION and #END")
            members[name].append(whole(state, where))
    return members


def _assembled(table: _Table, names: dict[int, str] | None, labels: dict[str, list[int]], file: str) -> MDP:
    source, within = np.array(table.source, np.int64), np.array(table.choice, np.int64)
    mentioned = [*table.source, *table.successor, *(names or ()), *(s for members in labels.values() for s in members)]
    n_states = table.said[0] if table.said else max(mentioned, default=-1) + 1
    if table.said and table.said[-1] != len(source):
        raise FormatError(f"{file} says it has {table.said[-1]} transitions, and has {len(source)}; it may be cut off")
    if names is not None and len(names) != n_states:
        raise FormatError(f"the .sta file names {len(names)} of {n_states} states; it may be cut off")
    if max(mentioned, default=-1) >= n_states:
        raise FormatError(f"{file} says it has {n_states} states, but mentions state {max(mentioned)}")
    if n_states > 2 * len(mentioned) + 16:
        raise FormatError(f"{file} says it has {n_states} states, but has only {len(source)} transitions")
    order = np.lexsort((within, source))
    pairs = np.stack([source, within], axis=1)[order]
    head = np.ones(len(pairs), bool)
    head[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    choice = np.empty(len(pairs), np.int64)
    choice[order] = np.cumsum(head) - 1
    first = np.concatenate([[0], np.cumsum(np.bincount(pairs[head, 0], minlength=n_states))])
    actions = distinct_actions(first, [table.actions.get((s, k), "") for s, k in pairs[head].tolist()])
    masks = {name: _mask(members, n_states) for name, members in labels.items() if name != "init"}
    return MDP.from_triplets(
        choice,
        np.array(table.successor, np.int64),
        table.probability,
        first_choice=first,
        states=[str(s) if names is None else names[s] for s in range(n_states)],
        actions=actions,
        initial=0,
        labels={name: mask for name, mask in masks.items() if name != "deadlock" or mask.any()},
        exact=table.exact or None,
    )


def _mask(members: list[int], n_states: int) -> NDArray[np.bool_]:
    mask = np.zeros(n_states, bool)
    mask[members] = True
    return mask


def _transitions_text(mdp: MDP) -> str:
    matrix, texts = mdp.transitions, shortest_of(mdp)
    pointer, successors, first = matrix.indptr.tolist(), matrix.indices.tolist(), mdp.first_choice.tolist()
    lines = [f"{mdp.n_states} {mdp.n_choices} {matrix.nnz}"]
    for choice, state in enumerate(mdp.choice_state.tolist()):
        action = mdp.actions[choice]
        named = action if _PLAIN_ACTION.match(action) else json.dumps(action)
        start = f"{state} {choice - first[state]}"
        lines += [f"{start} {successors[k]} {texts[k]} {named}" for k in range(pointer[choice], pointer[choice + 1])]
    return "\n".join(lines) + "\n"


def _states_text(mdp: MDP) -> str:
    names = names_as_columns(mdp)
    if names is None or not are_numbers(names.shown):
        return "(name)\n" + "".join(f"{s}:({json.dumps(name)})\n" for s, name in enumerate(mdp.states))
    rows = zip(*(v.texts(slice(None)) for v in names.shown.values()), strict=True)
    return f"({','.join(names.shown)})\n" + "".join(f"{s}:({','.join(row)})\n" for s, row in enumerate(rows))


def _labels_text(mdp: MDP) -> str:
    for name in mdp.labels:
        if name == "init" or '"' in name or name.splitlines() != [name]:
            raise FormatError(f"label {name!r} cannot be written to a .lab file; rename it")
    labels = {"init": _mask([mdp.initial], mdp.n_states), **mdp.labels}
    declared = " ".join(f'{k}="{name}"' for k, name in enumerate(labels))
    table = np.stack(list(labels.values()), axis=1)
    held = [(s, np.flatnonzero(table[s]).tolist()) for s in np.flatnonzero(table.any(axis=1)).tolist()]
    return f"{declared}\n" + "".join(f"{s}: {' '.join(map(str, numbers))}\n" for s, numbers in held)


def _recognises(_raw: bytes, text: str, path: Path) -> bool:
    return path.suffix in SUFFIXES or "# Transitions" in text or _TRA.match(text) is not None


FORMAT = Format(
    name="PRISM explicit (.tra/.sta/.lab)",
    endings=SUFFIXES,
    names="from `.sta`, else the number",
    keeps=("exact", "labels"),
    recognises=_recognises,
    read=read,
    write=write,
    options=("exact", "initial"),
)
