"""Without an extra everything else works, and whoever needs it is told in one sentence which one to install.

Libraries are hidden from a Python of our own, and from the children that it starts: there they cannot be found.
"""

from __future__ import annotations

import os
import site
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

import waypost

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
HIDING = """
import os, sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *more):
        hidden = name.partition(".")[0] in os.environ.get("HIDDEN", "").split(",")
        return None if hidden else self.finder.find_spec(name, *more)
    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
"""
PRISM = 'mdp\nmodule m\n s:[0..1];\n [a] s=0 -> (s\'=1);\nendmodule\nlabel "goal" = s=1;\n'
XES = '<log><trace><event><string key="concept:name" value="a"/></event></trace></log>'
LOG = "case,activity\n1,a\n1,b\n2,a\n"
MIXTURE = """
import pandas, waypost.logs as logs
start = pandas.Timestamp("2020-01-01", tz="UTC")
rows = [{"case": "1", "activity": "a", "timestamp": start, "lifecycle": kind} for kind in ("start", "complete")]
rows[1]["timestamp"] += pandas.Timedelta(seconds=9)
log = logs.read_log(pandas.DataFrame(rows))
for step in (logs.RecipeStep("pair_lifecycle"), logs.RecipeStep("classify_durations", {"mixture": 2})):
    log = step(log)
"""
CELLS = "import numpy; from waypost.agents.cells import clustered; clustered(numpy.eye(4), 2, 1)"
LOAN = "from waypost.cases import loan; import waypost; "
IMPORTANCE = LOAN + "found = waypost.state_importance(loan(), target='Granted', scope='all'); "


@pytest.fixture(scope="session")
def python(tmp_path_factory):
    """A Python with what this one has, from which libraries can be hidden."""
    home = tmp_path_factory.mktemp("hiding")
    venv.create(home, symlinks=True)
    packages = next(home.glob("lib/python*/site-packages"))
    roots = [str(Path(waypost.__file__).parents[1]), *site.getsitepackages(), *sys.path]
    (packages / "hiding.py").write_text(HIDING)
    lines = [
        f"import site; site.addsitedir({root!r})" for root in dict.fromkeys(roots) if root.endswith("site-packages")
    ]
    (packages / "first.pth").write_text("\n".join([roots[0], *lines, "import hiding", ""]))
    return home / "bin" / "python"


@pytest.fixture
def run(python, tmp_path):
    """Run Waypost, or a program, where libraries are hidden; there are some files."""
    for name, content in {"model.prism": PRISM, "log.xes": XES, "log.csv": LOG}.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "log.parquet").write_bytes(b"PAR1")

    def run(*arguments: str, hidden: str) -> subprocess.CompletedProcess[str]:
        program = ["-m", "waypost", *arguments] if len(arguments) > 1 else ["-c", arguments[0]]
        environment = {**os.environ, "HIDDEN": hidden}
        return subprocess.run(
            [python, *program], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )

    return run


NEEDED = [  # extra, library, and what needs it: a command, or a program
    ("storm", "stormpy", ["explain", "model.prism", "--target", "goal"]),
    ("table", "openpyxl", ["explain", "loan", "-o", "x.xlsx"]),
    ("table", "pyarrow", ["explain", "loan", "-o", "x.parquet"]),
    ("table", "pandas", [IMPORTANCE + "found.to_frame()"]),
    ("logs", "pandas", ["explain", "loan-log"]),
    ("logs", "pandas", ["learn", "log.xes"]),
    ("logs", "pandas", ["log", "log.csv"]),
    ("logs", "pandas", ["from waypost.logs import EventLog; EventLog.from_sequences([['a']])"]),
    ("logs", "sklearn", [MIXTURE]),
    ("plot", "matplotlib", ["explain", "loan", "--plot", "x.png"]),
    ("plot", "matplotlib", [IMPORTANCE + "found.plot()"]),
    (
        "solvers",
        "highspy",
        ["encode", "-t", "Granted", "--state", "Error", "--encoding", "LP-all", "--solver", "highs"],
    ),
    ("solvers", "pyscipopt", ["encode", "-t", "Granted", "--state", "Error", "--encoding", "QP", "--solver", "scip"]),
    ("gurobi", "gurobipy", ["encode", "-t", "Granted", "--state", "Error", "--encoding", "LP*", "--solver", "gurobi"]),
    ("gym", "gymnasium", ["explain", "gym:FrozenLake-v1"]),
    ("gym", "minigrid", ["explain", "gym:MiniGrid-Empty-5x5-v0"]),
    ("graphs", "networkx", [LOAN + "from waypost.formats.graphs import to_networkx; to_networkx(loan())"]),
    ("engines", "ibis", ["log", "log.parquet"]),
    ("engines", "duckdb", ["log", "log.parquet"]),
    ("engines", "psycopg", ["log", "postgresql://localhost/db#events"]),
    ("cluster", "distributed", ["explain", "loan-log", "--bootstrap", "2", "--cluster", "tcp://localhost:1"]),
    ("spark", "pyspark", ["log", "spark://local#events"]),
    ("agents", "torch", ["from waypost.agents import hidden_layer; hidden_layer(object())"]),
    ("agents", "sklearn", [CELLS]),
]
QUICKER = {"exact"}  # nothing needs it: numbers are the same, and sooner there
GATHERED = {"all", "dev"}


@pytest.mark.parametrize(("extra", "library", "what"), NEEDED, ids=[f"{extra}-{lib}" for extra, lib, _ in NEEDED])
def test_what_an_extra_brings_is_asked_for_by_its_name(run, extra, library, what, tmp_path):
    """Law: one sentence that says what to install, and no file half-written."""
    before = {path.name for path in tmp_path.iterdir()}
    done = run(*what, hidden=library)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith(f"needs {library}, which is not installed; run: pip install 'waypost[{extra}]'")
    if len(what) > 1:
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == before


def test_every_extra_is_missed_by_somebody():
    assert {extra for extra, _, _ in NEEDED} == set(EXTRAS) - QUICKER - GATHERED


@pytest.mark.parametrize(("extra", "library"), sorted({(extra, library) for extra, library, _ in NEEDED}))
def test_what_a_sentence_tells_to_install_brings_the_library(extra, library):
    brought = " ".join(EXTRAS[extra])
    names = {"sklearn": "scikit-learn", "ibis": "ibis-framework", "torch": "stable-baselines3"}
    assert names.get(library, library) in brought


def test_a_model_needs_no_extra(run):
    """With core dependencies alone a model is checked, explained, and reported in words, tables and a page."""
    hidden = ",".join({library for _, library, _ in NEEDED} | {"flint", "pygraphviz", "lxml", "aalpy"})
    done = run("check", "loan", hidden=hidden)
    assert done.returncode == 0, done.stderr
    assert "10 states" in done.stdout
    for ending in ("html", "json", "csv", "md", "txt"):
        done = run("explain", "loan", "--target", "Granted", "-o", f"x.{ending}", hidden=hidden)
        assert done.returncode == 0, done.stderr


def test_exact_numbers_and_pictures_do_without_their_quicker_libraries(run, tmp_path):
    """python-flint and Graphviz make it faster and prettier; the answer is there without them."""
    pytest.importorskip("matplotlib")
    done = run("explain", "loan", "--exact", "--plot", "x.png", hidden="flint,pygraphviz")
    assert done.returncode == 0, done.stderr
    assert "21/40 to 1" in done.stdout
    assert (tmp_path / "x.png").stat().st_size > 1000
