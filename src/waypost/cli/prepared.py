"""Logs, traces and case studies of the command line: made ready as the options say, and learned from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from waypost.cases import CASES, find_case, is_case, prepare_case
from waypost.cases import recipe as recipe_of_case
from waypost.cli.options import OUTCOME
from waypost.cli.progress import status
from waypost.cli.repeated import told_once
from waypost.errors import WaypostError
from waypost.learn import AUTO, EPS, Prepared, ThinDataWarning, learn_mdp, prepare
from waypost.learn.alergia import NO_MERGING, checked_eps
from waypost.learn.fit import fit
from waypost.learn.tree import weighted
from waypost.logs import (
    EVERY_EVENT_A_CHOICE,
    EVERY_EVENT_CHANCE,
    Actors,
    Log,
    Recipe,
    RecipeStep,
    looks_like_log,
    looks_like_traces,
    open_log,
    read_actors,
    read_recipe,
    read_traces,
)
from waypost.logs.actors import actors_of_column, checked_actors, choosing_events
from waypost.logs.recipe import COLUMN_KEYS
from waypost.logs.stored.engines import shown
from waypost.model import MDP

BUILT_IN = {"choice": EVERY_EVENT_A_CHOICE, "chance": EVERY_EVENT_CHANCE}


def prepared_source(
    source: str, *, data: str | None, learning: Mapping[str, Any] | None, log: Log | None = None
) -> Prepared | None:
    """Log, read already or not, traces or case study made ready to be learned from; None where it is a model."""
    given = {name: value for name, value in (learning or {}).items() if value}
    if names_case(source):
        if find_case(source)[0].build is not None:
            _refuse(given, f"{source} is a model of its own")
            return None
        _refuse(given, f"{source} brings its own recipe", but="eps")
        prepared = prepare_case(source, data)
        return replace(prepared, eps=given.get("eps") or prepared.eps)
    if data is not None:
        raise WaypostError(f"--data is for case studies ({', '.join(CASES)}), and {shown(source)!r} is none")
    if looks_like_log(source):
        return prepare_log(source, given, log)
    if looks_like_traces(source):
        _refuse(given, f"{source} holds traces, not a log", but="eps")
        return Prepared(read_traces(source), given.get("eps") or EPS)
    _refuse(given, f"{shown(source)} is a model, not a log")
    return None


def names_case(source: str | None) -> bool:
    """Whether a source is a case study by its name."""
    return source is not None and not Path(source).exists() and is_case(source)


def learn(prepared: Prepared) -> tuple[MDP, tuple[str, ...]]:
    """Learn a model, with signs of life on a terminal; what the learner warns of, or a bad fit, becomes a note."""
    with warnings.catch_warnings(record=True) as caught, learning_progress() as progress:
        warnings.simplefilter("always", ThinDataWarning)
        mdp = learn_mdp(prepared.traces, eps=prepared.eps, progress=progress)
    return mdp, (*prepared.notes, *(str(w.message) for w in caught), *_misfit(prepared, mdp))


def _misfit(prepared: Prepared, mdp: MDP) -> tuple[str, ...]:
    """Tell how far a model is off its log, where that is far; without merging, or with as much as fits, it is not."""
    if prepared.eps == AUTO or checked_eps(prepared.eps) == NO_MERGING:
        return ()
    found = fit(mdp, weighted(prepared.traces))
    return (found.sentence(),) if found.far else ()


@contextmanager
def learning_progress() -> Iterator[Callable[[int, int], None]]:
    """Give what tells a terminal how far learning is."""
    with status("learning") as say:
        yield lambda states, waiting: say(f"{states} states, {waiting} nodes to look at")


def prepare_log(source: str, given: Mapping[str, Any], log: Log | None = None) -> Prepared:
    """Read a log, unless it was, and clean it, as the options say."""
    recipe = load_recipe(given.get("recipe"))
    log = load_log(source, recipe, given) if log is None else log
    recipe = with_outcome(recipe, given)
    return prepare(log, recipe, actors=chosen_actors(given, recipe, log), eps=given.get("eps"))


def load_log(source: str, recipe: Recipe, given: Mapping[str, Any]) -> Log:
    """Log wherever it lives, its columns as the recipe and the options say."""
    columns: dict[str, Any] = {**log_columns(source, recipe, given)}
    return open_log(source, **columns)


def cleaned_log(source: str, given: Mapping[str, Any]) -> Log:
    """Log of a file, a table or a case study, cleaned and its outcome set, as the options say."""
    if names_case(source):
        prepared = prepared_source(source, data=None, learning=None)
        if prepared is None or prepared.log is None:
            raise WaypostError(f"{source} is a model of its own, not a log")
        return prepared.log
    recipe = load_recipe(given.get("recipe"))
    return with_outcome(recipe, given)(load_log(source, recipe, given))


def log_columns(source: str, recipe: Recipe, given: Mapping[str, Any]) -> dict[str, str]:
    """Columns of a table that the recipe and the options name."""
    told: dict[str, str] = {}
    for item in given.get("columns", ()):
        role, equals, name = item.partition("=")
        if not equals or role not in COLUMN_KEYS:
            raise WaypostError(f"--column is {'|'.join(COLUMN_KEYS)}=NAME, not {item!r}")
        told_once(told, role, name, "--column")
    columns = {**recipe.columns_for(source), **told}
    return {role: name for role, name in columns.items() if name}  # --column start= takes back what a recipe says


def with_outcome(recipe: Recipe, given: Mapping[str, Any]) -> Recipe:
    """Recipe that ends with the outcome that the options name."""
    asked = {name: given[name] for name in OUTCOME if given.get(name)}
    if not asked:
        return recipe
    if "positive" not in asked:
        raise WaypostError(f"--{next(iter(asked))} goes with --positive EVENT, which says which cases are good")
    if any(step.do == "set_outcome" for step in recipe.steps):
        raise WaypostError(f"the recipe sets the outcomes already; leave out --{next(iter(asked))}")
    told = {name: list(value) if isinstance(value, tuple) else value for name, value in asked.items()}
    return replace(recipe, steps=(*recipe.steps, RecipeStep("set_outcome", told)))


def load_recipe(name: str | None) -> Recipe:
    """Recipe of a TOML file, or of a case study by name."""
    if name is None:
        return Recipe()
    return read_recipe(name) if Path(name).exists() or name.endswith(".toml") else recipe_of_case(name)


def chosen_actors(given: Mapping[str, Any], recipe: Recipe, log: Log) -> Actors | None:
    """Who acts and who chooses: by a map, by a column of the log, or by the events that are choices."""
    name, choosing = given.get("actors"), frozenset(given.get("choosing", ()))
    if name in BUILT_IN and not Path(name).exists():
        return BUILT_IN[name]
    if name is not None and not Path(name).exists() and log.has(name):
        return actors_of_column(log, name, choosing)
    if name is not None:
        return read_actors(name, choosing or None)
    if choosing and recipe.actors is not None:
        return checked_actors(recipe.actors.performs, choosing, "the recipe")
    return choosing_events(log, choosing) if choosing else None


def _refuse(given: Mapping[str, Any], reason: str, but: str = "") -> None:
    wrong = next((name for name in given if name not in ("quiet", but)), None)
    if wrong is not None:
        raise WaypostError(f"{reason}, so --{'column' if wrong == 'columns' else wrong} means nothing here")


def is_learned(source: str) -> bool:
    """Whether a source is a log, or a case study whose model is learned from one."""
    return looks_like_log(source) or (names_case(source) and find_case(source)[0].build is None)
