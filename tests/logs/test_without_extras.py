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


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = CODE.format(blocked=BLOCKED, arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


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
