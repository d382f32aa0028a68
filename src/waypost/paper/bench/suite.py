"""The work that is timed, piece by piece: case studies beside Storm, growth with size."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from waypost.cases import epidemic
from waypost.errors import NameUnknownError, WaypostError
from waypost.model import MDP
from waypost.paper.bench import storm
from waypost.paper.bench.commands import commands
from waypost.paper.bench.exact import exact
from waypost.paper.bench.lakes import lake
from waypost.paper.bench.models import Shared, find_model, in_random_order, sampled, share, share_file
from waypost.paper.bench.plan import ENOUGH, SAMPLES, Plan
from waypost.paper.bench.protocols import LARGEST, PROPERTIES, instances
from waypost.paper.bench.qcomp import qcomp
from waypost.paper.bench.report import ratio
from waypost.paper.bench.rows import Cost, Row
from waypost.paper.bench.sides import beside_storm, compared, ours
from waypost.paper.bench.synthetic import Shape, synthetic

SMALL = ("GrepS", "BPIC12", "BPIC17")
LAKES = (30, 45, 60, 80, 100)  # fields in a row
MAPS = 3  # slippery lakes of each size: how much work one is depends on where its holes happen to be
EPIDEMICS = (6, 8, 10, 12, 15, 19, 24, 30, 40)
QUICK = ("GrepS", "BPIC12", "spotify1000", "epidemic", "synthetic")
SIZES = (1_000, 10_000, 100_000, 1_000_000)
SHAPES: tuple[Shape, ...] = ("few", "many")
ALL_STATES = "all states, both bounds, scope all"
ALL_CHOICES = "all choices, both bounds, scope all"


def names() -> list[str]:
    """Everything there is to run, in order."""
    return [
        *SMALL,
        *SAMPLES,
        "spotify10000-optimal",
        "choices",
        "epidemic",
        "lakes",
        "protocols",
        "qcomp",
        "commands",
        "synthetic",
        "exact",
    ]


def chosen(plan: Plan) -> list[str]:
    """Names of the benchmarks to run; a mistyped one is an error."""
    known = {name.casefold(): name for name in names()}
    for name in plan.only:
        if name.casefold() not in known:
            raise NameUnknownError(f"no benchmark {name!r}; there are: {', '.join(names())}")
    wanted = {name.casefold() for name in plan.only}
    offered = QUICK if plan.quick and not wanted else names()
    return [name for name in offered if not wanted or name.casefold() in wanted]


@dataclass
class Result:
    """What a run found, and what it did not."""

    rows: list[Row] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # what was left out, and why
    failed: list[str] = field(default_factory=list)  # what broke down
    interrupted: bool = False

    @property
    def holds(self) -> bool:
        """Whether everything ran to its end and every number that was compared agrees."""
        return not self.failed and not self.interrupted and all(row.agrees is not False for row in self.rows)


def run(plan: Plan) -> Result:
    """Run the benchmarks one after the other; an interrupted run gives what was done."""
    result = Result()
    try:
        for name in chosen(plan):
            _run_one(name, plan, result)
    except KeyboardInterrupt:
        result.interrupted = True
    return result


def _run_one(name: str, plan: Plan, result: Result) -> None:
    try:
        for found in _runner(name)(name, plan):
            if isinstance(found, str):
                result.skipped.append(found)
                plan.tell(found)
            else:
                result.rows.append(replace(found, suite=name))
                storm_too = "" if found.storm is None else f", Storm {found.storm.seconds:.3g} s: {ratio(found)}"
                plan.tell(f"{found.name}: {found.work}: {found.ours.seconds:.3g} s{storm_too}")
    except WaypostError as error:
        result.failed.append(f"{name}: {error}")
        plan.tell(result.failed[-1])


def _runner(name: str) -> Callable[[str, Plan], Iterator[Row | str]]:
    special = {"spotify10000-optimal": _optimal, "choices": _choices, "epidemic": _epidemics, "lakes": _lakes}
    large = {"protocols": _protocols, "qcomp": qcomp, "commands": commands, "synthetic": _synthetics, "exact": exact}
    return {**special, **large}.get(name, _case_study)


def _case_study(name: str, plan: Plan) -> Iterator[Row | str]:
    """Both bounds of every state of a published model; Storm does all of them, or a sample."""
    source = find_model(name, plan.data)
    if source is None:
        yield _missing(name, plan)
        return
    sample = None if name in SMALL else plan.sample_of(name)
    with tempfile.TemporaryDirectory(prefix="waypost-") as folder:
        shared = share_file(source, "positive", Path(folder, "model.drn"), sample=sample)
        plan.tell(f"{name}: Waypost, all {shared.n_states} states")
        work = {"kind": "states", "target": "target", "scope": "all", "shown": shared.asked}
        rows, bounds = ours(plan, {"model": str(shared.path), "works": [work]}, name, [ALL_STATES])
        row = replace(rows[0], asked=shared.n_states)
        yield beside_storm(row, bounds[0], shared, plan, rounds=(2 if plan.quick else 5) if sample is None else 1)


def _optimal(name: str, plan: Plan) -> Iterator[Row | str]:
    """All states of the largest model in scope optimal, beside one plain reachability query of Storm's."""
    model = name.removesuffix("-optimal")
    source = find_model(model, plan.data)
    if source is None:
        yield _missing(model, plan)
        return
    with tempfile.TemporaryDirectory(prefix="waypost-") as folder:
        shared = share_file(source, "positive", Path(folder, "model.drn"), sample=0)
        plan.tell(f"{name}: Waypost, all {shared.n_states} states")
        works = [
            {"kind": "states", "target": "target", "scope": "optimal", "shown": []},
            {"kind": "reachability", "target": "target", "optimum": "max"},
        ]
        title = "all states, both bounds, scope optimal"
        rows, bounds = ours(plan, {"model": str(shared.path), "works": works}, model, [title, "Pmax"])
        row = replace(rows[0], asked=shared.n_states)
        if not plan.use_storm:
            yield row
            return
        plan.tell(f"{name}: Storm, one query")
        answers = storm.ask(shared.path, [storm.REACH], limit=plan.limit, rounds=9)
        yield replace(
            row,
            storm=Cost(answers.best_round, answers.reading, answers.megabytes),
            storm_did="one Pmax=? [F target]",
            one_query=True,
            unanswered=len(answers.unanswered),
            **compared([answers.values[0]], [bounds[1][0][0]]),
        )


def _choices(_name: str, plan: Plan) -> Iterator[Row | str]:
    """Both bounds of every choice of the published models, beside our own time for all their states."""
    for model in SMALL:
        source = find_model(model, plan.data)
        if source is None:
            yield _missing(model, plan)
            continue
        works = [{"kind": kind, "target": "positive", "scope": "all"} for kind in ("states", "choices")]
        rows, bounds = ours(plan, {"model": str(source), "works": works}, model, [ALL_STATES, ALL_CHOICES])
        times = rows[1].ours.seconds / rows[0].ours.seconds
        yield replace(rows[1], note=f"{len(bounds[1])} choices; {times:.2g} times the time of all states")


def _epidemics(name: str, plan: Plan) -> Iterator[Row | str]:
    """The epidemic of every population: which stocks of vaccine matter, under optimal strategies."""
    for n in (10, 12) if plan.quick else EPIDEMICS:
        plan.tell(f"{name}: E{n}")
        work = {"kind": "states", "target": "positive", "scope": "optimal", "asked": "first day"}
        rows, bounds = ours(plan, {"epidemic": n, "works": [work]}, f"E{n}", ["all (n,1,V), scope optimal"])
        known = [[0.0, 0.0] if v <= n else [0.0, 1.0] for v in range(2 * n + 1)]
        note = "the bounds are the known ones" if bounds[0] == known else "THE BOUNDS ARE NOT THE KNOWN ONES"
        yield replace(rows[0], asked=len(known), series="epidemic", note=note)


def _lakes(name: str, plan: Plan) -> Iterator[Row | str]:
    """Every state of frozen lakes, where every state has a choice: in both scopes, and without normalisation."""
    for size in (30,) if plan.quick else LAKES:
        for slippery, maps in ((True, 1 if plan.quick else MAPS), (False, 1)):
            ice = "slippery" if slippery else "firm"
            for seed in range(1, maps + 1):
                title = f"lake {size}x{size}, {ice}" + (f", map {seed}" if seed > 1 else "")
                yield from _every_state(name, title, lake(size, slippery=slippery, seed=seed), plan, ice)


def _protocols(name: str, plan: Plan) -> Iterator[Row | str]:
    """Every state of protocols, and of an epidemic, where nearly every state has a choice."""
    yield from _every_state(name, "E10", epidemic(10), plan, None, target="positive")
    found = False
    largest = 1_100 if plan.quick else LARGEST
    for title, mdp in instances(plan.data / "models/qcomp", largest=largest, properties=PROPERTIES):
        found = True
        yield from _every_state(name, title, mdp, plan, title.split(".", maxsplit=1)[0])
    if not found:
        yield _missing(name, plan)


def _every_state(
    name: str, title: str, mdp: MDP, plan: Plan, series: str | None, target: str = "goal"
) -> Iterator[Row | str]:
    """All states of a model in every way of asking; Storm's loop is timed on a sample, and scaled."""
    with tempfile.TemporaryDirectory(prefix="waypost-") as folder:
        most = plan.sample_of(name) if plan.quick else plan.samples
        shared = share(mdp, target, Path(folder, "model.drn"), in_random_order(mdp.n_states, most))
        plan.tell(f"{name}: {title}: Waypost, all {shared.n_states} states")
        works = [
            {"kind": "states", "target": "target", "scope": "all", "shown": shared.asked},
            {"kind": "states", "target": "target", "scope": "optimal", "shown": []},
            {"kind": "absolute", "target": "target", "shown": []},
        ]
        titles = [ALL_STATES, "all states, both bounds, scope optimal", "all states, both bounds, absolute"]
        rows, bounds = ours(plan, {"model": str(shared.path), "works": works}, title, titles)
        ways = ("all", "optimal", "absolute")
        rows = [
            replace(row, asked=shared.n_states, series=None if series is None else f"{series}, {way}")
            for row, way in zip(rows, ways, strict=True)
        ]
        yield beside_storm(rows[0], bounds[0], shared, plan, rounds=1, enough=ENOUGH)
        yield from rows[1:]


def _synthetics(name: str, plan: Plan) -> Iterator[Row | str]:
    """Single questions to models of growing size."""
    for shape in SHAPES:
        for n in (10_000,) if plan.quick else SIZES:
            with tempfile.TemporaryDirectory(prefix="waypost-") as folder:
                plan.tell(f"{name}: {n:,} states, {shape} choices: generating")
                asked = sampled(n, plan.sample_of(name)).tolist()
                shared = share(synthetic(n, shape), "goal", Path(folder, "model.drn"), asked)
                yield from _single_questions(f"{n:,} states, {shape} choices", shape, shared, plan)


def _single_questions(title: str, shape: str, shared: Shared, plan: Plan) -> Iterator[Row]:
    plan.tell(f"synthetic: {title}: Waypost")
    works = [
        {"kind": "one", "target": "target", "scope": "all", "shown": shared.asked},
        {"kind": "path", "target": "target", "scope": "all", "steps": 6},
        {"kind": "reachability", "target": "target", "optimum": "max"},
    ]
    titles = ["one state, both bounds, scope all", "one path, both bounds, scope all", "reachability"]
    rows, bounds = ours(plan, {"model": str(shared.path), "works": works}, title, titles)
    one = replace(rows[0], asked=1, series=f"one state, {shape} choices")
    one = beside_storm(one, bounds[0], shared, plan, rounds=1)
    yield _reading(one, shape)
    yield one
    yield replace(rows[1], series=f"one path, {shape} choices")
    yield replace(rows[2], series=f"reachability, {shape} choices")


def _reading(row: Row, shape: str) -> Row:
    """Time of reading the file, which both did before they were asked."""
    return Row(
        row.name,
        "reading the DRN file",
        row.states,
        row.transitions,
        0,
        replace(row.ours, seconds=row.ours.reading or 0.0),
        None if row.storm is None else replace(row.storm, seconds=row.storm.reading or 0.0),
        storm_did="reading the same file",
        series=f"reading, {shape} choices",
    )


def _missing(name: str, plan: Plan) -> str:
    return f"{name}: skipped, its model is not under {plan.data} (say where with --data or WAYPOST_DATA)"
