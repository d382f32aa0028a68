"""Large logs and models, measured: ``python -m waypost.paper.bench.scale [SECTION ...]``; writes into docs/scale.md.

Sections are *events* (from a log to an explanation, beside pm4py), *states* (the most important hundred, proved),
*reading* (DRN, UMB and PRISM beside Storm) and *learning*. Every row of a table is a process of its own, whose time,
processor time and greatest memory are what the system says. pm4py has a licence of its own and is not installed with
us: ``--pm4py PYTHON`` names an interpreter that has it, with pandas and pyarrow.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from waypost.paper.bench.scale_ways import NEEDED, WAYS, write_models, write_process

SIZES = {"events": 1_000_000, "states": 1_000_000, "reading": 1_000_000, "learning": 30_000}
SMALL = "256MB"  # what DuckDB may use where it is shown that memory does not grow with events
PARTS = (10, 3, 1)  # of a log: a tenth, a third, the whole
ENDINGS = (".parquet", ".csv")
FIRST = "first"  # a small model that is read before the one that counts
TRIES = 3  # processes that read, of which the best counts


@dataclass(frozen=True)
class ChildRun:
    """One process: how long it took, how long its processors worked, in all and without starting, and its memory."""

    way: str
    about: str  # kind of file, or size
    seconds: float
    processor: float
    own: float
    memory: float  # GB
    found: str


def measured(
    section: str, way: str, given: str, about: str, *, python: str = sys.executable, **limits: str
) -> ChildRun:
    """Measure a process that does this and nothing else."""
    begun = time.perf_counter()
    command = [python, "-W", "ignore", "-m", __spec__.name, "--child", section, way, given]
    source = str(Path(__file__).parents[3])  # where waypost is, for an interpreter that does not have it
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH", "")]))
    ran = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path, **limits}
    )
    return ChildRun(about=about, seconds=time.perf_counter() - begun, **json.loads(ran.stdout.splitlines()[-1]))


def child(section: str, way: str, given: str) -> dict[str, object]:
    """Do what one row of a table is about; before it reads a model, it has all it needs and has read another one."""
    if section == "reading":
        for module in NEEDED[way]:
            importlib.import_module(module)
        WAYS[section][way](str(Path(given).with_stem(FIRST)))
    before = _processor()
    found = WAYS[section][way](given)
    used = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    status = Path("/proc/self/status")
    if status.exists():  # elsewhere the memory of whoever started us may count as ours
        used[0] = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    now = _processor()
    return {"way": way, "processor": now, "own": now - before, "memory": max(used) / 1e6, "found": found}


def _processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def events(cases: int, pm4py: str | None) -> Iterator[str]:
    """From a log to an explanation, and what that does to memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        count = write_process(cases, path)
        ways = [("waypost", sys.executable), ("waypost log", sys.executable)] + [("pm4py", p) for p in [pm4py] if p]
        rows = [
            measured("events", way, f"{path}{ending}", ending, python=python)
            for way, python in ways
            for ending in ENDINGS
        ]
        limited = [_limited(cases // part, Path(folder) / f"part{part}") for part in PARTS]
    yield _table(rows, f"{count:,} events in {cases:,} cases", "file")
    for ending in ENDINGS:
        ours, *theirs = [row for row in rows if row.about == ending and row.way in ("waypost", "pm4py")]
        yield from (
            f"* {ending}: pm4py, which reads and filters only, {_ratio(row, ours)} of Waypost's." for row in theirs
        )
    yield _table(limited, f"Parquet with `WAYPOST_MEMORY={SMALL}`", "events")
    for less, more in pairwise(limited):
        yield f"* From {less.about} to {more.about}: {more.memory / less.memory:.2f} times the memory."
    minutes = 1e9 / count * limited[-1].processor / 60  # so many would not fit, either
    yield f"* *Extrapolated, not measured:* 10^9 events in Parquet, {minutes:.0f} minutes of processor time."


def _limited(cases: int, path: Path) -> ChildRun:
    """Measure an explanation where DuckDB has little memory."""
    count = write_process(cases, path)
    return measured("events", "waypost", f"{path}.parquet", f"{count:,} events", WAYPOST_MEMORY=SMALL)


def states(size: int, _: str | None) -> Iterator[str]:
    """The most important hundred states, proved; making the model included."""
    rows = [measured("states", way, str(size), f"{size:,}") for way in WAYS["states"]]
    yield _table(rows, f"{size:,} states", "states")
    longest, largest = max(row.processor for row in rows) / 60, max(row.memory for row in rows)
    yield (
        f"* *Extrapolated, not measured:* 10^7 states, {1e7 / size * longest:.0f} minutes of processor time and "
        f"{1e7 / size * largest:.0f} GB."
    )


def reading(size: int, _: str | None) -> Iterator[str]:
    """Reading DRN and UMB, and building from PRISM, beside Storm."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_models(100, Path(folder) / FIRST)
        sizes = [n for n in (size // 1000, size // 100, size // 10, size) if n >= 1000]
        for n in sizes:
            write_models(n, path := Path(folder) / f"model{n}")
            for ending in (".drn", ".umb", *([".prism"] if n == size else [])):
                ways = ("waypost", "Storm", *(["Storm, with names"] if ending == ".prism" else []))
                given = str(path.with_suffix(ending))
                rows.append([_best(way, given, f"{n:,}, {ending}") for way in ways])
    yield _table([row for group in rows for row in group], f"Up to {size:,} states", "states, file", own=True)
    for ours, *theirs in rows:
        yield f"* {ours.about}: " + ", ".join(f"{ours.own / row.own:.2f} times {row.way}" for row in theirs) + "."


def _best(way: str, given: str, about: str) -> ChildRun:
    """Measure a reading some times; what is more than the least is other people's work."""
    return min((measured("reading", way, given, about) for _ in range(TRIES)), key=lambda run: run.own)


def learning(size: int, _: str | None) -> Iterator[str]:
    """Learning from sessions that are all different; making them up included."""
    rows = [measured("learning", way, str(size), f"{size:,}") for way in WAYS["learning"]]
    yield _table(rows, f"{size:,} sessions", "sessions")


SECTIONS = {"events": events, "states": states, "reading": reading, "learning": learning}


def _ratio(row: ChildRun, ours: ChildRun) -> str:
    return (
        f"takes {row.seconds / ours.seconds:.1f} times the seconds, {row.processor / ours.processor:.1f} times the "
        f"processor seconds and {row.memory / ours.memory:.1f} times the memory"
    )


def _table(rows: Sequence[ChildRun], head: str, about: str, *, own: bool = False) -> str:
    """Measurements as Markdown; where it is asked for, processors are counted without starting the process."""
    load = f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the end, {time.strftime('%d %B %Y')}"
    worked = "processor seconds, without starting" if own else "processor seconds"
    lines = [
        "",
        f"{head}; {load}",
        "",
        f"| what | {about} | seconds | {worked} | memory (GB) | found |",
        "|---" * 6 + "|",
    ]
    for r in rows:
        numbers = f"{r.seconds:.1f} | {f'{r.own:.4f}' if own else f'{r.processor:.1f}'} | {r.memory:.2f}"
        lines.append(f"| {r.way} | {r.about} | {numbers} | {r.found} |")
    return "\n".join([*lines, ""])


def placed(page: str, section: str, text: str) -> str:
    r"""Page with a section's measurements in the place that its two comments mark.

    >>> placed("a <!-- events -->old<!-- /events --> b", "events", "new")
    'a <!-- events -->\nnew\n<!-- /events --> b'
    """
    begin, end = f"<!-- {section} -->", f"<!-- /{section} -->"
    found = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{text}\n{end}", page, flags=re.DOTALL)
    if begin not in page:
        raise SystemExit(f"the page has no place for {section}: {begin} ... {end}")
    return found


def main() -> None:
    """Measure, print, and write into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; all without")
    parser.add_argument("--size", type=int, help="cases, states or sessions, in place of the usual number")
    parser.add_argument("--pm4py", metavar="PYTHON", help="an interpreter with pm4py, pandas and pyarrow")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="put the tables into this page")
    parser.add_argument("--child", nargs=3, metavar=("SECTION", "WAY", "GIVEN"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        sys.stdout.write(json.dumps(child(*given.child)) + "\n")
        return
    for section in given.sections or SECTIONS:
        if section not in SECTIONS:
            parser.error(f"no section {section!r}; there are {', '.join(SECTIONS)}")
        pm4py = given.pm4py or (sys.executable if importlib.util.find_spec("pm4py") else None)
        text = "\n".join(SECTIONS[section](given.size or SIZES[section], pm4py))
        sys.stdout.write(text + "\n\n")
        if given.output is not None:
            given.output.write_text(placed(given.output.read_text(encoding="utf-8"), section, text), encoding="utf-8")


if __name__ == "__main__":
    main()
