"""From the text of a model to an answer: one command of ours beside one process of Storm's, starting included.

The importance of a set of states over all strategies, both bounds: ``waypost explain``, and a script that does nothing
but let Storm parse, build and answer both conditional queries. The best of a few runs counts, for both, after one that
does not: in it all machine code is made that ours can use, as after some use of it.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

from waypost.errors import WaypostError
from waypost.formats import read_mdp
from waypost.paper.bench.plan import Plan
from waypost.paper.bench.rows import Cost, Row
from waypost.paper.bench.sides import compared

RUNS = 3
ENOUGH = 4.0  # seconds
STORM = Path(__file__).with_name("storm_script.py")
COMPILING = """
import runpy
from waypost.graph.compiled import eagerly
with eagerly():
    runpy.run_module("waypost", run_name="__main__")
"""


@dataclass(frozen=True)
class Errand:
    """A model, as its file and constants, what is to be reached, and the set whose importance is asked for."""

    title: str
    file: str
    constants: dict[str, str]
    target: str
    among: str


LARGE = (  # the largest of each family of which Storm makes more than a start
    Errand("csma.2-6", "csma/csma.2-6.prism", {}, "min_backoff_after_success<K", "b=2"),
    Errand("csma.3-2", "csma/csma.3-2.prism", {}, '"all_delivered"', '"collision_max_backoff"'),
    Errand("pacman", "pacman/pacman.nm", {"MAXSTEPS": "15"}, '"Crash"', "yP=1"),
    Errand("consensus.4", "consensus/consensus.4.prism", {"K": "4"}, '"finished"&"all_coins_equal_1"', "counter=28"),
    Errand("tireworld.25", "tireworld/tireworld.25.jani", {}, "var15=10", "var15=5"),
    Errand("zeroconf.2", "zeroconf/zeroconf.prism", {"N": "20", "K": "2", "reset": "false"}, "l=4 & ip=1", "coll=3"),
    Errand("zeroconf.4", "zeroconf/zeroconf.prism", {"N": "20", "K": "4", "reset": "false"}, "l=4 & ip=1", "coll=3"),
)


def commands(name: str, plan: Plan) -> Iterator[Row | str]:
    """One row for each of the large models that are there."""
    folder = plan.data / "models/qcomp"
    for errand in LARGE[:1] if plan.quick else LARGE:
        file = folder / errand.file
        if not file.is_file():
            yield f"{name}: skipped, there is no {errand.file} in models/qcomp under {plan.data}"
            continue
        yield _row(errand, file, plan)


def _row(errand: Errand, file: Path, plan: Plan) -> Row:
    model = read_mdp(file, constants=errand.constants, target=errand.target, time_limit=None)
    plan.tell(f"{errand.title}: from its text to an answer, {model.n_states:,} states")
    given = [text for pair in errand.constants.items() for text in ("--const", "=".join(pair))]
    how = [str(file), *given, "--target", errand.target, "--state", errand.among, "--scope", "all", "--csv", "-"]
    first = [sys.executable, "-c", COMPILING, "explain", *how]
    seconds, said = _best([sys.executable, "-m", "waypost", "explain", *how], plan, first)
    (line,) = csv.DictReader(StringIO(said))
    row = Row(
        f"{errand.title}, importance of {errand.among}",
        "from its text to both bounds, scope all",
        model.n_states,
        model.transitions.nnz,
        0,
        Cost(seconds),
    )
    if not plan.use_storm:
        return row
    constants = ",".join("=".join(pair) for pair in errand.constants.items())
    theirs, answered = _best([sys.executable, str(STORM), str(file), constants, errand.target, errand.among], plan)
    return replace(
        row,
        storm=Cost(theirs),
        storm_did="parse, build, both queries",
        **compared([float(x) for x in answered.split()], [float(line["all_lower"]), float(line["all_upper"])]),
    )


def _best(command: Sequence[str], plan: Plan, first: Sequence[str] | None = None) -> tuple[float, str]:
    """Seconds of the fastest of some runs, after one that does not count, the `first`, and what it printed.

    There is one run alone where it takes longer than `ENOUGH`.
    """
    found: list[tuple[float, str]] = []
    for run in range(1 + (1 if plan.quick else RUNS)):
        if sum(seconds for seconds, _ in found[1:]) > ENOUGH:
            break
        started = time.perf_counter()
        asked = command if run or first is None else first
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode:
            raise WaypostError(f"{' '.join(command[1:4])} broke down: {done.stderr.strip()[-300:]}")
        found.append((time.perf_counter() - started, done.stdout))
    return min(found[1:])
