"""The analysis in docs/logs.md runs from the first command to the last, and prints what is printed there."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "logs.md"


def test_the_analysis_runs_as_told(tmp_path):
    """One folder, one command after another: what a command writes the next one reads."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    told = [part.partition("\n")[::2] for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(told) >= 6
    for command, output in told:
        done = subprocess.run(
            [sys.executable, "-m", "waypost", *shlex.split(command)[1:]],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "120"},
        )
        assert done.returncode == 0, done.stderr
        printed = [line.rstrip() for line in done.stdout.strip("\n").splitlines()]
        assert printed == output.rstrip("\n").splitlines(), command


def test_the_python_of_the_page_gives_what_it_says():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried >= 5
    assert failed == 0


def test_every_picture_of_the_page_is_there():
    for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8")):
        assert (PAGE.parent / link).exists(), link
