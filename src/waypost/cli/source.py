"""Where a command's model comes from: a model file, a case study or environment by name, or a log to learn from."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from waypost.cli.ahead import SYMBOLIC, imported_meanwhile
from waypost.cli.options import LEARNING
from waypost.cli.progress import interruptible
from waypost.cli.repeated import told_once
from waypost.cli.stopping import allowed
from waypost.cli.terminal import say
from waypost.environments.ends import GOAL, model_steps, out_of_time
from waypost.environments.named import names_environment
from waypost.errors import ModelError, StrategyError, WaypostError, without_credentials
from waypost.formats import FORMATS, ReadingNote, read_mdp
from waypost.formats.answers import TableOf
from waypost.formats.reading import begins_as_list
from waypost.formats.registry import JumpsNote
from waypost.formats.strategies import read_strategy
from waypost.model import MDP, Strategy
from waypost.model.steps import in_time, within
from waypost.model.traces import POSITIVE

if TYPE_CHECKING:
    from waypost.learn import Prepared
    from waypost.logs import Log

NEXT = ("waypost.importance", "waypost.report.files")  # what most commands need of a model


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
    prepared = find_prepared(source, data=data, learning=learning)
    if prepared is not None:
        return learned(prepared)
    if source is None or not Path(source).exists():
        from waypost.cases import case, find_case, is_case, loan

        if source is None:
            return Loaded(loan(), "Granted")
        if is_case(source):
            return Loaded(case(source, data), find_case(source)[0].target)
    if (seconds := allowed()) is not None:
        building["time_limit"] = seconds
    unread = f"{without_credentials(source)} was not read to its end"
    stops = _texts(building.get("target")) if Path(source).suffix in SYMBOLIC else ()
    meanwhile = imported_meanwhile(*NEXT)
    with warnings.catch_warnings(record=True) as caught, interruptible(lambda: unread), meanwhile:
        warnings.simplefilter("always", ReadingNote)
        mdp = _read(source, stops, constants=parse_constants(constants), exact=exact, **building)
    notes = [warning for warning in caught if issubclass(warning.category, ReadingNote)]
    jumps = any(issubclass(warning.category, JumpsNote) for warning in notes)
    goal = GOAL if names_environment(source) and GOAL in mdp.labels else None
    return Loaded(mdp, goal, notes=tuple(str(warning.message) for warning in notes), jumps=jumps, built_to=stops)


def _read(source: str, stops: tuple[str, ...], **how: Any) -> MDP:
    try:
        return read_mdp(source, **how)
    except ModelError as error:
        if not stops or how.get("initial") is None:
            raise
        target = " or ".join(map(repr, stops))
        raise ModelError(f"{error} on the way to {target}, and a run begins before that") from None


def _texts(target: Any) -> tuple[str, ...]:
    return () if target is None else (target,) if isinstance(target, str) else tuple(target)


def find_prepared(
    source: str | None,
    *,
    data: str | None = None,
    learning: Mapping[str, Any] | None = None,
    log: Log | None = None,
) -> Prepared | None:
    """Log, read already or not, traces or case study made ready to be learned from; None where it is a model."""
    given = data is not None or any(value for name, value in (learning or {}).items() if name != "quiet")
    if source is None or (not given and is_model_file(source)):
        return None
    from waypost.cli.prepared import prepared_source

    return prepared_source(source, data=data, learning=learning, log=log)


def is_model_file(source: str) -> bool:
    """Whether a file is that of a model by its ending; what reads logs need not be imported for it."""
    path = Path(source)
    if not any(path.suffix in known.endings for known in FORMATS):
        return False
    with suppress(OSError):  # who reads it will say why
        return path.is_file() and not begins_as_list(path)
    return False


def learned(prepared: Prepared) -> Loaded:
    """Model learned from a log or from traces, with what the learner has to say."""
    from waypost.cli.prepared import learn

    mdp, notes = learn(prepared)
    return Loaded(mdp, POSITIVE if POSITIVE in mdp.labels else None, prepared, notes)


def taken_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `learning_options` out of all options of a command."""
    return {name: options.pop(name) for name in LEARNING if name in options}


def taken_steps(source: str | None, learning: dict[str, Any]) -> int | None:
    """Take ``--within 20`` out of the options of a log where it means steps, as it does for a model."""
    within = learning.get("within")
    if within is None:
        return None
    if source is not None:
        from waypost.cli.prepared import is_learned

        if is_learned(source):
            return None
    told = re.fullmatch(r"(\d{1,9})( steps?)?", within.strip())
    if told is None:
        raise WaypostError(f"--within is a number of steps of a model, such as 20, not {within!r}")
    learning["within"] = None
    return int(told[1])


def tell(notes: Iterable[str], *, quiet: bool = False) -> None:
    """Say what was done, where it does not mix with results."""
    if not quiet:
        for note in notes:
            say(f"note: {note}", err=True)


def load_strategy(path: str, mdp: MDP) -> Strategy:
    """Strategy in a file (our JSON, Storm's or PRISM's export), or `observed`: what the model's log shows.

    A table that may be of values or of probabilities is told apart behind its name: ``q.npy:values``.
    """
    if path == "observed" and not Path(path).exists():
        from waypost.learn import observed_strategy

        return observed_strategy(mdp)
    table: TableOf | None = None
    for kind in get_args(TableOf):
        if path.endswith(f":{kind}") and not Path(path).exists():
            path, table = path.removesuffix(f":{kind}"), kind
    try:
        return read_strategy(mdp, path, table=table)
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
        told_once(constants, name.strip(), value.strip(), "--const")
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
    named: dict[str, str] = {}
    for text in groups:
        name, equals, expression = text.partition("=")
        if not equals or not name.strip() or not expression.strip():
            raise WaypostError(f"a group is given as NAME=EXPRESSION, not {text!r}")
        told_once(named, name.strip(), expression.strip(), "--group")
    from waypost.importance import states_and_groups

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
