"""DRN, the explicit text format of Storm: read and written with 17 digits, state and action names kept.

::

    @type: MDP
    @parameters

    @reward_models

    @nr_states
    2
    @nr_choices
    2
    @model
    state 0 init
    //[start]
        action go
            1 : 1
    state 1 goal
    //[the end]
        action (final)
            1 : 1

A state's name is the comment ``//[...]`` behind it, as Storm writes valuations; without one it is the number. Names and
labels with blanks, quotes or line breaks are written as JSON strings. How often the transitions of actions were seen
is told by comments at the top, ``//counts 30 10``, one for each action in turn. Rewards are read over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import FormatError, ModelError
from waypost.formats.decimals import Places
from waypost.formats.drn_scanner import scan
from waypost.formats.kinds import check_kind, with_intervals
from waypost.formats.lexical import distinct_actions, distinct_codes, fraction, least_of, numbers_in, read_text, whole
from waypost.formats.registry import Format
from waypost.formats.starting import begun
from waypost.formats.writing import write_text
from waypost.model import MDP, Labels
from waypost.model.names import Texts

LARGE = 20_000  # characters from which whole arrays are quicker than one line after another
_MODEL = re.compile(r"^@model[ \t\r]*$", re.MULTILINE)
_PLAIN = re.compile(r"[^\s\"\[\]/!][^\s\"\[\]/]*")  # a word behind ! is an exit rate
_REWARD = re.compile(r"\s*\[[^\]]*\]\s*$")
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+')
_BETWEEN = re.compile(r"\s*\t&\s*")  # Storm writes valuations as x=1<tab>& y=2


def loads(text: str, *, exact: bool = False, initial: str | None = None) -> MDP:
    """Read a model from DRN text.

    >>> from waypost.cases import loan
    >>> again = loads(dumps(loan()), exact=True)
    >>> again.states == loan().states, again.actions == loan().actions
    (True, True)
    """
    if len(text) >= LARGE and not exact and (quick := _quickly(text, initial)) is not None:
        return quick
    lines = iter(text.splitlines())
    n_states, n_choices, counts = _header(lines)
    parts = _Parts()
    try:
        parts.read(lines)
    except (json.JSONDecodeError, IndexError) as error:
        raise FormatError(f"state {len(parts.states) - 1} cannot be read: {error}") from None
    _check_sizes(n_states, n_choices, len(parts.states), len(parts.actions))
    if not parts.initial and initial is None:
        raise FormatError("the model has 0 initial states; mark one with 'init'")
    if parts.owners and parts.owners[0] < 0:
        raise FormatError("an action stands before the first state")
    return begun(parts.mdp(exact=exact, counts=counts), parts.initial, initial=initial)


def _check_sizes(n_states: int | None, n_choices: int | None, states: int, choices: int) -> None:
    for kind, announced, found in (("states", n_states, states), ("choices", n_choices, choices)):
        if announced is not None and announced != found:
            raise FormatError(f"the file announces {announced} {kind} and has {found}; it may be cut off")


def _quickly(text: str, initial: str | None) -> MDP | None:
    """Read a model with `formats.drn_scanner`; None where something is out of the ordinary."""
    text = text.replace("\r\n", "\n") if "\r" in text else text
    begins = _MODEL.search(text)
    if begins is None:
        return None
    head = text[: begins.end()]
    n_states, n_choices, counts = _header(iter(head.splitlines()))
    content = text.encode()
    found = None if counts else scan(content, len(head.encode()) + 1)
    if found is None or not len(found.tails) or not len(found.actions):
        return None
    n = len(found.tails)
    _check_sizes(n_states, n_choices, n, len(found.actions))
    initials, holding = _holding(content, found.tails)
    if not initials and initial is None:
        return None
    first_choice = np.concatenate([[0], np.cumsum(np.bincount(found.owner, minlength=n))])
    codes, words = found.actions.coded()
    mdp = MDP.from_triplets(
        None,
        found.successor,
        found.probability,
        first_choice=first_choice,
        pointer=found.first_entry,
        states=_names(found.names, found.named, n),
        actions=distinct_codes(first_choice, codes, [_action(word.strip()) for word in words]),
        initial=initials[0] if initials else 0,
        labels=Labels.of(n, holding),
    )
    return begun(mdp, initials, initial=initial)


def _holding(content: bytes, tails: Places) -> tuple[list[int], dict[str, list[int]]]:
    """Initial states, and those in which each label holds, from what stands behind their numbers."""
    some = np.flatnonzero(tails[:, 0] < tails[:, 1])
    by_tail: dict[bytes, list[int]] = {}
    for state, (low, high) in zip(some.tolist(), tails[some].tolist(), strict=True):
        by_tail.setdefault(content[low:high], []).append(state)
    initials: list[int] = []
    holding: dict[str, list[int]] = {}
    for tail, states in by_tail.items():
        for label, plain in _words(tail.decode()):
            members = initials if plain and label == "init" else holding.setdefault(label, [])
            members.extend(states)
    return sorted(initials), holding


def _names(texts: Texts, named: Places, n_states: int) -> Sequence[str]:
    """Names of the states: the comments behind them, else their numbers."""
    plain = b'"' not in texts.content and b"\t" not in texts.content
    if plain and len(named) == n_states and (named == np.arange(n_states)).all() and texts.distinct:
        return texts
    found = list(map(str, range(n_states)))
    for state, text in zip(named.tolist(), texts, strict=True):
        found[state] = _told(text)
    return _unique(found)


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Labels of a state, and whether each is written without quotes."""
    for word in _WORD.findall(text):
        if word[0] not in "[!":  # rewards and exit rates
            yield (str(json.loads(word)), False) if word[0] == '"' else (word, True)


def _told(inner: str) -> str:
    """Name as it is meant, from what stands in a comment."""
    if inner.startswith('"'):
        return str(json.loads(inner))
    return _BETWEEN.sub(", ", inner) if "\t" in inner else inner


def read(path: Path | str, *, exact: bool = False, initial: str | None = None) -> MDP:
    """Read a model from a DRN file."""
    return loads(read_text(Path(path)), exact=exact, initial=initial)


def write(mdp: MDP, path: Path | str) -> None:
    """Write a model as a DRN file."""
    write_text(path, dumps(mdp))


def dumps(mdp: MDP) -> str:
    """Write a model as DRN text; a model with exact probabilities keeps them as fractions."""
    kind = "rational" if mdp.exact is not None else "double"
    out = [] if mdp.counts is None else [f"//counts {' '.join(map(str, row))}" for row in _rows(mdp)]
    chain = mdp.n_choices == mdp.n_states
    out += [f"@type: {'DTMC' if chain else 'MDP'}", f"@value_type: {kind}", "@parameters", "", "@reward_models", ""]
    out += ["@nr_states", str(mdp.n_states), "@nr_choices", str(mdp.n_choices), "@model"]
    labels_of: list[list[str]] = [[] for _ in mdp.states]
    for label, holds in mdp.labels.items():
        word = " " + _quoted(label)
        for s in np.flatnonzero(holds).tolist():
            labels_of[s].append(word)
    indptr, indices = mdp.transitions.indptr.tolist(), mdp.transitions.indices.tolist()
    values = mdp.transitions.data.tolist() if mdp.exact is None else [str(p) for p in mdp.exact]
    first = mdp.first_choice.tolist()
    for s, name in enumerate(mdp.states):
        init = " init" if s == mdp.initial else ""
        out.append(f"state {s}{init}{''.join(labels_of[s])}")
        out.append(f"//[{_commented(name)}]")
        for c in range(first[s], first[s + 1]):
            out.append(f"\taction {_quoted(mdp.actions[c])}")
            out += [f"\t\t{indices[e]} : {values[e]}" for e in range(indptr[c], indptr[c + 1])]
    return "\n".join(out) + "\n"


def _rows(mdp: MDP) -> Iterator[list[int]]:
    """How often the transitions of each choice were seen."""
    for low, high in pairwise(mdp.transitions.indptr.tolist()):
        yield [] if mdp.counts is None else mdp.counts[low:high].tolist()


def _header(lines: Iterator[str]) -> tuple[int | None, int | None, list[int]]:
    """Read up to ``@model``; return the numbers of states and choices announced, and the counts of transitions."""
    announced: dict[str, int] = {}
    counts: list[int] = []
    for line in lines:
        word = line.strip()
        if word == "@model":
            return announced.get("@nr_states"), announced.get("@nr_choices"), counts
        if word.startswith("//counts "):
            counts += [whole(count, "//counts") for count in word[9:].split()]
        if word.startswith("@type"):
            kind = word.partition(":")[2].strip().upper()
            if kind not in ("MDP", "DTMC"):
                check_kind(kind, "the model")
                raise FormatError(f"the model is of type {kind!r}; from DRN only MDP and DTMC can be read, use UMB")
        elif word.startswith("@value_type") and "interval" in word:
            raise ModelError(with_intervals("the model"))
        elif word in ("@nr_states", "@nr_choices"):
            announced[word] = whole(next(lines, "").strip(), word)
        elif word == "@parameters" and next(lines, "").strip():
            raise FormatError("the model has parameters; give them values before reading it")
    raise FormatError("the file has no @model section; it may be cut off")


class _Parts:
    """The parts of a model, collected line by line."""

    def __init__(self) -> None:
        self.states: list[str] = []
        self.labels: dict[str, list[int]] = {}
        self.initial: list[int] = []
        self.actions: list[str] = []
        self.owners: list[int] = []  # the state of each action
        self.first_entry: list[int] = []  # of each action
        self.entries: list[str] = []  # "successor : probability"

    def read(self, lines: Iterable[str]) -> None:
        """Read states, their names, actions and transitions."""
        entries = self.entries
        for line in lines:
            if line[:2] == "\t\t":
                entries.append(line)
                continue
            word = line.strip()
            if not word:
                continue
            if word[0].isdigit():
                entries.append(word)
            elif word.startswith("action"):
                self.first_entry.append(len(entries))
                self.owners.append(len(self.states) - 1)
                self.actions.append(_action(word[6:].strip()))
            elif word.startswith("state"):
                self._state(word[5:].strip())
            elif word.startswith("//["):
                self._name(word[3:])
            elif not word.startswith("//"):
                raise FormatError(f"cannot read the line {word[:60]!r} as part of a model")

    def _state(self, text: str) -> None:
        s, number = len(self.states), str(len(self.states))
        self.states.append(number)
        if text == number:
            return
        words = text.split(None, 1)
        if not words or words[0] != number:
            raise FormatError(f"expected state {s}, found {text[:40]!r}; states must be numbered through")
        for label, plain in _words(words[1]):
            if label == "init" and plain:
                self.initial.append(s)
            else:
                self.labels.setdefault(label, []).append(s)

    def _name(self, text: str) -> None:
        if self.states and text.endswith("]"):
            self.states[-1] = _told(text[:-1])

    def mdp(self, *, exact: bool, counts: list[int]) -> MDP:
        """Put the parts together."""
        n = len(self.states)
        if counts and len(counts) != len(self.entries):
            raise FormatError(f"the file counts {len(counts)} transitions and has {len(self.entries)}")
        first_entry = np.array([*self.first_entry, len(self.entries)], np.int64)
        if first_entry[0] > 0:
            raise FormatError("a transition stands before the first action")
        successor, probability, fractions = _numbers(self.entries, exact=exact)
        owned = np.bincount(np.array(self.owners, np.int64), minlength=n)
        first_choice = np.concatenate([[0], np.cumsum(owned)])
        return MDP.from_triplets(
            np.repeat(np.arange(len(self.actions)), np.diff(first_entry)),
            successor,
            probability,
            first_choice=first_choice,
            states=_unique(self.states),
            actions=distinct_actions(first_choice, self.actions),
            initial=self.initial[0] if self.initial else 0,
            labels=Labels.of(n, self.labels),
            exact=fractions,
            counts=counts or None,
        )


def _numbers(entries: list[str], *, exact: bool) -> tuple[NDArray[Any], NDArray[Any], list[Fraction] | None]:
    """Successors and probabilities of lines such as ``3 : 0.25`` or ``3 : 1/4``."""
    text = " ".join(entries)
    if not exact and "/" not in text:
        numbers = numbers_in(text.replace(":", " "))
        successor = numbers[::2]
        whole_numbers = bool(((successor >= 0) & (successor < 2**53) & (successor == np.floor(successor))).all())
        if len(numbers) == 2 * len(entries) and text.count(":") == len(entries) and whole_numbers:
            found = numbers[1::2]
            for k in np.flatnonzero(found == 0).tolist():
                found[k] = least_of(entries[k].partition(":")[2])
            return successor.astype(np.int64), found, None
    successors, fractions = [], []
    for entry in entries:
        left, _, right = entry.partition(":")
        where = f"{entry.strip()[:60]!r} is no 'successor : probability'"
        successors.append(whole(left.strip(), where))
        fractions.append(fraction(right.strip(), where))
    return np.array(successors, np.int64), np.array([float(p) for p in fractions]), fractions


def _action(text: str) -> str:
    """Name of an action, without its rewards."""
    if text.startswith('"'):
        name, _ = json.JSONDecoder().raw_decode(text)
        return str(name)
    return _REWARD.sub("", text) if "[" in text else text


def _unique(names: list[str]) -> list[str]:
    """Add the number to names that occur twice, as comments may."""
    if len(set(names)) == len(names):
        return names
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return [name if seen[name] == 1 else f"{name} #{s}" for s, name in enumerate(names)]


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name != "init" else json.dumps(name)


def _commented(name: str) -> str:
    plain = name.isprintable() and not name.startswith('"') and "\t" not in name and name == name.strip()
    return name if plain else json.dumps(name)


def _recognises(_raw: bytes, text: str, _path: Path) -> bool:
    return re.search(r"^@(?:model|type)\b", text, re.MULTILINE) is not None


FORMAT = Format(
    name="DRN",
    endings=(".drn",),
    names="the comment behind the state, else the number",
    keeps=("exact", "labels", "counts"),
    recognises=_recognises,
    loads=loads,
    read=read,
    write=write,
    options=("exact", "initial"),
)
