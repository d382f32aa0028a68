"""The paper's models by their own names: the authors' files, models learned again, or generated ones.

The authors' artifact is the repository ``explainableMDPs/mdp_attributive``; its ``out/models`` holds one PRISM file
(and one pickle, which is never opened) per model and iteration. `Source.origin` says where a model comes from, so that
no table shows a generated model as the paper's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from waypost.cases import case, epidemic, listening_sessions, recipe, session_log, share_of
from waypost.cases.mssd import SESSIONS, read_sessions
from waypost.errors import FormatError
from waypost.formats import read_mdp
from waypost.learn import prepare
from waypost.logs import EventLog
from waypost.model import MDP

ARTIFACT = "https://github.com/explainableMDPs/mdp_attributive"
FOLDERS = (".", "out/models", "models", "models/paper", "models/learned")


@dataclass(frozen=True)
class PaperModel:
    """A model of the paper that was learned from a log."""

    file: str  # as the authors call it
    plain: str  # as it may be called as well
    case: str  # the case study that learns it again
    data: tuple[str, ...]  # what the data may be called
    stand_in: str  # the case study that is generated instead


LEARNED: Mapping[str, PaperModel] = MappingProxyType({
    "GrepS": PaperModel(
        "model_greps_model-it_*.prism", "greps.prism", "greps",
        ("greps_io_traces_mdp_ce_encoding.json", "greps_log.csv"), "loan-log:33",
    ),
    "BPIC12": PaperModel(
        "model_bpic12_model-it_*.prism", "bpic12.prism", "bpic12",
        ("BPI_Challenge_2012.xes.gz", "BPI_Challenge_2012.xes"), "loan-log:500",
    ),
    "BPIC17": PaperModel(
        "model_bpic17-both_model-it_*.prism", "bpic17.prism", "bpic17",
        ("BPI Challenge 2017.xes.gz", "BPI Challenge 2017.xes", "BPI_Challenge_2017.xes.gz"), "loan-log:1000",
    ),
})  # fmt: skip


@dataclass(frozen=True, eq=False)
class Source:
    """A model and where it comes from, in words."""

    mdp: MDP
    origin: str


def find_model(name: str, data: Path, *, generated: bool = False) -> Source:
    """Model by its name in the paper, a case study, or a file of the user's own.

    Looked for under `data`: the authors' file, then the data to learn the model from again; without either a generated
    stand-in, if that is allowed. ``MSSD10.3`` is the fourth of the ten models of 10 % of the sessions.

    >>> find_model("E4", Path())
    Source(mdp=MDP(states=227, choices=555, transitions=898, initial='start'), origin='generated, as in the paper')
    >>> find_model("GrepS", Path("nowhere"), generated=True).origin
    'generated: loan-log:33 instead of GrepS'
    """
    if re.fullmatch(r"E\d+", name):
        return Source(epidemic(int(name[1:])), "generated, as in the paper")
    sessions = re.fullmatch(r"MSSD(\d+)(?:\.(\d+))?", name)
    if sessions:
        return _mssd(name, int(sessions[1]), int(sessions[2] or 0), data, generated=generated)
    if name in LEARNED:
        return _learned(name, LEARNED[name], data, generated=generated)
    if Path(name).is_file():
        return Source(read_mdp(name), f"the file {name}")
    return Source(case(name), f"the case study {name}")


def _learned(name: str, known: PaperModel, data: Path, *, generated: bool) -> Source:
    file = _file(data, known.plain, known.file)
    if file is not None:
        return Source(read_mdp(file), f"the authors' {file.name}")
    for called in known.data:
        for found in sorted(data.rglob(called)) if data != Path() else []:
            return Source(case(known.case, found), f"learned again from {found.name}")
    if generated:
        return Source(case(known.stand_in), f"generated: {known.stand_in} instead of {name}")
    raise FormatError(_missing(name, known.file, data, f"or the data itself ({known.data[0]})"))


def _mssd(name: str, percent: int, copy: int, data: Path, *, generated: bool) -> Source:
    if not 1 <= percent <= 100:
        raise FormatError(f"{name}: MSSD goes from MSSD1 to MSSD100, percent of the sessions")
    count = SESSIONS * percent // 100
    called = [f"model_spotify{count}_model-it_{copy}.prism", *([f"spotify{count}.drn"] if copy == 0 else [])]
    if count == SESSIONS:  # all sessions there are: every iteration is the same model
        called.append(f"model_spotify{count}_model-it_*.prism")
    file = _file(data, *called)
    if file is not None:
        return Source(read_mdp(file), f"the authors' {file.name}")
    logs = sorted(data.rglob("log*.csv")) if data != Path() else []
    if logs:
        log = share_of(read_sessions(logs[0]), percent, seed=copy)
        return Source(_of_sessions(log), f"learned again from {percent} % of {logs[0].name}, seed {copy}")
    if generated:
        log = session_log(*listening_sessions(count, seed=copy + 1))
        return Source(_of_sessions(log), f"generated: {count} made-up sessions, seed {copy + 1}")
    raise FormatError(_missing(name, f"model_spotify{count}_model-it_{copy}.prism", data, "or the dataset itself"))


def _of_sessions(log: EventLog) -> MDP:
    return prepare(log, recipe("mssd")).learn()


def _file(data: Path, *names: str) -> Path | None:
    """First file of one of these names (``*`` stands for any iteration) in the folders where models are."""
    for folder in FOLDERS:
        for name in names:
            for found in sorted((data / folder).glob(name)):
                return found
    return None


def _missing(name: str, file: str, data: Path, otherwise: str) -> str:
    return (
        f"{name} needs {file} of the authors' artifact ({ARTIFACT}, folder out/models), {otherwise}; neither is under "
        f"{str(data)!r}: say where with --data DIR, or take a generated model with --generated"
    )
