"""Without the extras everything else works, and a log says which extra it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = ("pandas", "lxml", "aalpy", "sklearn")
CODE = """
import sys
for name in {blocked!r}:
    sys.modules[name] = None
from waypost.cli import main
main({arguments!r})
"""


def run(*arguments: str, blocked: tuple[str, ...] = BLOCKED, cwd: object = None) -> subprocess.CompletedProcess[str]:
    code = CODE.format(blocked=blocked, arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=cwd)


def test_a_model_needs_no_extra():
    done = run("check", "loan")
    assert done.returncode == 0, done.stderr
    assert "10 states" in done.stdout


@pytest.mark.parametrize("arguments", [("explain", "loan-log"), ("learn", "log.xes")])
def test_a_log_says_what_it_needs(arguments, tmp_path):
    log = tmp_path / "log.xes"
    log.write_text('<log><trace><event><string key="concept:name" value="a"/></event></trace></log>')
    done = run(arguments[0], str(log) if arguments[0] == "learn" else arguments[1])
    assert done.returncode == 2
    assert "which is not installed; run: pip install 'waypost[logs]'" in done.stderr


@pytest.mark.parametrize(
    ("library", "extra", "arguments"),
    [
        ("stormpy", "storm", ["explain", "model.prism", "--target", "goal"]),
        ("matplotlib", "plot", ["explain", "loan", "--plot", "x.png"]),
        ("openpyxl", "table", ["explain", "loan", "-o", "x.xlsx"]),
        ("pyarrow", "table", ["explain", "loan", "-o", "x.parquet"]),
    ],
)
def test_what_an_extra_brings_is_asked_for_by_its_name(library, extra, arguments, tmp_path):
    """One sentence, and no file half-written."""
    text = 'mdp\nmodule m\n s:[0..1];\n [a] s=0 -> (s\'=1);\nendmodule\nlabel "goal" = s=1;\n'
    (tmp_path / "model.prism").write_text(text)
    done = run(*arguments, blocked=(library,), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith(f"needs {library}, which is not installed; run: pip install 'waypost[{extra}]'\n")
    assert [path.name for path in tmp_path.iterdir()] == ["model.prism"]


def test_exact_numbers_and_pictures_do_without_their_quicker_libraries(tmp_path):
    """python-flint and Graphviz make it faster and prettier; the answer is there without them."""
    done = run("explain", "loan", "--exact", "--plot", "x.png", blocked=("flint", "pygraphviz"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "21/40 to 1" in done.stdout
    assert (tmp_path / "x.png").stat().st_size > 1000
