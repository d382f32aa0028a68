"""Strategies in and out: by name, from Storm, from PRISM, and whatever agents bring (`formats.policies`).

`read_strategy` takes any of them, so that importance can be asked for *this* agent::

    strategy = read_strategy(mdp, agent)
    state_importance(mdp, target="goal", scope=strategy)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.arguments import checked
from waypost.environments.playing import detached
from waypost.errors import StrategyError, unknown_name
from waypost.formats.answers import TableOf
from waypost.formats.lexical import probability, read_text
from waypost.formats.policies import (
    Observe,
    strategy_from_agent,
    strategy_from_function,
    strategy_from_mapping,
    strategy_from_table,
)
from waypost.formats.writing import write_text
from waypost.model import MDP, Strategy

TABLES = (".npy", ".csv")
_PRISM_LINE = re.compile(r"(\d{1,15}|\([^()]*\))\s*[:=]\s*(\S.*)\Z")


@checked
def read_strategy(mdp: MDP, source: Any, *, table: TableOf | None = None, observe: Observe | None = None) -> Strategy:
    """Strategy of an MDP, from whatever describes one.

    Parameters
    ----------
    mdp
        The model that the strategy belongs to.
    source
        A file (our JSON, Storm's scheduler JSON, PRISM's export of actions or indices, or a table in ``.npy``, ``.csv``
        or JSON); a mapping
        ``{state: action or {action: probability}}``, by name or number; a function from state names to the same; a
        table of values or probabilities, one row per state and one column per action; a vector of actions, one per
        state; or an agent with ``predict``, as those of stable-baselines3. What a mapping, a function or an agent says
        of a state may be a row of such a table, too: a network that gives values or probabilities is a function.
    table
        What rows are, where they do not tell: "values" or "probabilities".
    observe
        What a function or an agent is given, from the number of a state: ``lambda s: np.eye(16)[s]`` for one-hot
        vectors, ``lambda s: mdp.states[s]`` for names.

    Returns
    -------
    Strategy
        Checked against the model.

    Raises
    ------
    StrategyError
        If it does not fit the model.
    NameUnknownError
        If it names a state or an action that the model does not have.
    FormatError
        If a file cannot be read as a strategy.

    Examples
    --------
    >>> from waypost.cases import loan
    >>> impatient = read_strategy(loan(), lambda state: {"s0": "Apply", "Rework": "Quit"}.get(state, "Consult"))
    Traceback (most recent call last):
    ...
    waypost.errors.NameUnknownError: no action 'Consult' in state 'Consultation'; known actions: Apply, Angry
    """
    if isinstance(source, Strategy):
        return source.of(mdp)
    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix.lower() in TABLES:
            return strategy_from_table(mdp, read_table(path), of=table)
        return _from_text(mdp, read_text(path), path.name, table)
    if isinstance(source, type):
        raise StrategyError(f"{source.__name__} is a class; pass an agent of it")
    if isinstance(source, Mapping):
        return strategy_from_mapping(mdp, source, of=table)
    if hasattr(source, "predict"):
        return strategy_from_agent(mdp, source, of=table, observe=observe)
    if isinstance(source, list | tuple) or hasattr(source, "__array__"):  # of numpy, pandas, torch
        return strategy_from_table(mdp, _array(detached(source), "the table"), of=table)
    if callable(source):
        return strategy_from_function(mdp, source, of=table, observe=observe)
    raise StrategyError(
        f"a {type(source).__name__} is no strategy we know; give a file, a mapping, a function, a table with one row "
        "per state, or an agent with predict(); of another agent pass the method that chooses, and what it sees: "
        "agent.act, observe=lambda s: s"
    )


@checked
def write_strategy(strategy: Strategy, path: Path | str) -> None:
    """Write a strategy as JSON by name, which `read_strategy` gives back.

    Parameters
    ----------
    strategy
        The strategy.
    path
        Where to write it.

    Raises
    ------
    FormatError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from waypost.cases import loan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_strategy(Strategy.uniform(loan()), pathlib.Path(folder) / "strategy.json")
    ...     read_strategy(loan(), pathlib.Path(folder) / "strategy.json")
    Strategy(stochastic, memory=1, states=10)
    """
    write_text(path, json.dumps(strategy.to_dict(), indent=1, ensure_ascii=False) + "\n")


def storm_scheduler(strategy: Strategy) -> str:
    """Write a memoryless strategy as Storm writes a scheduler: choices by index, states by valuation or number.

    >>> from waypost.cases import loan
    >>> json.loads(storm_scheduler(Strategy.uniform(loan())))[0]
    {'c': [{'index': 0, 'labels': ['Apply'], 'prob': 0.5}, {'index': 1, 'labels': ['Consult'], 'prob': 0.5}], 's': 0}
    """
    mdp, taken = strategy.mdp, _memoryless(strategy)
    entries = []
    for s in range(mdp.n_states):
        choices = [c for c in mdp.choices(s) if taken[c]]
        valuation = {x: v.at(s) for x, v in mdp.variables.items() if v.defined[s]}
        entries.append({
            "c": [{"index": c, "labels": [mdp.actions[c]], "prob": float(taken[c])} for c in choices],
            "s": valuation or s,
        })  # fmt: skip
    return json.dumps(entries, indent=4, ensure_ascii=False) + "\n"


def prism_strategy(strategy: Strategy) -> str:
    """Write a memoryless strategy as PRISM exports one: ``state:action``, or ``state=p:action+...`` where it is random.

    >>> from waypost.cases import loan
    >>> prism_strategy(Strategy.uniform(loan())).splitlines()[:2]
    ['0=0.5:Apply+0.5:Consult', '1:Provider']
    """
    mdp, taken = strategy.mdp, _memoryless(strategy)
    lines = []
    for s in range(mdp.n_states):
        choices = [c for c in mdp.choices(s) if taken[c]]
        if len(choices) == 1:
            lines.append(f"{s}:{mdp.actions[choices[0]]}")
        else:
            lines.append(f"{s}=" + "+".join(f"{float(taken[c])!r}:{mdp.actions[c]}" for c in choices))
    return "\n".join(lines) + "\n"


def _memoryless(strategy: Strategy) -> NDArray[np.float64]:
    if strategy.memory != 1:
        raise StrategyError(
            "this strategy has memory, which only our JSON can write (write_strategy); model.on_product gives one "
            "without, for the product with the memory"
        )
    return strategy.modes[0]


def read_table(path: Path) -> NDArray[Any]:
    """Table of numbers in a file: NumPy's ``.npy``, or ``.csv`` with one row per state."""
    try:
        if path.suffix.lower() == ".npy":
            if path.read_bytes()[:6] != b"\x93NUMPY":
                raise StrategyError(f"{path.name} is no table of numbers: numpy.save did not write it")
            found: NDArray[Any] = np.load(path, allow_pickle=False)
        else:
            rows = [line for line in read_text(path).splitlines() if line.strip()]
            found = np.array([[float(part) for part in line.split(",")] for line in rows])
    except (ValueError, EOFError) as error:
        hint = "; leave headings and names of rows out, as to_csv(header=False, index=False) does"
        named = hint if "could not convert" in str(error) else ""
        raise StrategyError(
            f"{path.name} is no table of numbers, one row per state: {str(error)[:100]}{named}"
        ) from None
    except OSError as error:
        raise StrategyError(f"{path.name} cannot be read: {error.strerror or error}") from None
    numbers = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    whole = numbers.ndim == 1 and numbers.dtype.kind == "f" and bool((numbers == np.floor(numbers)).all())
    return numbers.astype(np.int64) if whole else numbers


def _from_text(mdp: MDP, text: str, name: str, table: TableOf | None) -> Strategy:
    if text.lstrip().startswith(("{", "[")):
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise StrategyError(f"{name} is no JSON: {str(error)[:100]}") from None
        if not isinstance(given, list):
            return strategy_from_mapping(mdp, given, of=table)
        if given and all(isinstance(row, list | int) for row in given):
            return strategy_from_table(mdp, _array(given, name), of=table)
        return _from_storm(mdp, given, name)
    return _from_prism(mdp, text, name)


def _array(given: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError:
        raise StrategyError(f"{name} has rows of different lengths; a table has one column per action") from None


def _from_storm(mdp: MDP, given: list[Any], name: str) -> Strategy:
    """Read Storm's scheduler: ``[{"s": valuation or number, "c": [{"index": ..., "labels": [...], "prob": ...}]}]``."""
    by_values = {frozenset(_split(state)): s for s, state in enumerate(mdp.states)}
    taken = np.zeros(mdp.n_choices)
    indexed: list[tuple[int, int, float]] = []
    for entry in given:
        if not isinstance(entry, dict) or not isinstance(entry.get("c"), list) or "s" not in entry:
            raise StrategyError(f'{name} is no scheduler of Storm: every entry needs "s" and "c"')
        if entry.get("m", 0) != 0:
            raise StrategyError(f"{name} is a scheduler with memory, which is not read; ask Storm for a memoryless one")
        s = _storm_state(mdp, entry["s"], by_values)
        names = mdp.actions_of(s)
        for part in entry["c"]:
            odds = part.get("prob", 1) if isinstance(part, dict) else None
            if isinstance(odds, bool) or not isinstance(odds, int | float) or not 0 <= odds <= 2:
                raise StrategyError(f"{name} has a choice without a probability in state {mdp.states[s]!r}")
            given_labels = part.get("labels") or []
            if not isinstance(given_labels, list):
                raise StrategyError(f"{name} has a choice whose labels are no list in state {mdp.states[s]!r}")
            label = "+".join(sorted(map(str, given_labels)))
            if label in names:
                taken[mdp.choice(s, label)] += odds
            else:
                indexed.append((s, part.get("index", -1), float(odds)))
    return _with_indexed(mdp, taken, indexed, name)


def _with_indexed(mdp: MDP, taken: NDArray[np.float64], indexed: list[tuple[int, int, float]], name: str) -> Strategy:
    """Add choices given by number, through the whole model or within each state."""
    first = mdp.first_choice
    through = all(isinstance(k, int) and first[s] <= k < first[s + 1] for s, k, _ in indexed)
    for s, k, odds in indexed:
        c = k if through else int(first[s]) + k if isinstance(k, int) else -1
        if not first[s] <= c < first[s + 1]:
            raise StrategyError(
                f"{name} takes choice {k} in state {mdp.states[s]!r}, which has {first[s + 1] - first[s]}"
            )
        taken[c] += odds
    said: dict[str, dict[str, float]] = {}
    for c in np.flatnonzero(taken).tolist():
        said.setdefault(mdp.states[mdp.choice_state[c]], {})[mdp.actions[c]] = float(taken[c])
    return Strategy.from_dict(mdp, said)


def _split(state: str) -> list[str]:
    return state.split(", ")


def _storm_state(mdp: MDP, given: Any, by_values: Mapping[frozenset[str], int]) -> int:
    if isinstance(given, int) and not isinstance(given, bool):
        if not 0 <= given < mdp.n_states:
            raise StrategyError(f"the scheduler speaks of state number {given}, the model has {mdp.n_states}")
        return given
    if isinstance(given, dict):
        values = frozenset(f"{x}={str(v).lower() if isinstance(v, bool) else v}" for x, v in given.items())
        if values in by_values:
            return by_values[values]
    text = ", ".join(f"{x}={v}" for x, v in given.items()) if isinstance(given, dict) else str(given)
    raise unknown_name("state", text, mdp.states)


def _from_prism(mdp: MDP, text: str, name: str) -> Strategy:
    """Read PRISM's export: lines ``3:east``, ``(1,2):east``, ``3:0`` (by index) or ``3=0.5:east+0.5:west``."""
    rows = zip(*(v.texts(slice(None)) for v in mdp.variables.values()), strict=True)
    by_tuple = {row: s for s, row in enumerate(rows)}
    taken = np.zeros(mdp.n_choices)
    indexed: list[tuple[int, int, float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        match = _PRISM_LINE.match(line.strip())
        if match is None:
            raise StrategyError(f"{name} line {number}: expected 'state:action', found {line[:60]!r}")
        s = _prism_state(mdp, match[1], by_tuple)
        for action, odds in _prism_choice(match[2], f"{name} line {number}"):
            if action.isdigit() and action not in mdp.actions_of(s):
                indexed.append((s, int(action[:15]), odds))
            else:
                taken[mdp.choice(s, action)] += odds
    local = [(s, int(mdp.first_choice[s]) + k, odds) for s, k, odds in indexed]
    return _with_indexed(mdp, taken, local, name)


def _prism_state(mdp: MDP, text: str, by_tuple: Mapping[tuple[str, ...], int]) -> int:
    if text.startswith("("):
        values = tuple(part.strip() for part in text[1:-1].split(","))
        if values in by_tuple:
            return by_tuple[values]
    elif int(text) < mdp.n_states:
        return int(text)
    raise StrategyError(f"the strategy speaks of state {text[:60]}, which the model does not have")


def _prism_choice(text: str, where: str) -> list[tuple[str, float]]:
    parts = [part.split(":", 1) for part in text.split("+")]
    if all(len(part) == 2 and re.fullmatch(r"[\d.eE/-]+", part[0]) for part in parts):
        return [(action, probability(odds, where)) for odds, action in parts]
    return [(text, 1.0)]
