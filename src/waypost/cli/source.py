"""Where a command's model comes from: a model file, a case study or environment by name, or a log to learn from."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from waypost.cases import CASES, case, find_case, is_case, loan, prepare_case
from waypost.cases import recipe as recipe_of_case
from waypost.cli.options import LEARNING, OUTCOME
from waypost.cli.progress import interruptible, status
from waypost.cli.stopping import allowed
from waypost.cli.terminal import say
from waypost.environments.ends import GOAL, model_steps, out_of_time
from waypost.environments.named import names_environment
from waypost.errors import ModelError, StrategyError, WaypostError
from waypost.formats import ReadingNote, read_mdp
from waypost.formats.jani import FORMAT as JANI
from waypost.formats.prism import FORMAT as PRISM
from waypost.formats.registry import JumpsNote
from waypost.formats.strategies import read_strategy
from waypost.importance import states_and_groups
from waypost.learn import EPS, Prepared, ThinDataWarning, learn_mdp, observed_strategy, prepare
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
from waypost.model import MDP, Strategy
from waypost.model.steps import in_time, within
from waypost.model.traces import POSITIVE

SYMBOLIC = (*PRISM.endings, *JANI.endings)
BUILT_IN = {"choice": EVERY_EVENT_A_CHOICE, "chance": EVERY_EVENT_CHANCE}


@dataclass(frozen=True)
class Loaded:
    """A model, where it comes from, and what to say about it."""

    mdp: MDP
    target: str | None = None  # the usual target of this source
    prepared: Prepared | None = None  # what it was learned from, if it was
    notes: tuple[str, ...] = ()
    jumps: bool = False  # whether it is a continuous-time model, in which steps are no time
    built_to: tuple[str, ...] = ()  # the target of a PRISM or JANI model that Storm built no further
    timeless: tuple[MDP, int] | None = None  # where the model counts steps: what it was before, and how many it counts

    def notes_for(self, steps: int | None) -> tuple[str, ...]:
        """What to say where so many steps are counted: nothing about limits that are, and that jumps are no time."""
        if steps is None:
            return self.notes
        counted = [f"{steps} steps are {steps} jumps of a continuous-time model, however long they take"]
        return (*(note for note in self.notes if "--within" not in note), *(counted if self.jumps else ()))

    def strategy(self, name: str) -> Strategy:
        """Strategy in a file (see `load_strategy`); one that knows no time plays the same at every step."""
        if self.timeless is None:
            return load_strategy(name, self.mdp)
        plain, steps = self.timeless
        return in_time(load_strategy(name, plain), steps)

    def within(self, goals: Iterable[str], steps: int) -> Loaded:
        """The same, told by the step: runs end after so many; the targets are labels there."""
        plain = self.mdp.with_labels({**self.mdp.labels, **{goal: self.mdp.where(goal) for goal in goals}})
        counted = within(plain, model_steps(plain, steps))
        for goal in goals:
            if not counted.labels[goal].any():
                raise WaypostError(out_of_time(plain, goal, steps))
        return replace(self, mdp=counted, timeless=(plain, model_steps(plain, steps)))


def load(
    source: str | None,
    *,
    constants: Iterable[str] = (),
    exact: bool = False,
    data: str | None = None,
    learning: Mapping[str, Any] | None = None,
    **building: Any,
) -> Loaded:
    """Model file, case study (``epidemic:9``), environment (``gym:Taxi-v4``), event log or input/output traces.

    Without any it is the loan example.

    `data` is the user's copy of the data of a case study, `learning` what `learning_options` gave, `building` what else
    `read_mdp` takes: where to begin, and where to stop.
    """
    if source is None:
        return Loaded(loan(), "Granted")
    prepared = find_prepared(source, data=data, learning=learning)
    if prepared is not None:
        return learned(prepared)
    if not Path(source).exists() and is_case(source):
        return Loaded(case(source, data), find_case(source)[0].target)
    if (seconds := allowed()) is not None:
        building["time_limit"] = seconds
    unread = f"{shown(source)} was not read to its end"
    with warnings.catch_warnings(record=True) as caught, interruptible(lambda: unread):
        warnings.simplefilter("always", ReadingNote)
        mdp = read_mdp(source, constants=parse_constants(constants), exact=exact, **building)
    jumps = any(issubclass(warning.category, JumpsNote) for warning in caught)
    goal = GOAL if names_environment(source) and mdp.labels[GOAL].any() else None
    stops = _texts(building.get("target")) if Path(source).suffix in SYMBOLIC else ()
    return Loaded(mdp, goal, notes=tuple(str(warning.message) for warning in caught), jumps=jumps, built_to=stops)


def _texts(target: Any) -> tuple[str, ...]:
    return () if target is None else (target,) if isinstance(target, str) else tuple(target)


def find_prepared(
    source: str | None, *, data: str | None = None, learning: Mapping[str, Any] | None = None
) -> Prepared | None:
    """Log, traces or case study made ready to be learned from; None where the source is a model."""
    if source is None:
        return None
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
        return prepare_log(source, given)
    if looks_like_traces(source):
        _refuse(given, f"{source} holds traces, not a log", but="eps")
        return Prepared(read_traces(source), given.get("eps") or EPS)
    _refuse(given, f"{shown(source)} is a model, not a log")
    return None


def names_case(source: str | None) -> bool:
    """Whether a source is a case study by its name."""
    return source is not None and not Path(source).exists() and is_case(source)


def learned(prepared: Prepared) -> Loaded:
    """Learn a model, with signs of life on a terminal; what the learner warns of becomes a note."""
    with warnings.catch_warnings(record=True) as caught, learning_progress() as progress:
        warnings.simplefilter("always", ThinDataWarning)
        mdp = learn_mdp(prepared.traces, eps=prepared.eps, progress=progress)
    target = POSITIVE if POSITIVE in mdp.labels else None
    return Loaded(mdp, target, prepared, (*prepared.notes, *(str(w.message) for w in caught)))


@contextmanager
def learning_progress() -> Iterator[Callable[[int, int], None]]:
    """Give what tells a terminal how far learning is."""
    with status("learning") as say:
        yield lambda states, waiting: say(f"{states} states, {waiting} nodes to look at")


def prepare_log(source: str, given: Mapping[str, Any]) -> Prepared:
    """Read a log and clean it, as the options say."""
    recipe = load_recipe(given.get("recipe"))
    log = load_log(source, recipe, given)
    recipe = with_outcome(recipe, given)
    return prepare(log, recipe, actors=chosen_actors(given, recipe, log), eps=given.get("eps"))


def load_log(source: str, recipe: Recipe, given: Mapping[str, Any]) -> Log:
    """Log wherever it lives, its columns as the recipe and the options say."""
    columns: dict[str, Any] = {**log_columns(source, recipe, given)}
    return open_log(source, **columns)


def cleaned_log(source: str, given: Mapping[str, Any]) -> Log:
    """Log of a file, a table or a case study, cleaned and its outcome set, as the options say."""
    if names_case(source):
        prepared = find_prepared(source)
        if prepared is None or prepared.log is None:
            raise WaypostError(f"{source} is a model of its own, not a log")
        return prepared.log
    recipe = load_recipe(given.get("recipe"))
    return with_outcome(recipe, given)(load_log(source, recipe, given))


def log_columns(source: str, recipe: Recipe, given: Mapping[str, Any]) -> dict[str, str]:
    """Columns of a table that the recipe and the options name."""
    columns = dict(recipe.columns_for(source))
    for item in given.get("columns", ()):
        role, equals, name = item.partition("=")
        if not equals or role not in COLUMN_KEYS:
            raise WaypostError(f"--column is {'|'.join(COLUMN_KEYS)}=NAME, not {item!r}")
        columns[role] = name
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


def taken_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `learning_options` out of all options of a command."""
    return {name: options.pop(name) for name in LEARNING if name in options}


def taken_steps(source: str | None, learning: dict[str, Any]) -> int | None:
    """Take ``--within 20`` out of the options of a log where it means steps, as it does for a model."""
    within = learning.get("within")
    if within is None or (source is not None and (looks_like_log(source) or _learned_case(source))):
        return None
    told = re.fullmatch(r"(\d{1,9})( steps?)?", within.strip())
    if told is None:
        raise WaypostError(f"--within is a number of steps of a model, such as 20, not {within!r}")
    learning["within"] = None
    return int(told[1])


def _learned_case(source: str) -> bool:
    return names_case(source) and find_case(source)[0].build is None


def tell(notes: Iterable[str], *, quiet: bool = False) -> None:
    """Say what was done, where it does not mix with results."""
    if not quiet:
        for note in notes:
            say(f"note: {note}", err=True)


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


def load_strategy(path: str, mdp: MDP) -> Strategy:
    """Strategy in a file (our JSON, Storm's or PRISM's export), or `observed`: what the model's log shows."""
    if path == "observed" and not Path(path).exists():
        return observed_strategy(mdp)
    try:
        return read_strategy(mdp, path)
    except StrategyError as why:
        file = Path(path).name
        if file in str(why):
            raise
        raise StrategyError(f"{file}: {why}") from None


def parse_constants(given: Iterable[str]) -> dict[str, Any]:
    """Read ``["N=3", "p=0.5"]``."""
    constants: dict[str, Any] = {}
    for part in (piece for item in given for piece in item.split(",")):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise WaypostError(f"a constant is given as NAME=VALUE, not {part!r}")
        constants[name.strip()] = value.strip()
    return constants


def model_constants(model: str | None, constants: Mapping[str, Any], properties: Iterable[Any]) -> list[str]:
    """Constants that are meant for the model, and not for a file of properties."""
    from waypost.formats.properties import open_constants, places_of

    files = {file for source in properties for file in places_of(str(source), model)[0]}
    elsewhere = {name for file in files for name in open_constants(file)}
    if model is not None and elsewhere & set(constants):
        elsewhere -= open_constants(model)
    return [f"{name}={value}" for name, value in constants.items() if name not in elsewhere]


def asked_for(
    loaded: Loaded, states: Sequence[str], groups: Iterable[str]
) -> tuple[tuple[str, ...] | None, dict[str, str]]:
    """States and groups of ``--state`` and ``--group NAME=EXPR``; None for all states, where no state is named."""
    named = {}
    for text in groups:
        name, equals, expression = text.partition("=")
        if not equals or not name.strip() or not expression.strip():
            raise WaypostError(f"a group is given as NAME=EXPRESSION, not {text!r}")
        named[name.strip()] = expression.strip()
    with as_built(loaded):
        single, found = states_and_groups(loaded.mdp, states)
        for expression in named.values():
            loaded.mdp.where(expression)
    return (single if states else None), found | named


@contextmanager
def as_built(loaded: Loaded) -> Iterator[None]:
    """Say of what holds nowhere that it may hold behind the target, where the model was built no further."""
    try:
        yield
    except ModelError as error:
        if not loaded.built_to:
            raise
        target = " or ".join(map(repr, loaded.built_to))
        raise ModelError(f"{error} on the way to {target}; what comes only behind that has importance 0") from None


def scopes_of(scope: str) -> tuple[Any, ...]:
    """Scopes that ``--scope`` names."""
    return ("all", "optimal") if scope == "both" else (scope,)
