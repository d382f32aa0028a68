"""The authors' published bounds, every one beside the exact value.

Their artifact keeps the result of every run in ``out/results_*.csv``, in two layouts: one bound per row with a column
``sense`` (1 least, -1 greatest), or both bounds in one. Encodings are called GQP, QP and LP there, or ``quadratic`` and
``linear``: the paper's QP, QP* and LP*. States are called ``q21: name``, the number being that of the PRISM file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from waypost.errors import FormatError
from waypost.importance import Bounds, state_importance
from waypost.model import MDP
from waypost.paper.encodings import RIGHT, SCOPE, Encoding, Sense
from waypost.paper.studies.models import ARTIFACT, find_model
from waypost.paper.studies.running import EXACT_UP_TO
from waypost.paper.studies.studies import BOTH, TARGET
from waypost.paper.studies.tables import StudyTable

FILES = ("results_greps_bpic.csv", "results_epidemic.csv")
THEIRS: Mapping[str, Encoding] = {"GQP": "QP", "QP": "QP*", "LP": "LP*", "quadratic": "QP*", "linear": "LP*"}
STATUS = {"2": "optimal", "3": "infeasible", "9": "timeout", "17": "memory"}  # Gurobi's numbers
NAMES = {"greps": "GrepS", "bpic12": "BPIC12", "bpic17-both": "BPIC17"}
SENSES: Mapping[str, Sense] = {"1": "min", "-1": "max"}


@dataclass(frozen=True)
class PublishedBound:
    """One bound as the authors published it."""

    model: str
    encoding: Encoding
    sense: Sense
    state: str  # as they call it
    status: str
    importance: float
    seconds: float


@dataclass(frozen=True)
class Judged:
    """A published bound beside the exact interval of its state."""

    bound: PublishedBound
    exact: Bounds

    @property
    def over(self) -> float:
        """By how much it claims more than the truth; negative where it claims less."""
        if self.bound.sense == "max":
            return self.bound.importance - float(self.exact.upper)
        return float(self.exact.lower) - self.bound.importance

    @property
    def verdict(self) -> str:
        """*right*; *unattainable*, as no strategy in scope does so well; or *missed*, as some strategy does better."""
        if self.bound.status != "optimal":
            return "unsolved"
        return "right" if abs(self.over) <= RIGHT else "unattainable" if self.over > 0 else "missed"


def read_results(path: Path) -> list[PublishedBound]:
    """Bounds of a results file, each once."""
    with path.open(newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        columns = set(reader.fieldnames or ())
        needed = {"name", "encoding", "via_state", "status", "time"}
        each = needed | {"sense", "importance_value"} <= columns
        both = needed | {"lower_importance_value", "upper_importance_value"} <= columns
        if not (each or both):
            raise FormatError(f"{path} has not the columns of the authors' results (name, encoding, via_state, ...)")
        try:
            return list(dict.fromkeys(bound for row in reader for bound in _bounds(row, each=each)))
        except (KeyError, ValueError, TypeError) as error:
            raise FormatError(f"{path}, line {reader.line_num}: {error} is not what the authors write there") from None


def _bounds(row: Mapping[str, str], *, each: bool) -> Iterator[PublishedBound]:
    model = _model(row["name"])
    encoding, status = THEIRS[row["encoding"]], STATUS.get(row["status"], "trouble")
    values = (
        {SENSES[row["sense"]]: row["importance_value"]}
        if each
        else {sense: row[f"{side}_importance_value"] for sense, side in zip(BOTH, ("lower", "upper"), strict=True)}
    )
    for sense, value in values.items():
        yield PublishedBound(model, encoding, sense, row["via_state"], status, float(value), float(row["time"]))


def _model(file: str) -> str:
    found = re.search(r"model_([a-z]+)([\w-]*?)_model-it_(\d+)\.", file)
    if found is None:
        raise ValueError(f"the model {file!r}")
    stem, rest, copy = found.groups()
    if stem == "epidemic":
        return f"E{int(rest)}"
    if stem == "spotify":
        return f"MSSD{int(rest) // 100}.{copy}"
    return NAMES.get(stem + rest, stem + rest)


def judged(bounds: Sequence[PublishedBound], data: Path) -> list[Judged]:
    """Hold every bound against the exact values of its model, which is looked for under `data`."""
    found = []
    for model in dict.fromkeys(b.model for b in bounds):
        mdp = find_model(model, data).mdp
        part = [b for b in bounds if b.model == model]
        names = {theirs: state_of(mdp, theirs) for theirs in dict.fromkeys(b.state for b in part)}
        exact = mdp.n_states <= EXACT_UP_TO
        for scope in ("all", "optimal"):
            chosen = [b for b in part if SCOPE[b.encoding] == scope]
            states = list(dict.fromkeys(names[b.state] for b in chosen))
            if states:
                truth = state_importance(mdp, target=TARGET, scope=scope, states=states, exact=exact)
                found += [Judged(b, truth[names[b.state]]) for b in chosen]
    return found


def state_of(mdp: MDP, theirs: str) -> str:
    """Name of a state here, from what the authors call it.

    >>> from waypost.cases import epidemic
    >>> state_of(epidemic(4), "(4, 1, 0)")
    '(4,1,0)'
    """
    numbered = re.fullmatch(r"q(\d+): (.*)", theirs)
    for name in (theirs, theirs.replace(" ", ""), *([f"loc={numbered[1]}"] if numbered else [])):
        if name in mdp.states:
            state = mdp.state(name)
            if numbered and name.startswith("loc=") and numbered[2] not in mdp.labels_of(state):
                raise FormatError(f"state {name!r} of the model is not {numbered[2]!r}, as the results have it")
            return name
    raise FormatError(f"the results speak of a state {theirs!r}, which the model has not")


def summary(found: Iterable[Judged]) -> StudyTable:
    """How many published bounds are right, per model, encoding and sense, and how far off the others are."""
    listed = list(found)
    rows = []
    for key in dict.fromkeys((j.bound.model, j.bound.encoding, j.bound.sense) for j in listed):
        part = [j for j in listed if (j.bound.model, j.bound.encoding, j.bound.sense) == key]
        tally = {v: sum(j.verdict == v for j in part) for v in ("right", "unattainable", "missed")}
        solved = [j for j in part if j.verdict != "unsolved"]
        worst = max(solved, key=lambda j: abs(j.over), default=None)
        rows.append((
            *key, str(len(part)), str(len(solved)), *(str(n) for n in tally.values()),
            "–" if worst is None else f"{abs(worst.over):.1e}",
            "–" if worst is None or worst.verdict == "right" else worst.bound.state,
        ))  # fmt: skip
    header = ("Model", "Enc.", "Sense", "Bounds", "Solved", "Right", "Unattainable", "Missed", "Largest error", "at")
    return StudyTable(header, tuple(rows))


def listing(found: Iterable[Judged]) -> StudyTable:
    """Every published bound that is wrong: what was published, and what strategies in scope can attain."""
    wrong = [j for j in found if j.verdict in ("unattainable", "missed")]
    rows = [
        (
            j.bound.model, j.bound.encoding, j.bound.sense, j.bound.state, f"{j.bound.importance:.9g}",
            f"{float(j.exact.lower):.9g}", f"{float(j.exact.upper):.9g}", f"{abs(j.over):.1e}", j.verdict,
        )
        for j in sorted(wrong, key=lambda j: -abs(j.over))
    ]  # fmt: skip
    header = ("Model", "Enc.", "Sense", "State", "Published", "Exact lower", "Exact upper", "Error", "Verdict")
    return StudyTable(header, tuple(rows))


def results_under(data: Path) -> list[Path]:
    """Results files of a clone of the artifact."""
    found = [data / folder / name for name in FILES for folder in (".", "out") if (data / folder / name).is_file()]
    if not found:
        raise FormatError(
            f"there is no {FILES[0]} under {str(data)!r}; the authors' results are in their artifact: "
            f"git clone {ARTIFACT}, then --data mdp_attributive"
        )
    return found
