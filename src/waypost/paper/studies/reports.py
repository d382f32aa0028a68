"""A study's results as files: Markdown, LaTeX, and the figure."""

from __future__ import annotations

from pathlib import Path

from waypost.formats.writing import write_text
from waypost.paper.studies.accuracy import accuracy, claims, counterexamples, drawings, worst
from waypost.paper.studies.authors import judged, listing, read_results, results_under, summary
from waypost.paper.studies.figures import box_plot
from waypost.paper.studies.running import Outcome
from waypost.paper.studies.sensitivity import draw_grid, grid
from waypost.paper.studies.studies import family
from waypost.paper.studies.tables import StudyTable, differences, overall, times

FIGURE = "LP* ours"  # whose times the figure shows


def write_reports(outcome: Outcome, directory: Path) -> list[Path]:
    """Write the study's tables (and figure) into a directory; returns the files."""
    study = outcome.study
    tables = _tables(outcome)
    text = [f"# {study.title}\n", _conditions(outcome)]
    for title, table in tables.items():
        text.append(f"## {title}\n\n{table.markdown()}")
    written = [_written(directory / f"{study.name}.md", "\n".join(text))]
    latex = "\n\n".join(f"% {title}\n{table.latex()}" for title, table in tables.items())
    written.append(_written(directory / f"{study.name}.tex", latex))
    if study.name == "accuracy":
        for name, picture in drawings().items():
            written.append(_written(directory / f"counterexample-{name}.svg", picture))
    if study.name == "sensitivity":
        for suffix in ("svg", "png"):
            draw_grid(outcome.records, study.models, directory / f"sensitivity.{suffix}")
            written.append(directory / f"sensitivity.{suffix}")
    if study.name == "mssd":
        for suffix in ("svg", "png"):
            path = directory / f"mssd.{suffix}"
            box_plot([r for r in outcome.records if r.configuration == FIGURE], outcome.engine, study.models, path)
            written.append(path)
    return written


def _tables(outcome: Outcome) -> dict[str, StudyTable]:
    name = outcome.study.name
    if name == "accuracy":
        return {
            "How often each encoding is right": accuracy(outcome.records),
            "The largest errors": worst(outcome.records),
            "The smallest counterexamples": counterexamples(),
        }
    if name == "sensitivity":
        return {"Solved, right and wrong": grid(outcome.records)}
    if name == "ordering":
        return {"Seconds per bound": times(outcome, by_sense=False), "Every claim": claims(outcome.records)}
    if name == "differences":
        return {"Differences": differences(outcome)}
    apart = {"Seconds per bound, lower and upper apart": times(outcome, by_sense=True)} if name == "appendix" else {}
    return {
        "Seconds per bound": times(outcome, by_sense=False),
        **apart,
        "All models together": overall(outcome),
    }


def _conditions(outcome: Outcome) -> str:
    """Say what was measured under which limits, so that no number stands alone."""
    settings, limits = outcome.settings, outcome.settings.limits
    tolerance = "the solvers' own tolerances" if limits.tolerance is None else f"tolerance {limits.tolerance:g}"
    sample = settings.sample or outcome.study.sample
    states = "every state of the paper" if sample is None else f"a sample of {sample} states per model"
    if settings.states:
        states = "the states " + ", ".join(settings.states)
    threads = f"{limits.threads} thread{'' if limits.threads == 1 else 's'}"
    origins = sorted({f"{family(name)}: {origin}" for name, origin in outcome.origins.items()})
    told = " ".join(f"{line}." for line in origins if not line.endswith("as in the paper"))
    left = f" {outcome.left} further bounds are not measured yet." if outcome.left else ""
    return (
        f"{len(outcome.records)} bounds, {states}; {limits.seconds:g} s and {limits.megabytes} MB per bound on "
        f"{threads}, {settings.jobs} at a time, {tolerance}.{left} The paper allowed 3,600 s and 4 GB on "
        "a 64-core workstation with Gurobi 11. Times are seconds inside the solver, as in the paper; the engine's are "
        "seconds per bound of a sweep over every state, everything included. Right: within 1e-6 of the exact value; "
        "wrong: an optimum was claimed that is further off.\n"
    ) + (f"\nThe models. {told}\n" if told else "")


def write_published(data: Path, directory: Path) -> list[Path]:
    """Write the authors' published bounds beside the exact values; returns the files."""
    files = results_under(data)
    found = judged([bound for file in files for bound in read_results(file)], data)
    solved = [j for j in found if j.verdict != "unsolved"]
    tally = {v: sum(j.verdict == v for j in found) for v in ("right", "unattainable", "missed")}
    text = (
        f"# All published bounds against the truth\n\n{len(found)} bounds of {', '.join(f.name for f in files)}; "
        f"{len(solved)} solved, {tally['right']} right to 1e-6, {tally['unattainable']} that no strategy attains, "
        f"{tally['missed']} that some strategy exceeds.\n\n{summary(found).markdown()}\n## Every wrong one\n\n"
        f"{listing(found).markdown()}"
    )
    directory.mkdir(parents=True, exist_ok=True)
    tex = "\n\n".join(table.latex() for table in (summary(found), listing(found)))
    return [_written(directory / "published.md", text), _written(directory / "published.tex", tex)]


def _written(path: Path, text: str) -> Path:
    write_text(path, text)
    return path
