"""How often each encoding is right, how wrong it gets, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from waypost.importance import state_importance
from waypost.importance.results import Number
from waypost.paper.encodings import RIGHT, SCOPE, Encoding, Limits, Options, Solvers, claim
from waypost.paper.encodings.counterexamples import COUNTEREXAMPLES
from waypost.paper.studies.figures import drawing
from waypost.paper.studies.records import Record
from waypost.paper.studies.studies import BOTH, configuration_of
from waypost.paper.studies.tables import StudyTable

SHORTFALL = 1e-5  # a strategy that reaches the target so much less than its claim needs has not arrived


def error(record: Record) -> float:
    """Absolute distance of a claim from the exact value."""
    return abs((record.claimed or 0.0) - (record.exact or 0.0))


def keeps_its_word(record: Record) -> bool:
    """Whether the strategy read off a solution attains the importance that was claimed."""
    said, done = record.claimed, record.attained
    return said is not None and done is not None and abs(said - done) <= RIGHT


def cause(record: Record, optimum: float | None) -> str:
    """Why a claim is wrong, told from the strategy that was read off it.

    `optimum` is the greatest probability of the target that any strategy read off attained, for encodings that promise
    to attain it.
    """
    # QP promises to reach the target with eps or more, the others with the optimum
    configuration = configuration_of(record.configuration)
    general = configuration.encoding == "QP"
    promised = configuration.options.epsilon / 2 if general else (optimum or 0.0) - SHORTFALL
    if record.reachability is not None and record.reachability < promised:
        return "end component"  # the strategy idles in a circle and does not arrive
    if record.verdict == "missed" and general:
        return "eps or order"  # a strategy that does better was cut off
    return "tolerance"


def accuracy(records: Sequence[Record]) -> StudyTable:
    """Per model and encoding: bounds asked, solved, right to 1e-6, wrong, by which cause, and the largest error.

    *Attained* counts the claims whose own strategy does what is claimed; a right claim may come with one that does not.
    """
    rows = []
    for model, configuration in dict.fromkeys((r.model, r.configuration) for r in _in_order(records)):
        part = [r for r in records if (r.model, r.configuration) == (model, configuration)]
        solved = [r for r in part if r.status == "optimal"]
        wrong = [r for r in solved if r.verdict in ("unattainable", "missed")]
        optimum = _optimum(records, model)
        causes: dict[str, int] = {}
        for record in wrong:
            why = cause(record, optimum)
            causes[why] = causes.get(why, 0) + 1
        rows.append((
            model, configuration, str(len(part)), str(len(solved)), str(len(solved) - len(wrong)), str(len(wrong)),
            str(sum(r.verdict == "unattainable" for r in wrong)), str(sum(map(keeps_its_word, solved))),
            f"{max(map(error, solved), default=0.0):.1e}",
            ", ".join(f"{why} {count}" for why, count in sorted(causes.items())) or "–",
        ))  # fmt: skip
    header = ("Model", "Enc.", "Bounds", "Solved", "Right", "Wrong", "Unattainable", "Attained", "Largest error", "Why")
    return StudyTable(header, tuple(rows))


def claims(records: Sequence[Record]) -> StudyTable:
    """List every claim: what was said, what its strategy attains, what is true."""
    rows = [
        (
            r.model, r.state, r.sense, r.configuration, r.solver, r.status, f"{r.seconds:.2f}", _number(r.claimed),
            _number(r.attained), _number(r.reachability), _number(r.exact), r.verdict,
        )
        for r in sorted(records, key=lambda r: (r.model, r.state, r.sense))
    ]  # fmt: skip
    header = (
        "Model", "State", "Sense", "Enc.", "Solver", "Status", "Seconds", "Claimed", "Attained",
        "reaching the target with", "Exact", "Verdict",
    )  # fmt: skip
    return StudyTable(header, tuple(rows))


def counterexamples() -> StudyTable:
    """Solve the smallest models on which an encoding is wrong, now, and list what is claimed of their state ``s``."""
    rows = []
    with Solvers() as solvers:
        for name, encoding, options, label in SHOWN:
            mdp = COUNTEREXAMPLES[name]()
            truth = state_importance(mdp, target="t", scope=SCOPE[encoding], states=["s"], exact=True)["s"]
            quadratic = encoding in ("QP", "QP*") or options.form == "letter"
            for sense, exact in zip(BOTH, (truth.lower, truth.upper), strict=True):
                found = claim(
                    mdp, encoding, target="t", state="s", sense=sense, solver="gurobi" if quadratic else None,
                    solvers=solvers, limits=Limits(seconds=10, tolerance=1e-9), options=options, exact=True,
                )  # fmt: skip
                judged = found.attained
                rows.append((
                    name, label, sense, found.solver, found.status, _number(found.claimed),
                    _number(None if judged is None else judged.importance),
                    _number(None if judged is None else judged.reachability), str(exact), found.verdict(exact),
                ))  # fmt: skip
    header = (
        "Model", "Enc.", "Sense", "Solver", "Status", "Claimed", "Attained", "reaching the target with", "Exact",
        "Verdict",
    )  # fmt: skip
    return StudyTable(header, tuple(rows))


LETTER = Options("letter")
SHOWN: tuple[tuple[str, Encoding, Options, str], ...] = (
    ("waiting", "QP*", LETTER, "QP* letter"),
    ("waiting", "LP*", LETTER, "LP* letter, M = 1e16"),
    ("waiting", "LP*", Options(), "LP* ours, tight M"),
    ("waiting", "LP-optimal", Options(), "LP-optimal"),
    ("resting", "QP", LETTER, "QP letter"),
    ("resting", "QP", Options(), "QP ours"),
    ("resting", "LP-all", Options(), "LP-all"),
    ("circling", "QP", LETTER, "QP letter, order in all states"),
    ("circling", "QP", Options(), "QP ours, order in end components"),
    ("circling", "LP-all", Options(), "LP-all"),
    ("rare", "QP", LETTER, "QP letter, eps = 1e-4"),
    ("rare", "QP", Options("letter", epsilon=1e-5), "QP letter, eps = 1e-5"),
    ("rare", "LP-all", Options(), "LP-all"),
)
PLACES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "waiting": {"s0": (0, 0.6), "s": (1, 0), "t": (2, 0.6)},
    "resting": {"s0": (0, 0.5), "s": (1, 0), "x": (1, 1), "t": (2, 0.5)},
    "circling": {"s0": (0, 0.5), "s": (1, 0), "t": (2, 0), "a": (1, 1), "b": (2, 1)},
    "rare": {"s0": (0, 0.6), "s": (1.2, 0.6), "t": (2.2, 0), "lost": (1.2, 1.4)},
}


def drawings() -> dict[str, str]:
    """Draw the counterexamples as SVG: ``s`` yellow, the target green."""
    return {name: drawing(build(), PLACES[name], subject="s", target="t") for name, build in COUNTEREXAMPLES.items()}


def _number(value: Number | None) -> str:
    return "–" if value is None else f"{float(value):.9g}"


def worst(records: Sequence[Record], count: int = 3) -> StudyTable:
    """List the claims that are furthest off, some of every model and encoding."""
    rows = []
    for model, configuration in dict.fromkeys((r.model, r.configuration) for r in _in_order(records)):
        part = [r for r in records if (r.model, r.configuration) == (model, configuration)]
        wrong = [r for r in part if r.verdict in ("unattainable", "missed")]
        optimum = _optimum(records, model)
        for r in sorted(wrong, key=error, reverse=True)[:count]:
            attained = "–" if r.attained is None else f"{r.attained:.9g}"
            reached = "–" if r.reachability is None else f"{r.reachability:.6g}"
            rows.append((
                model, configuration, r.state, r.sense, f"{r.claimed:.9g}", attained, reached, f"{r.exact:.9g}",
                r.verdict, cause(r, optimum), r.solver,
            ))  # fmt: skip
    header = (
        "Model", "Enc.", "State", "Sense", "Claimed", "Attained", "reaching the target with", "Exact", "Verdict", "Why",
        "Solver",
    )  # fmt: skip
    return StudyTable(header, tuple(rows))


def _in_order(records: Iterable[Record]) -> list[Record]:
    """Records with the models in the order they first appear."""
    listed = list(records)
    place = {model: i for i, model in enumerate(dict.fromkeys(r.model for r in listed))}
    return sorted(listed, key=lambda r: place[r.model])


def _optimum(records: Iterable[Record], model: str) -> float | None:
    reached = [r.reachability for r in records if r.model == model and r.reachability is not None]
    return max(reached, default=None)
