"""QComp: our reachability against published values and against Storm, on real models.

``make qcomp`` runs every ``prob-reach`` row of ``REFERENCE.csv`` (the QComp benchmark set's results) up to a number of
states, and prints what the tool answered, what is published, and how long each took.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from waypost.errors import FormatError, WaypostError, require
from waypost.formats import read_mdp
from waypost.formats.properties import asked, find_property
from waypost.formats.storm_worker import Refusal, build, parse
from waypost.formats.writing import write_text
from waypost.solve import reachability

ABOUT = (
    "Made by `make qcomp`. *States* are those up to the target: no more is built, as with `--prop`. *Difference* is "
    "that of our float to the published value; *exact* tells whether the answer in rationals is the published "
    "fraction. Both times are for the query alone, on the same machine, Storm's on the whole model: Storm with its "
    "default method and precision (1e-6), Waypost to rounding."
)


@dataclass(frozen=True)
class PublishedResult:
    """One published result."""

    folder: Path
    family: str
    file: str  # the model
    properties: str | None  # the file with the properties, if it is another
    constants: Mapping[str, Any]
    states: int
    name: str  # of the property
    value: Fraction | float  # as published; True means probability 1
    is_exact: bool  # published as a fraction, or a plain 0 or 1

    @property
    def title(self) -> str:
        """What to call it."""
        given = ",".join(f"{key}={value}" for key, value in self.constants.items())
        return f"{Path(self.file).stem}{f'({given})' if given else ''} {self.name}"


@dataclass(frozen=True)
class CrossCheck:
    """Our answer beside the published one and Storm's."""

    benchmark: PublishedResult
    n_states: int
    ours: float
    storm: float
    seconds: float
    storm_seconds: float
    exact: Fraction | None  # our answer in exact arithmetic, where it was asked for
    exact_seconds: float | None

    @property
    def difference(self) -> float:
        """How far our float is from the published value."""
        return abs(self.ours - float(self.benchmark.value))

    @property
    def agrees(self) -> bool:
        """To 1e-6, and in exact arithmetic exactly."""
        same = self.exact is None or self.exact == self.benchmark.value or not self.benchmark.is_exact
        return self.difference <= 1e-6 and same


def benchmarks(folder: Path, *, largest: int, smallest: int = 0) -> Iterator[PublishedResult]:
    """Read the published reachability results on models of `smallest` to `largest` states."""
    with (folder / "REFERENCE.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["property_type"] != "prob-reach" or not smallest <= int(row["states"]) <= largest:
                continue
            originals = row["original_files"].split(";")
            symbolic = row["original_language"] == "PRISM"
            plain = row["value"] in ("True", "1", "0")
            value = Fraction(1) if row["value"] == "True" else Fraction(row["exact"] or row["value"])
            yield PublishedResult(
                folder=folder / row["family"],
                family=row["family"],
                file=originals[0] if symbolic else row["jani_file"],
                properties=originals[1] if symbolic else None,
                constants=json.loads(row["open_params"]),
                states=int(row["states"]),
                name=row["property"],
                value=value,
                is_exact=bool(row["exact"]) or plain,
            )


def compare(benchmark: PublishedResult, *, exact_up_to: int = 10_000) -> CrossCheck:
    """Compute one published result with our engine and with Storm."""
    file, given = benchmark.folder / benchmark.file, benchmark.constants
    question = find_property(
        f"{benchmark.folder / (benchmark.properties or benchmark.file)}:{benchmark.name}", constants=given
    )
    build = partial(read_mdp, file, constants=given, time_limit=None, target=question.target, avoid=question.avoid)
    mdp, target, _ = asked(build(), question)
    started = time.perf_counter()
    ours = float(reachability(mdp, target=target, optimum=question.optimum)[mdp.initial])
    seconds = time.perf_counter() - started
    storm, storm_seconds = _by_storm(benchmark)
    exactly, exact_seconds = None, None
    if mdp.n_states <= exact_up_to:
        precise, target, _ = asked(build(exact=True), question)
        started = time.perf_counter()
        exactly = reachability(precise, target=target, optimum=question.optimum, exact=True)[precise.initial]
        exact_seconds = time.perf_counter() - started
    return CrossCheck(benchmark, mdp.n_states, ours, storm, seconds, storm_seconds, exactly, exact_seconds)


def _by_storm(benchmark: PublishedResult) -> tuple[float, float]:
    """Storm's answer on the whole model, and the seconds it took."""
    stormpy = require("stormpy", "storm", "reading QComp's models")
    try:
        program, found = parse(str(benchmark.folder / benchmark.file), benchmark.constants)
        if benchmark.properties is not None:
            found = stormpy.parse_properties((benchmark.folder / benchmark.properties).read_text(), program)
        wanted = next(p for p in found if p.get_name() == benchmark.name)
        # asked twice: with a single property Storm stops building at its target
        model = build(program, exact=False, properties=[wanted, wanted])
    except (Refusal, RuntimeError, StopIteration) as error:
        raise FormatError(f"{benchmark.title}: {error or 'there is no such property'}") from None
    query = _as_query(stormpy, wanted.get_raw_formula())
    started = time.perf_counter()
    answer = float(stormpy.model_checking(model, query).get_value(model.initial_states[0]))
    return answer, time.perf_counter() - started


def _as_query(stormpy: Any, formula: Any) -> Any:
    if not formula.has_bound:
        return formula
    query = formula.clone()
    query.remove_bound()
    query.set_optimality_type(stormpy.developer.OptimizationDirection.MINIMIZE)
    return query


def table(rows: Sequence[CrossCheck]) -> str:
    """Format the comparisons as Markdown.

    ``exact`` says whether the answer in exact arithmetic is the published fraction.
    """
    head = "| model and property | states | published | difference | Waypost s | Storm s | exact | exact s |"
    lines = [head, "|---|--:|--:|--:|--:|--:|---|--:|"]
    for row in rows:
        if row.exact is None:
            exact = ""
        elif not row.benchmark.is_exact:
            exact = "no fraction published"
        else:
            exact = "equal" if row.exact == row.benchmark.value else f"**{row.exact}**"
        cells = [
            row.benchmark.title,
            f"{row.n_states:,}",
            f"{float(row.benchmark.value):.10g}",
            f"{row.difference:.1e}" if row.difference else "0",
            f"{row.seconds:.3f}",
            f"{row.storm_seconds:.3f}",
            exact,
            "" if row.exact_seconds is None else f"{row.exact_seconds:.3f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison as a program."""
    parser = argparse.ArgumentParser(prog="python -m waypost.paper.studies.qcomp", description="Compare with QComp.")
    parser.add_argument("folder", type=Path, help="where REFERENCE.csv is")
    parser.add_argument("--smallest", type=int, default=0, help="states, as published")
    parser.add_argument("--largest", type=int, default=200_000, help="states, as published")
    parser.add_argument("--exact-up-to", type=int, default=10_000, help="states; exact arithmetic beyond is skipped")
    parser.add_argument("--output", type=Path, help="write the table to this file as well")
    options = parser.parse_args(arguments)
    rows, failed = [], 0
    for benchmark in benchmarks(options.folder, largest=options.largest, smallest=options.smallest):
        try:
            rows.append(compare(benchmark, exact_up_to=options.exact_up_to))
        except WaypostError as error:
            failed += 1
            sys.stderr.write(f"FAILED {error}\n")
            continue
        sys.stderr.write(f"{'ok    ' if rows[-1].agrees else 'DIFFERS'} {benchmark.title} {rows[-1].seconds:.2f} s\n")
    agree = sum(row.agrees for row in rows)
    worst = max((row.difference for row in rows), default=0.0)
    equal = [row for row in rows if row.exact is not None and row.benchmark.is_exact]
    families = len({row.benchmark.family for row in rows})
    summary = (
        f"{agree} of {len(rows) + failed} published values in {families} families agree to 1e-6 "
        f"(greatest difference {worst:.1e}); "
        f"{sum(row.exact == row.benchmark.value for row in equal)} of {len(equal)} fractions agree exactly."
    )
    text = f"{table(rows)}\n\n{summary}\n"
    sys.stdout.write(text)
    if options.output is not None:
        write_text(options.output, f"# QComp: published reachability values\n\n{ABOUT}\n\n{summary}\n\n{table(rows)}\n")
    return 0 if agree == len(rows) + failed else 1


if __name__ == "__main__":
    sys.exit(main())
