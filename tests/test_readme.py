"""Every command in the README runs as printed, and prints what is printed there."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def console_blocks() -> list[tuple[str, str]]:
    """Commands of the README with the output printed below them."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().strip("\n").splitlines()]


@pytest.mark.parametrize(("command", "output"), console_blocks(), ids=lambda text: text[:60])
def test_a_command_of_the_readme_prints_what_it_says(command, output, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from waypost.cli import main; main()", *shlex.split(command)[1:]],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "120"},
    )
    assert done.returncode == 0, done.stderr
    if output.strip():
        assert trimmed(done.stdout) == trimmed(output)


def test_the_python_of_the_readme_gives_what_it_says():
    failed, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert tried > 5
    assert failed == 0


def test_every_file_the_readme_links_to_is_there():
    for link in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / link).exists(), link
