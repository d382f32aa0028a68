"""The case studies by name: what they are, what they need, and how to get their model."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from waypost.arguments import checked
from waypost.cases import mssd
from waypost.cases.epidemic import epidemic
from waypost.cases.ex1 import ex1
from waypost.cases.gridworld import gridworld
from waypost.cases.loan import loan
from waypost.cases.loan_log import loan_log
from waypost.cases.sessions import listening_sessions
from waypost.errors import LogError, NameUnknownError, unknown_name
from waypost.learn import EPS, Prepared, prepare
from waypost.logs import Recipe, parse_recipe, read_log, read_traces
from waypost.model import MDP

FilePath = str | PathLike[str]


@dataclass(frozen=True)
class Case:
    """A case study: a model of its own, or data to learn one from."""

    title: str
    target: str
    build: Callable[[int | None], MDP] | None = None  # from the number in epidemic:9, if the case takes one
    prepare: Callable[[Path, int | None], Prepared] | None = None
    number: str | None = None  # what the number means
    data: bool = False  # whether the user's own copy of the data is needed


@checked
def case(name: str, data: FilePath | None = None) -> MDP:
    """Model of a case study by name; `data` is the user's own copy, where one is needed.

    Parameters
    ----------
    name
        Name of the case study; some take a size after a colon. ``waypost case`` lists them.
    data
        Your own copy of the data, where the case study needs one.

    Returns
    -------
    MDP
        The model.

    Raises
    ------
    NameUnknownError
        If there is no case study of that name.
    LogError
        If the data is missing, or cannot be read.

    Examples
    --------
    >>> case("epidemic:4")
    MDP(states=227, choices=555, transitions=898, initial='start')
    >>> case("bpic12")
    Traceback (most recent call last):
    ...
    waypost.errors.LogError: bpic12 needs your copy of the data: the file BPI_Challenge_2012.xes.gz of \
4TU.ResearchData, doi:10.4121/uuid:3926db30-f712-4394-aebc-75976070e91f; give it with data= (--data FILE)
    """
    found, number = find_case(name)
    if found.build is not None:
        if data is not None:
            raise LogError(f"{name} is a model of its own and takes no data")
        return found.build(number)
    return prepare_case(name, data).learn()


def prepare_case(name: str, data: FilePath | None = None) -> Prepared:
    """Traces that a case study learns its model from."""
    found, number = find_case(name)
    if found.prepare is None:
        raise LogError(f"{name} is a model of its own and is not learned from traces")
    if found.data and data is None:
        source = recipe(name.partition(":")[0]).source
        raise LogError(f"{name} needs your copy of the data: {source}; give it with data= (--data FILE)")
    if not found.data and data is not None:
        raise LogError(f"{name} makes its own data and takes none")
    return found.prepare(Path(data or ""), number)


def find_case(name: str) -> tuple[Case, int | None]:
    """Case study of that name, and the number after its colon."""
    plain, colon, text = name.partition(":")
    if plain not in CASES:
        raise unknown_name("case", name, CASES, "Waypost")
    found = CASES[plain]
    if not colon:
        if plain == "epidemic":
            raise NameUnknownError("epidemic needs a population: epidemic:9")
        return found, None
    if found.number is None:
        raise NameUnknownError(f"{plain} takes no number; write {plain!r}")
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise NameUnknownError(f"{name!r}: the {found.number} is a whole number from 1 on, as in {plain}:9")
    return found, int(text)


def is_case(name: str) -> bool:
    """Whether this is the name of a case study, with or without a number."""
    return name.partition(":")[0] in CASES


def recipe(name: str) -> Recipe:
    """Recipe of a case study that is learned from a log, as its file in ``cases/recipes`` has it."""
    return parse_recipe(tomllib.loads(recipe_text(name)), f"{name}.toml")


def recipe_text(name: str) -> str:
    """Recipe of a case study as text, to be copied and changed."""
    file = files("waypost.cases").joinpath("recipes", f"{name}.toml")
    if not file.is_file():
        known = sorted(f.name.removesuffix(".toml") for f in files("waypost.cases").joinpath("recipes").iterdir())
        raise unknown_name("recipe", name, known, "Waypost")
    return file.read_text(encoding="utf-8")


def _by_recipe(name: str) -> Callable[[Path, int | None], Prepared]:
    def prepare_one(data: Path, _: int | None) -> Prepared:
        chosen = recipe(name)
        if data.suffix == ".json":
            return Prepared(read_traces(data), chosen.eps or EPS)
        return prepare(read_log(data, **chosen.columns_for(data)), chosen)

    return prepare_one


def _mssd(data: Path, percent: int | None) -> Prepared:
    log = mssd.read_sessions(data)
    return prepare(log if percent is None else mssd.share_of(log, percent), recipe("mssd"))


def _loan_log(_: Path, number: int | None) -> Prepared:
    return prepare(loan_log(number or 1000), recipe("loan-log"))


def _sessions(_: Path, number: int | None) -> Prepared:
    rows = mssd.joined(*listening_sessions(number or 300))  # the tables themselves are needed no more
    return prepare(mssd.told_log(rows), recipe("mssd"))


CASES: Mapping[str, Case] = MappingProxyType(
    {
        "loan": Case("a loan application (the paper's Fig. 1)", "Granted", lambda _: loan()),
        "ex1": Case("two ways to a goal (the paper's appendix)", "t", lambda _: ex1()),
        "gridworld": Case("a key, a door, a river of lava (the paper's Fig. 4)", "goal", lambda _: gridworld()),
        "epidemic": Case("vaccines for N people", "positive", lambda n: epidemic(n or 0), number="population"),
        "greps": Case(
            "a programming test, from registration to result", "positive", None, _by_recipe("greps"), data=True
        ),
        "bpic12": Case("loan applications of a Dutch bank, 2012", "positive", None, _by_recipe("bpic12"), data=True),
        "bpic17": Case("loan applications of a Dutch bank, 2017", "positive", None, _by_recipe("bpic17"), data=True),
        "mssd": Case(
            "listening sessions of Spotify, N percent of them", "positive", None, _mssd, "share in percent", data=True
        ),
        "loan-log": Case("N made-up loan applications, as a log", "positive", None, _loan_log, "number of cases"),
        "sessions": Case("N made-up listening sessions, as a log", "positive", None, _sessions, "number of sessions"),
    }
)
