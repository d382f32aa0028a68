"""What the paper measured: which models, which states, which encodings make up each of its tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from waypost.model import MDP
from waypost.paper.encodings import ORDERINGS, Encoding, Options, Sense, SolverName
from waypost.paper.studies.models import LEARNED

BOTH: tuple[Sense, ...] = ("min", "max")
MSSD = tuple(f"MSSD{percent}.{copy}" for copy in range(10) for percent in range(10, 101, 10))  # every size first
TARGET = "positive"


@dataclass(frozen=True)
class Configuration:
    """An encoding as one row of a table runs it."""

    name: str
    encoding: Encoding
    solver: SolverName | None = None  # None: chosen by what the program needs
    options: Options = field(default_factory=Options)

    @property
    def ordering(self) -> str:
        """What keeps its states in order."""
        own = ORDERINGS.get(self.encoding, {})
        return self.options.ordering or own.get(self.options.form) or ""


MS = (1e4, 1e6, 1e8, 1e10, 1e12, 1e14, 1e16)  # the grid of the sensitivity study; the paper has the last
EPSILONS = (1e-2, 1e-4, 1e-6, 1e-8)  # the paper has the second
TOLERANCES: tuple[float | None, ...] = (None, 1e-6, 1e-9)  # None: the solver's own, as in the paper
CONFIGURATIONS: Mapping[str, Configuration] = MappingProxyType({
    configuration.name: configuration
    for configuration in (
        Configuration("QP letter", "QP", None, Options("letter")),
        Configuration("QP ours", "QP"),
        Configuration("QP* letter", "QP*", None, Options("letter")),
        Configuration("QP* ours", "QP*"),
        Configuration("LP* letter", "LP*", "gurobi", Options("letter")),  # M = 1e16, as published
        Configuration("LP* ours", "LP*", "highs"),
        Configuration("LP* tight, Gurobi", "LP*", "gurobi"),
        Configuration("LP* indicators", "LP*", "gurobi", Options(ordering="indicator")),
        *(Configuration(f"LP* letter, M = {m:g}", "LP*", "gurobi", Options("letter", big_m=m)) for m in MS),
        *(Configuration(f"QP letter, eps = {e:g}", "QP", None, Options("letter", epsilon=e)) for e in EPSILONS),
        Configuration("LP-all", "LP-all", "highs"),
        Configuration("LP-optimal", "LP-optimal", "highs"),
    )
})  # fmt: skip


_CONSTANT = re.compile(r", (M|eps) = (\S+)\Z")


def plain_name(name: str) -> str:
    """Name of a row without the constant behind it.

    >>> plain_name("LP* letter, M = 1e+06"), plain_name("LP* tight, Gurobi")
    ('LP* letter', 'LP* tight, Gurobi')
    """
    return _CONSTANT.sub("", name)


def configuration_of(name: str) -> Configuration:
    """Row of that name, with the constant behind it, if any.

    >>> configuration_of("LP* letter, M = 5e+06").options.big_m
    5000000.0
    """
    configuration, constant = CONFIGURATIONS[plain_name(name)], _CONSTANT.search(name)
    if constant is None:
        return configuration
    value, options = float(constant[2]), configuration.options
    options = replace(options, big_m=value) if constant[1] == "M" else replace(options, epsilon=value)
    return replace(configuration, name=name, options=options)


def with_constants(name: str, *, big_m: float | None = None, epsilon: float | None = None) -> str:
    """Name of the same row with other constants, where its program has them: M in LP* as printed, eps in QP.

    >>> [with_constants(name, big_m=1e6, epsilon=1e-3) for name in ("LP* letter", "LP* ours", "QP letter")]
    ['LP* letter, M = 1e+06', 'LP* ours', 'QP letter, eps = 0.001']
    """
    configuration = CONFIGURATIONS[name]
    if name != plain_name(name):  # it has one of its own
        return name
    if big_m is not None and (configuration.encoding, configuration.ordering) == ("LP*", "paper"):
        return f"{name}, M = {_shortest(big_m)}"
    if epsilon is not None and configuration.encoding == "QP":
        return f"{name}, eps = {_shortest(epsilon)}"
    return name


def _shortest(number: float) -> str:
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


QP = ("QP letter", "QP ours")
STARRED = ("QP* letter", "QP* ours", "LP* letter", "LP* ours")  # over reachability-optimal strategies


@dataclass(frozen=True)
class Study:
    """One table or figure of the paper."""

    name: str
    title: str
    models: tuple[str, ...]
    configurations: tuple[str, ...]
    senses: tuple[Sense, ...] = BOTH
    sample: int | None = None  # states per model, where the paper did not take all
    in_turn: bool = False  # model after model, as they are large


STUDIES: Mapping[str, Study] = MappingProxyType({
    study.name: study
    for study in (
        Study("table1", "Table 1: GrepS and BPIC", tuple(LEARNED), (*QP, *STARRED)),
        Study("table2", "Table 2: Epidemic", ("E6", "E7", "E8", "E9", "E10", "E15", "E19"), STARRED),
        Study(
            "appendix", "Appendix: every model, lower and upper bounds apart",
            (*LEARNED, *(f"E{n}" for n in range(4, 20))), (*QP, *STARRED),
        ),
        Study(
            "differences", "Appendix: differences between LP* and QP*", tuple(LEARNED), STARRED,
        ),
        Study("mssd", "Fig. 3: MSSD, lower bounds", MSSD, STARRED[2:], ("min",), sample=10, in_turn=True),
        Study(
            "accuracy", "How often each encoding is right, and why not",
            (*LEARNED, *(f"E{n}" for n in range(4, 10))),
            (*QP, *STARRED, "LP-all", "LP-optimal"),
        ),
        Study(
            "sensitivity", "What M, eps and the tolerance do to the answers", tuple(LEARNED),
            tuple(name for name in CONFIGURATIONS if ", M = " in name or ", eps = " in name),
        ),
        Study(
            "ordering", "LP*: what holds its order, and what that costs", ("BPIC12",),
            ("LP* letter", "LP* ours", "LP* tight, Gurobi", "LP* indicators", "LP-optimal"),
        ),
    )
})  # fmt: skip


def without_qp(model: str, configuration: str) -> bool:
    """Whether the paper left a row out: QP was not tried on the epidemics."""
    return configuration_of(configuration).encoding == "QP" and re.fullmatch(r"E\d+", model) is not None


def family(model: str) -> str:
    """Row of a table that a model belongs to: the ten MSSD10.0, ..., MSSD10.9 are one.

    >>> family("MSSD10.3"), family("BPIC12"), family("my.model.drn")
    ('MSSD10', 'BPIC12', 'my.model.drn')
    """
    return re.sub(r"^(MSSD\d+)\.\d+$", r"\1", model)


def states_of(name: str, mdp: MDP, sample: int | None = None, *, only: Sequence[str] = (), seed: int = 0) -> list[str]:
    """States the paper asked about: the first days of an epidemic, else all; or a sample, or `only` those named."""
    if only:
        return [mdp.states[mdp.state(s)] for s in only]
    asked = np.flatnonzero(mdp.labels["first day"]) if re.fullmatch(r"E\d+", name) else np.arange(mdp.n_states)
    if sample is not None and sample < len(asked):
        asked = np.sort(np.random.default_rng(seed).choice(asked, size=sample, replace=False))
    return [mdp.states[s] for s in asked]


@dataclass(frozen=True)
class Published:
    """A row of the paper's tables, as printed."""

    model: str
    encoding: str
    sense: str
    mean: str
    std: str
    min: str
    max: str
    optimal: str
    timeout: str
    memory: str


def published() -> dict[tuple[str, str, str], Published]:
    """Rows of the paper's tables by model, encoding and sense ("both" where the paper put them together).

    >>> published()["BPIC12", "QP", "both"].mean
    '1616.91'
    """
    with files("waypost.paper.studies").joinpath("published.csv").open(encoding="utf-8") as lines:
        rows = [Published(**row) for row in csv.DictReader(lines)]
    return {(row.model, row.encoding, row.sense): row for row in rows}
