"""The paper's tables from measurements: the same columns, our engine's row, and the paper's own figures beside."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from waypost.paper.encodings import SCOPE, Encoding
from waypost.paper.studies.records import EngineRun, Record
from waypost.paper.studies.running import Outcome
from waypost.paper.studies.studies import CONFIGURATIONS, Published, configuration_of, family, plain_name, published

RowCells = tuple[str, ...]


@dataclass(frozen=True)
class StudyTable:
    """Text in rows and columns."""

    header: RowCells
    rows: tuple[RowCells, ...]

    def markdown(self) -> str:
        """Table as Markdown."""
        lines = [self.header, tuple("---" for _ in self.header), *self.rows]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"

    def latex(self) -> str:
        """Table as LaTeX (booktabs)."""
        body = [r"\toprule", _latex_line(self.header), r"\midrule"]
        body += [_latex_line(row) for row in self.rows]
        columns = "ll" + "r" * (len(self.header) - 2)
        return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *body, r"\bottomrule", r"\end{tabular}", ""])


def _latex_line(cells: RowCells) -> str:
    special = {c: "\\" + c for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}", "–": "--"}
    return " & ".join("".join(special.get(c, c) for c in cell) for cell in cells) + r" \\"


MEASURED = (
    "Mean(t)",
    "Std(t)",
    "Min(t)",
    "Max(t)",
    "Opt.",
    "T.O.",
    "M.O.",
    "Inf.",
    "Trouble",
    "Total",
    "Right",
    "Wrong",
)
PAPER = ("paper Mean(t)", "Std(t)", "Min(t)", "Max(t)", "Opt.", "T.O.")


def times(outcome: Outcome, *, by_sense: bool) -> StudyTable:
    """Times and ends of every encoding on every model, the engine below them, the paper's figures beside."""
    header = ("Model", "Enc.", *(("Sense",) if by_sense else ()), "Solver", *MEASURED, "Speed-up", *PAPER)
    printed = published()
    rows: list[RowCells] = []
    for model in dict.fromkeys(map(family, outcome.study.models)):
        mine = [r for r in outcome.records if family(r.model) == model]
        called = labelled(model, outcome.origins)
        for configuration in outcome.study.configurations:
            for sense in outcome.study.senses if by_sense else ("both",):
                part = [r for r in mine if r.configuration == configuration and sense in ("both", r.sense)]
                if part:
                    asked = (model, configuration_of(configuration).encoding, sense)
                    paper = _paper(printed.get(asked) if called == model else None)
                    named = (called, configuration, *((sense,) if by_sense else ()))
                    speed = _speed_up(part, outcome.engine)
                    rows.append((*named, _solvers(part), *_measured(part), speed, *paper))
        rows += _engine_rows(model, called, outcome.engine, by_sense=by_sense)
    return StudyTable(header, tuple(rows))


def labelled(model: str, origins: Mapping[str, str]) -> str:
    """Name of a row; it says so where a made-up model stands in for the paper's, whose figures are then left out.

    >>> labelled("GrepS", {"GrepS": "generated: loan-log:33 instead of GrepS", "E4": "generated, as in the paper"})
    'GrepS (generated)'
    >>> labelled("MSSD10", {"MSSD10.0": "the authors' spotify1000.drn", "MSSD10.1": "generated: 1000 made-up sessions"})
    'MSSD10 (partly generated)'
    """
    made_up = [origin.startswith("generated:") for name, origin in origins.items() if family(name) == model]
    if not any(made_up):
        return model
    return f"{model} ({'' if all(made_up) else 'partly '}generated)"


def _measured(part: Sequence[Record]) -> RowCells:
    seconds = [r.counted for r in part]
    ends = {
        end: sum(r.status == end for r in part) for end in ("optimal", "timeout", "memory", "infeasible", "trouble")
    }
    spread = statistics.stdev(seconds) if len(seconds) > 1 else 0.0
    slowest = "T.O." if ends["timeout"] else _seconds(max(seconds))
    right = sum(r.verdict == "right" for r in part)
    wrong = sum(r.verdict in ("unattainable", "missed") for r in part)
    return (
        _seconds(statistics.fmean(seconds)), _seconds(spread), _seconds(min(seconds)), slowest,
        *(str(n) for n in ends.values()), str(len(part)), str(right), str(wrong),
    )  # fmt: skip


def _solvers(part: Iterable[Record]) -> str:
    tally: dict[str, int] = {}
    for record in part:
        tally[record.solver] = tally.get(record.solver, 0) + 1
    return ", ".join(name if len(tally) == 1 else f"{name} {count}" for name, count in sorted(tally.items()))


def _engine_rows(model: str, called: str, engine: Sequence[EngineRun], *, by_sense: bool) -> list[RowCells]:
    rows: list[RowCells] = []
    for scope in ("all", "optimal"):
        sweeps = [e for e in engine if family(e.model) == model and e.scope == scope]
        if sweeps:
            bounds = 2 * sweeps[-1].states
            mean = [e.seconds / (2 * e.states) for e in sweeps]
            spread = statistics.stdev(mean) if len(mean) > 1 else 0.0
            rows.append((
                called, f"exact engine, {scope}", *(("both",) if by_sense else ()), "–",
                _seconds(statistics.fmean(mean)), _seconds(spread), _seconds(min(mean)), _seconds(max(mean)),
                str(bounds), "0", "0", "0", "0", str(bounds), *_judged(sweeps[-1]), "1", *("–",) * len(PAPER),
            ))  # fmt: skip
    return rows


def _judged(sweep: EngineRun) -> RowCells:
    return ("–", "–") if sweep.right is None else (str(sweep.right), str(2 * sweep.states - sweep.right))


def engine_mean(engine: Iterable[EngineRun], model: str, encoding: Encoding) -> float | None:
    """Mean seconds per bound of the engine's sweeps over a model, in the scope of an encoding."""
    sweeps = [e.seconds / (2 * e.states) for e in engine if e.model == model and e.scope == SCOPE[encoding]]
    return statistics.fmean(sweeps) if sweeps else None


def speed_up(part: Sequence[Record], engine: Sequence[EngineRun]) -> float | None:
    """How many times longer the solver took than the engine, in the mean over all bounds of the same run.

    Only the time inside the solver counts, although the engine's includes everything; a bound that was cut off counts
    with the time it had, so with timeouts this is a lower bound.
    """
    ours = [engine_mean(engine, r.model, configuration_of(r.configuration).encoding) for r in part]
    known = [o for o in ours if o is not None]
    return statistics.fmean(r.counted for r in part) / statistics.fmean(known) if part and known else None


def _speed_up(part: Sequence[Record], engine: Sequence[EngineRun]) -> str:
    found = speed_up(part, engine)
    more = ">" if any(r.status == "timeout" for r in part) else ""
    return "–" if found is None else f"{more}{found:,.0f}"


def _paper(row: Published | None) -> RowCells:
    return ("–",) * len(PAPER) if row is None else (row.mean, row.std, row.min, row.max, row.optimal, row.timeout)


def overall(outcome: Outcome) -> StudyTable:
    """Speed-up of the engine over each encoding, all models of the study together."""
    rows: list[RowCells] = []
    for configuration in outcome.study.configurations:
        part = [r for r in outcome.records if r.configuration == configuration]
        if part:
            mean = statistics.fmean(r.counted for r in part)
            slower = statistics.fmean(r.counted + r.preparation for r in part)
            rows.append(
                (configuration, str(len(part)), _seconds(mean), _seconds(slower), _speed_up(part, outcome.engine))
            )
    return StudyTable(
        ("Enc.", "Bounds", "Mean(t), solver", "Mean(t), with preparation", "Speed-up of the engine"), tuple(rows)
    )


def differences(outcome: Outcome) -> StudyTable:
    """Absolute differences between LP* and QP*, as in the paper's appendix, and of both from the exact values."""
    solved = {
        (r.model, plain_name(r.configuration), r.sense, r.state): r
        for r in outcome.records
        if r.status == "optimal" and r.claimed is not None
    }
    columns: dict[str, Callable[[tuple[str, str, str]], float | None]] = {
        "LP* letter - QP* letter": lambda k: _gap(_value(solved, k, "LP* letter"), _value(solved, k, "QP* letter")),
        "LP* letter - QP* ours": lambda k: _gap(_value(solved, k, "LP* letter"), _value(solved, k, "QP* ours")),
        "LP* letter - exact": lambda k: _gap(_value(solved, k, "LP* letter"), _exact(solved, k)),
        "QP* letter - exact": lambda k: _gap(_value(solved, k, "QP* letter"), _exact(solved, k)),
        "QP* ours - exact": lambda k: _gap(_value(solved, k, "QP* ours"), _exact(solved, k)),
        "LP* ours - exact": lambda k: _gap(_value(solved, k, "LP* ours"), _exact(solved, k)),
    }
    printed = published()
    rows: list[RowCells] = []
    for model in outcome.study.models:
        called = labelled(model, outcome.origins)
        for sense in outcome.study.senses:
            keys = sorted({(m, s, x) for m, _, s, x in solved if m == model and s == sense})
            for name, gap in columns.items():
                gaps = [g for g in map(gap, keys) if g is not None]
                if gaps:
                    beside = called == model and name.startswith("LP* letter - QP*")
                    paper = printed.get((model, "difference", sense)) if beside else None
                    quoted = ("–",) * 4 if paper is None else (paper.mean, paper.std, paper.min, paper.max)
                    spread = statistics.stdev(gaps) if len(gaps) > 1 else 0.0
                    found = (statistics.fmean(gaps), spread, min(gaps), max(gaps))
                    rows.append((called, sense, name, str(len(gaps)), *(f"{g:.2e}" for g in found), *quoted))
    header = ("Model", "Sense", "Difference", "Bounds", "Mean", "Std", "Min", "Max", "paper Mean", "Std", "Min", "Max")
    return StudyTable(header, tuple(rows))


Solved = dict[tuple[str, str, str, str], Record]


def _value(solved: Solved, key: tuple[str, str, str], configuration: str) -> float | None:
    found = solved.get((key[0], configuration, key[1], key[2]))
    return None if found is None else found.claimed


def _exact(solved: Solved, key: tuple[str, str, str]) -> float | None:
    for configuration in CONFIGURATIONS:
        found = solved.get((key[0], configuration, key[1], key[2]))
        if found is not None:
            return found.exact
    return None


def _gap(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else abs(a - b)


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.4f}" if value >= 0.001 else f"{value:.6f}"
