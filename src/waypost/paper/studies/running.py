"""Running a study: engine and encodings side by side, within a budget, taken up where it was left."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from waypost.formats import read_mdp, write_mdp
from waypost.formats.writing import write_text
from waypost.graph.compiled import eagerly
from waypost.importance import Bounds, state_importance
from waypost.importance.question import OpenScope
from waypost.importance.results import Number
from waypost.model import MDP
from waypost.paper.encodings import RIGHT, SCOPE, Claim, Limits, Sense, SolverName, Solvers, claim
from waypost.paper.studies.models import Source, find_model
from waypost.paper.studies.records import EngineRun, Journal, Record, Truth
from waypost.paper.studies.studies import TARGET, Configuration, Study, configuration_of, states_of, without_qp
from waypost.processes.places import place, spread_out, working

EXACT_UP_TO = 200  # states; larger models are judged by the engine in floats, which is certified to about 1e-12
SWEEPS = 3  # the engine is measured so often, after one sweep that is not counted: everything is compiled then


@dataclass(frozen=True)
class Settings:
    """What a run may take."""

    limits: Limits
    sample: int | None = None  # states per model
    states: tuple[str, ...] = ()  # only these, where any are named
    jobs: int = 1
    budget: float | None = None  # seconds for the whole run; what does not fit is left for the next
    data: Path = Path()
    generated: bool = False  # whether a generated model may stand in for one that is not there
    target: str = TARGET
    solver: SolverName | None = None  # instead of each configuration's own


@dataclass(frozen=True)
class BoundAsked:
    """One bound to be measured."""

    model: str
    mdp: MDP
    configuration: Configuration
    state: str
    sense: Sense
    exact: float


@dataclass(frozen=True)
class Outcome:
    """All measurements of a study, and how many did not fit into the budget."""

    study: Study
    settings: Settings
    records: Sequence[Record]
    engine: Sequence[EngineRun]
    left: int
    origins: Mapping[str, str] = field(default_factory=dict)  # where the models come from


Key = tuple[str, str, str, str, float, float | None]
StudyProgress = Callable[[int, int], None]


def run(
    study: Study, settings: Settings, directory: Path, progress: StudyProgress = lambda _done, _all: None
) -> Outcome:
    """Measure what is not yet in the files in `directory`, which all studies share, and return what this one needs."""
    journals = Journals(directory)
    origins: dict[str, str] = {}
    asked: set[Key] = set()
    left, deadline = 0, None
    for models in [[name] for name in study.models] if study.in_turn else [list(study.models)]:
        if deadline is not None and time.perf_counter() > deadline:
            left += len(models) * (settings.sample or study.sample or 1) * len(study.configurations) * len(study.senses)
            continue
        questions: list[BoundAsked] = []
        for name in models:
            source = _model(name, settings, directory)
            origins[name] = source.origin
            questions += _asked(name, source.mdp, study, settings, journals)
        if deadline is None and settings.budget is not None:  # what the first models cost to read is not counted
            deadline = time.perf_counter() + settings.budget
        limit, tolerance = settings.limits.seconds, settings.limits.tolerance
        known = {record.key for record in journals.records}
        wanted = [(q.model, q.configuration.name, q.sense, q.state, limit, tolerance) for q in questions]
        open_ones = [q for q, key in zip(questions, wanted, strict=True) if key not in known]
        left += _measured(open_ones, settings, journals.records, deadline, progress)
        asked |= set(wanted)
    records = [r for r in journals.records if r.key in asked]
    return Outcome(study, settings, records, list(journals.engine), left, origins)


class Journals:
    """The files of an output directory."""

    def __init__(self, directory: Path) -> None:
        self.engine = Journal(EngineRun, directory / "engine.csv")
        self.truths = Journal(Truth, directory / "exact.csv")
        self.records = Journal(Record, directory / "measurements.csv")


def _model(name: str, settings: Settings, directory: Path) -> Source:
    """Model of that name; one that had to be learned is kept beside the measurements, with its origin."""
    kept, note = directory / "models" / f"{name}.drn", directory / "models" / f"{name}.txt"
    if kept.is_file() and note.is_file():
        return Source(read_mdp(kept), note.read_text(encoding="utf-8"))
    source = find_model(name, settings.data, generated=settings.generated)
    if source.origin.startswith(("learned", "generated:")):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_mdp(source.mdp, kept)
        write_text(note, source.origin)
    return source


def _asked(name: str, mdp: MDP, study: Study, settings: Settings, journals: Journals) -> list[BoundAsked]:
    states = states_of(name, mdp, settings.sample or study.sample, only=settings.states)
    configurations = [configuration_of(v) for v in study.configurations if not without_qp(name, v)]
    scopes = sorted({SCOPE[v.encoding] for v in configurations})
    found = {scope: _swept(mdp, name, scope, settings, journals.engine, journals.truths) for scope in scopes}
    return _questions(name, mdp, configurations, states, study.senses, found)


def _swept(
    mdp: MDP, name: str, scope: OpenScope, settings: Settings, engine: Journal[EngineRun], truths: Journal[Truth]
) -> Mapping[str, Bounds]:
    """Measure the engine on every state the paper asked about, sample or not: it answers all of them together.

    Returns what claims are held against: exact values, or for larger models those of the engine in floats.
    """
    target = settings.target
    states = list(dict.fromkeys([*states_of(name, mdp), *settings.states]))
    with eagerly():
        state_importance(mdp, target=target, scope=scope, states=states)
    taken = []
    for _ in range(SWEEPS):
        started = time.perf_counter()
        found = state_importance(mdp, target=target, scope=scope, states=states).to_dict()
        taken.append(time.perf_counter() - started)
    right, truth = None, found
    if mdp.n_states <= EXACT_UP_TO:
        truth = _truth(mdp, name, scope, target, states, truths)
        right = sum(_near(found[s].lower, truth[s].lower) + _near(found[s].upper, truth[s].upper) for s in states)
    for seconds in taken:
        engine.add(EngineRun(name, scope, len(states), seconds, right))
    return truth


def _near(a: Number, b: Number) -> bool:
    return abs(float(a) - float(b)) <= RIGHT


def _truth(
    mdp: MDP, name: str, scope: OpenScope, target: str, states: Sequence[str], truths: Journal[Truth]
) -> Mapping[str, Bounds]:
    """Bounds by exact arithmetic, computed once and kept."""
    size = int(mdp.transitions.nnz)
    known = {t.state: Bounds(t.lower, t.upper) for t in truths if (t.model, t.size, t.scope) == (name, size, scope)}
    if not all(s in known for s in states):
        known = dict(state_importance(mdp, target=target, scope=scope, states=states, exact=True).to_dict())
        for state, bounds in known.items():
            truths.add(Truth(name, size, scope, state, float(bounds.lower), float(bounds.upper)))
    return known


def _questions(
    name: str,
    mdp: MDP,
    configurations: Iterable[Configuration],
    states: Sequence[str],
    senses: Sequence[Sense],
    found: Mapping[OpenScope, Mapping[str, Bounds]],
) -> list[BoundAsked]:
    """Questions of one model, state by state, so that a run that is cut short has seen every configuration."""
    questions = []
    for state in states:
        for configuration in configurations:
            bounds = found[SCOPE[configuration.encoding]][state]
            for sense in senses:
                exact = float(bounds.lower if sense == "min" else bounds.upper)
                questions.append(BoundAsked(name, mdp, configuration, state, sense, exact))
    return questions


def _measured(
    questions: Sequence[BoundAsked],
    settings: Settings,
    journal: Journal[Record],
    deadline: float | None,
    progress: StudyProgress,
) -> int:
    """Measure the questions, `jobs` at a time; returns how many the budget left over."""
    if not place().here:
        return _shared_out(questions, settings, journal, progress)
    lock = threading.Lock()
    pending = iter(_spread(questions))
    done = 0

    def work() -> None:
        nonlocal done
        with Solvers() as solvers:
            while True:
                with lock:
                    over = deadline is not None and time.perf_counter() > deadline
                    question = None if over else next(pending, None)
                if question is None:
                    return
                record = measure(question, settings, solvers)
                with lock:
                    journal.add(record)
                    done += 1
                    progress(done, len(questions))

    with ThreadPoolExecutor(max_workers=max(1, settings.jobs)) as pool:
        for future in [pool.submit(work) for _ in range(max(1, settings.jobs))]:
            future.result()
    return len(questions) - done


def _shared_out(
    questions: Sequence[BoundAsked], settings: Settings, journal: Journal[Record], progress: StudyProgress
) -> int:
    """Measure the questions on a cluster, or here with a file to resume from; the journal has them when all are known.

    How many are measured at a time is no part of the work, so that a file goes on elsewhere.
    """
    ordered, where = _spread(questions), place()
    given = (ordered, replace(settings, jobs=1))
    with working(workers=settings.jobs, cluster=where.cluster, resume=where.resume):
        found = spread_out(
            __name__, "_answering", given, range(len(ordered)), told=lambda done: progress(done, len(ordered))
        )
    for answer in found:
        journal.add(Record(**answer))
    return 0


def _answering(given: tuple[Sequence[BoundAsked], Settings]) -> Callable[[int], dict[str, object]]:
    """What a worker does with the number of a question."""
    questions, settings = given

    def answer(number: int) -> dict[str, object]:
        with working(), Solvers() as solvers:
            return asdict(measure(questions[number], settings, solvers))

    return answer


def _spread(questions: Sequence[BoundAsked]) -> list[BoundAsked]:
    """Take the models in turn, and their states in a far-flung order: a cut run is a sample, not a beginning."""
    by_model: dict[str, list[BoundAsked]] = {}
    for question in questions:
        by_model.setdefault(question.model, []).append(question)
    keyed = []
    for group in by_model.values():
        states = list(dict.fromkeys(q.state for q in group))
        place = {state: (i * 0.6180339887498949) % 1.0 for i, state in enumerate(states)}
        keyed += [(place[q.state], q) for q in group]
    return [question for _, question in sorted(keyed, key=lambda pair: pair[0])]


def measure(question: BoundAsked, settings: Settings, solvers: Solvers) -> Record:
    """Measure one bound; a free solver takes over where Gurobi is not to be had, or its licence too small."""
    configuration = replace(question.configuration, solver=settings.solver or question.configuration.solver)
    if configuration.solver == "gurobi" and importlib.util.find_spec("gurobipy") is None:
        configuration = without_gurobi(configuration)
    found = _claim(question, configuration, settings, solvers)
    judged = found.attained
    importance = None if judged is None else judged.importance
    return Record(
        question.model, question.configuration.name, question.sense, question.state,
        float(settings.limits.seconds), settings.limits.tolerance, found.solver, configuration.ordering,
        found.status, found.seconds, found.preparation, found.claimed,
        None if importance is None else float(importance), None if judged is None else float(judged.reachability),
        question.exact, found.verdict(question.exact), found.message,
    )  # fmt: skip


def without_gurobi(configuration: Configuration) -> Configuration:
    """Return the same program for a free solver: M = 1e16, indicators and products need SCIP."""
    held = configuration.encoding == "LP*" and configuration.ordering == "tight"
    return replace(configuration, solver="highs" if held else "scip")


def _claim(question: BoundAsked, configuration: Configuration, settings: Settings, solvers: Solvers) -> Claim:
    return claim(
        question.mdp, configuration.encoding, target=settings.target, state=question.state, sense=question.sense,
        solver=configuration.solver, solvers=solvers, limits=settings.limits, options=configuration.options,
        exact=question.mdp.n_states <= EXACT_UP_TO, stand_in=True,
    )  # fmt: skip
