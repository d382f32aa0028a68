"""A recipe: everything between a raw log and the traces to learn from, in Python or as a small TOML file.

::

    title = "Loan applications"
    eps = 0.9                         # how readily states are told apart; "auto" and "none" are possible, too
    naming = "plain"                  # or "paper"

    [columns]                         # of a CSV file, where they are not to be guessed
    case = "Case ID"

    [actors]                          # who performs which event; the first pattern that fits counts
    "A_SUBMITTED" = "customer"
    "*" = "company"

    [[step]]                          # one after another
    do = "drop_events"
    names = ["W_*"]
"""

from __future__ import annotations

import inspect
import tomllib
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from waypost.arguments import shown
from waypost.errors import LogError, unknown_name
from waypost.logs.actors import Actors, checked_actors
from waypost.logs.files import exists, is_xes, read_text
from waypost.logs.log import EventLog
from waypost.logs.steps import STEPS
from waypost.logs.variants import AnyLog
from waypost.model.traces import Naming

COLUMN_KEYS = ("case", "activity", "time", "lifecycle", "start", "delimiter", "time_format", "encoding")
KEYS = ("title", "source", "eps", "naming", "choosing", "columns", "actors", "step")


@dataclass(frozen=True)
class RecipeStep:
    """One step of a recipe by name, its parameters checked.

    >>> RecipeStep("drop_events", {"names": "b"})(EventLog.from_sequences([["a", "b"]])).sequences()
    [('a',)]
    >>> RecipeStep("drop_events", {"name": "b"})
    Traceback (most recent call last):
    ...
    waypost.errors.LogError: drop_events has no parameter 'name'; it has: names, unless, in_cases_with
    """

    do: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.do, str) or self.do not in STEPS:
            raise LogError(
                str(unknown_name("step", self.do if isinstance(self.do, str) else shown(self.do), STEPS, "a recipe"))
            )
        known = _parameters(self.do)
        for name, value in self.parameters.items():
            if name not in known:
                raise LogError(f"{self.do} has no parameter {name!r}; it has: {', '.join(known)}")
            if not _fits(value, known[name].annotation):
                raise LogError(f"{self.do}: {name} cannot be {shown(value)}")
        for name, parameter in known.items():
            if parameter.default is inspect.Parameter.empty and name not in self.parameters:
                raise LogError(f"{self.do} needs the parameter {name!r}")

    def __call__(self, log: AnyLog) -> AnyLog:
        """Return the log after this step."""
        if isinstance(log, EventLog):
            return cast("AnyLog", STEPS[self.do](log, **self.parameters))
        from waypost.logs.stored import STORED_STEPS

        step: Callable[..., Any] = STORED_STEPS[self.do]  # which takes its defaults from its twin
        left_open = {name: parameter.default for name, parameter in _parameters(self.do).items()}
        return cast("AnyLog", step(log, **{**left_open, **self.parameters}))


@dataclass(frozen=True)
class Recipe:
    """Steps to clean a log, and how its traces are read and learned from."""

    steps: tuple[RecipeStep, ...] = ()
    actors: Actors | None = None
    eps: float | str | None = None
    naming: Naming = "plain"
    columns: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    source: str = ""  # where the data is to be had

    def columns_for(self, path: str | PathLike[str]) -> dict[str, str]:
        """Columns to read a file with: none for XES, which names its own."""
        return {} if is_xes(path) else dict(self.columns)

    def __call__(self, log: AnyLog) -> AnyLog:
        """Return the log after all steps."""
        for number, step in enumerate(self.steps, 1):
            try:
                after = step(log)
            except LogError as error:
                told = str(error).removeprefix(f"{step.do}: ")
                place = f"step {number} of the recipe ({step.do}): " if len(self.steps) > 1 else ""
                raise LogError(place + told) from error
            left = f"{after.n_cases:,} cases, {after.n_variants:,} variants"
            log = after.with_notes((*log.notes, f"{after.notes[-1]} [{left}]"))
        return log


def read_recipe(path: str | Path) -> Recipe:
    """Recipe of a TOML file."""
    path = Path(path)
    if not exists(path):
        raise LogError(f"there is no recipe {str(path)!r}")
    try:
        given = tomllib.loads(read_text(path, "TOML").replace("\r\n", "\n"))
    except (ValueError, RecursionError, OverflowError) as error:
        raise LogError(f"{path.name} is no TOML: {error}") from None
    return parse_recipe(given, path.name)


def parse_recipe(given: Mapping[str, Any], where: str) -> Recipe:
    """Recipe of what a TOML file says."""
    for key in given:
        if key not in KEYS:
            raise LogError(str(unknown_name("entry", str(key), KEYS, where)))
    for key, kind, form in (("step", list, "[[step]]"), ("columns", dict, "[columns]")):
        if not isinstance(given.get(key, kind()), kind):
            raise LogError(f"{where}: {key} is written as a table, {form}")
    eps = given.get("eps")
    number = isinstance(eps, int | float) and not isinstance(eps, bool) and 0 <= eps <= 2
    if eps is not None and eps not in ("auto", "none") and not number:
        raise LogError(
            f"{where}: eps is a number above 0 and up to 2, 'none' to merge nothing, or 'auto', not {shown(eps)}"
        )
    naming = given.get("naming", "plain")
    if naming not in ("plain", "paper"):
        raise LogError(f"{where}: naming is 'plain' or 'paper', not {shown(naming)}")
    columns = given.get("columns", {})
    for key, column in columns.items():
        if key not in COLUMN_KEYS or not isinstance(column, str):
            raise LogError(
                f"{where}: [columns] says {shown(key)} = {shown(column)}; it may give {', '.join(COLUMN_KEYS)}, "
                "each a text"
            )
    choosing = given.get("choosing")
    if choosing is not None and not _fits(choosing, Sequence[str]):
        raise LogError(f"{where}: choosing is a list of actors, not {shown(choosing)}")
    actors = None
    if "actors" in given:
        actors = checked_actors(given["actors"], None if choosing is None else frozenset(choosing), where)
    return Recipe(
        steps=tuple(_step(entry, number, where) for number, entry in enumerate(given.get("step", []), 1)),
        actors=actors,
        eps=eps,
        naming=naming,
        columns=columns,
        title=_text(given, "title", where),
        source=_text(given, "source", where),
    )


def _text(given: Mapping[str, Any], key: str, where: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise LogError(f"{where}: {key} is a text, not {shown(value)}")
    return value


def _step(entry: Any, number: int, where: str) -> RecipeStep:
    if not isinstance(entry, Mapping) or "do" not in entry:
        raise LogError(f'{where}, step {number}: a step is [[step]] with do = "..." and its parameters')
    try:
        return RecipeStep(entry["do"], {key: value for key, value in entry.items() if key != "do"})
    except LogError as error:
        raise LogError(f"{where}, step {number}: {error}") from None


@cache
def _parameters(name: str) -> Mapping[str, inspect.Parameter]:
    """Parameters of a step, with their types in place of the text of their annotations."""
    hints = get_type_hints(STEPS[name])
    given = list(inspect.signature(STEPS[name]).parameters.values())[1:]  # the first one is the log
    return {p.name: p.replace(annotation=hints[p.name]) for p in given}


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value from a TOML file is of the type that a step asks for."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(_fits(value, k) for k in arguments)
    if origin is Literal:
        return value in arguments
    if origin in (list, Sequence) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return isinstance(value, list | tuple) and all(_fits(v, arguments[0]) for v in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_fits(v, arguments[1]) for v in value.values())
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in (str, bool, date, type(None)):
        return isinstance(value, kind)
    return True
