"""Every command and every snippet in the README and the docs runs as printed."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from itertools import groupby, pairwise
from pathlib import Path

import click
import pytest

from waypost.cli import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
LONG = {
    "bench",
    "reproduce",
}  # minutes to hours: their options are checked
DATA = (
    ".csv",
    ".gz",
    ".xes",
    ".parquet",
    ".prism",
    ".drn",
)  # a file called so that is not there is the reader's


def commands(page: Path) -> list[tuple[str, str | None]]:
    """Commands of a page in order, each with the output printed below it, or None where none is printed."""
    found: list[tuple[str, str | None]] = []
    text = page.read_text(encoding="utf-8")
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if kind == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append((command, output if output.strip() else None))
        elif kind in {"sh", "bash"}:
            found += [(line, None) for line in block.splitlines() if line.startswith("waypost ")]
    outside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    found += [(line.strip(), None) for line in re.findall(r"^    waypost .*$", outside, re.MULTILINE)]
    return [(re.sub(r"\s+#.*$", "", command), output) for command, output in found]


def check_options(command: str) -> None:
    """A command that is not run here has the options it is shown with."""
    _, name, *words = shlex.split(command)
    chosen = cli.get_command(click.Context(cli), name)
    assert chosen is not None, command
    chosen.make_context(name, words, resilient_parsing=True)
    known = {option for parameter in chosen.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word.partition("=")[0] for word in words if word.startswith("-") and word != "-"} <= known, command


def is_run(command: str, folder: Path) -> bool:
    """Whether a command takes seconds, and every file it reads was made by the page or needs none."""
    name, *words = shlex.split(command)[1:]
    read = [
        word for before, word in pairwise(["", *words]) if not before.startswith(("-o", "--html", "--csv", "--log"))
    ]
    if any("://" in word for word in words):  # a table or a cluster of the reader's
        return False
    return name not in LONG and all((folder / word).exists() for word in read if word.endswith(DATA))


def given(pages: list[Path]) -> list[tuple[str, str, str | None]]:
    return [(page.name, command, output) for page in pages for command, output in commands(page)]


def trimmed(text: str) -> list[str]:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").splitlines()


@pytest.mark.parametrize(
    ("page", "steps"),
    [(name, [s[1:] for s in some]) for name, some in groupby(given(PAGES), key=lambda one: one[0])],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_the_commands_of_a_page_run_one_after_the_other_and_print_what_it_says(page, steps, tmp_path):
    """A page is a session: later commands may read what earlier ones wrote."""
    for command, output in steps:
        if not is_run(command, tmp_path):
            check_options(command)
            continue
        done = subprocess.run(
            [sys.executable, "-m", "waypost", *shlex.split(command)[1:]],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "120"},
        )
        assert done.returncode == 0, f"{page}: {command}\n{done.stderr}"
        if output is not None:
            assert trimmed(done.stdout) == trimmed(output), f"{page}: {command}"


SESSIONS = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.name)
def test_the_python_of_a_page_gives_what_it_says(page, tmp_path, monkeypatch):
    for library in ("stormpy", "networkx", "aalpy", "gymnasium", "minigrid", "matplotlib"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert result.attempted > 2
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_a_page_links_to_is_there(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", text):
        assert (page.parent / link).exists(), link
