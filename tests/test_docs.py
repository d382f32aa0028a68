"""Every command and every snippet in the README and the docs runs as printed."""

from __future__ import annotations

import atexit
import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import cache
from itertools import groupby
from pathlib import Path

import click
import pytest

from reader import furnish
from servers import dask, postgresql
from waypost.cases import loan_log
from waypost.cli import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
LONG = {"bench"}  # minutes to hours, and nothing to make it shorter: its options are checked
OURS = {"postgres://analyst@db.example.org/crm": "postgres", "tcp://scheduler:8786": "cluster"}  # servers of a page


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


def shortened(words: list[str]) -> list[str]:
    """A study of the paper as it is printed, of its first model, for as long as a moment."""
    if words[0] != "reproduce" or words[1] == "published":
        return words
    models = [k for k, word in enumerate(words) if word == "--model"]
    limits = [k for k, word in enumerate(words) if word in ("--budget", "--time-limit")]
    kept = [word for k, word in enumerate(words) if not any(k in (at, at + 1) for at in (*models[1:], *limits))]
    sample = [] if {"--sample", "--state"} & set(words) else ["--sample", "1"]
    return [*kept, *sample, "--budget", "0.1", "--time-limit", "0.2", "--generated", "--quiet"]


def servers_for(words: list[str], have: ExitStack) -> dict[str, str] | None:
    """Servers of our own in the place of those that a command names; None where there is none of the kind here."""
    found = {}
    for address, kind in OURS.items():
        if any(address in word for word in words):
            try:
                found[address] = have.enter_context(dask()).address if kind == "cluster" else _table(have)
            except pytest.skip.Exception:
                return None
    needs_spark = any(word.startswith("spark://") for word in words)
    return None if needs_spark and importlib.util.find_spec("pyspark") is None else found


def _table(have: ExitStack) -> str:
    """A PostgreSQL with the table of the page in it."""
    address = have.enter_context(postgresql())
    log = loan_log(240).spoken_as({"Pay out": "Paid"}, "as the page calls it").events
    import psycopg

    with psycopg.connect(address) as server, server.cursor() as cursor:
        cursor.execute("CREATE TABLE events (case_id text, activity text, at timestamptz)")
        rows = zip(log["case:concept:name"], log["concept:name"], log["time:timestamp"], strict=True)
        cursor.executemany("INSERT INTO events VALUES (%s, %s, %s)", [(a, b, str(c)) for a, b, c in rows])
    return address


def given(pages: list[Path]) -> list[tuple[str, str, str | None]]:
    return [(page.name, command, output) for page in pages for command, output in commands(page)]


def trimmed(text: str) -> list[str]:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").splitlines()


@pytest.mark.parametrize(
    ("page", "steps"),
    [(name, [s[1:] for s in some]) for name, some in groupby(given(PAGES), key=lambda one: one[0])],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_the_commands_of_a_page_run_one_after_the_other_and_print_what_it_says(page, steps):
    """A page is a session: its commands may read what its Python and earlier commands wrote."""
    folder = played(page)[0]
    furnish(folder, page)
    ran = 0
    for command, output in steps:
        words = shlex.split(command)[1:]
        check_options(command)
        with ExitStack() as have:
            servers = servers_for(words, have)
            if words[0] in LONG or servers is None:
                continue
            for ours, theirs in servers.items():
                words = [word.replace(ours, theirs) for word in words]
            done = subprocess.run(
                [sys.executable, "-m", "waypost", *shortened(words)],
                capture_output=True,
                text=True,
                cwd=folder,
                check=False,
                encoding="utf-8",
                env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "120"},
            )
        assert done.returncode == 0, f"{page}: {command}\n{done.stderr}"
        ran += 1
        if output is not None:
            assert trimmed(done.stdout) == trimmed(output), f"{page}: {command}"
    assert ran >= len(steps) - 2  # a cluster and a database may be missing here, no more


SESSIONS = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]


@cache
def played(page: str) -> tuple[Path, doctest.TestResults | None]:
    """Folder in which the Python of a page has run, and how that went."""
    folder, before = Path(tempfile.mkdtemp(prefix="waypost-docs-")), Path.cwd()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = next(path for path in PAGES if path.name == page)
    if path not in SESSIONS:
        return folder, None
    os.chdir(folder)
    try:
        return folder, doctest.testfile(
            str(path), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS
        )
    finally:
        os.chdir(before)


@pytest.mark.parametrize("page", [page.name for page in SESSIONS])
def test_the_python_of_a_page_gives_what_it_says(page):
    for library in ("stormpy", "networkx", "aalpy", "gymnasium", "minigrid", "matplotlib"):
        pytest.importorskip(library)
    result = played(page)[1]
    assert result.attempted > 2
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_python_and_no_command_of_a_page_is_left_out(page):
    """Law: Python has prompts, and commands stand where they are run: in console blocks, or indented."""
    text = page.read_text(encoding="utf-8")
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        assert kind != "python" or ">>> " in block, block
        assert kind in {"console", "sh", "bash"} or not re.search(r"^\$? ?waypost ", block, re.MULTILINE), block


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_a_page_links_to_is_there(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", text):
        assert (page.parent / link).exists(), link
