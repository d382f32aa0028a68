"""Odd input and odd surroundings are one sentence and exit code 2, or do not matter at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from waypost import cli
from waypost.cases import loan
from waypost.errors import LogError, WaypostError
from waypost.formats import read_mdp, reading
from waypost.formats.strategies import read_strategy
from waypost.graph.compiled import kernel
from waypost.logs import read_actors, read_log, read_recipe, read_traces

DIGITS, DEEP = "9" * 5000, "[" * 3000
RECIPES = {
    "a list for a step": '[[step]]\ndo = ["x"]',
    "a table for a step": "[[step]]\ndo = {x = 1}",
    "a number for a step": f"[[step]]\ndo = 0x{'f' * 5000}",
    "a long integer": f"eps = {DIGITS}",
    "a long hexadecimal": f"eps = 0x{'f' * 5000}",
    "a long parameter": f'[[step]]\ndo = "drop_events"\nnames = 0x{"f" * 5000}',
    "many brackets": f"choosing = {DEEP}",
    "brackets that close": f"choosing = {DEEP}{']' * 3000}",
    "a long title": f"title = 0x{'f' * 5000}",
    "a number for naming": f"naming = 0x{'f' * 5000}",
    "a list for naming": "naming = [[1]]",
    "half a character": 'title = "\\ud800"',
    "an odd column": f"[columns]\ncase = 0x{'f' * 5000}",
    "a table for actors": "actors = 3",
    "an actor that is a number": f'[actors]\n"a" = 0x{"f" * 5000}',
}
JSONS = {
    "a long integer": f"[{DIGITS}]",
    "a long integer inside": f'[["start", [{DIGITS}, "a"]]]',
    "a long integer by name": f'{{"a": {DIGITS}}}',
    "many brackets": DEEP * 40,
    "many braces": '{"a":' * 100_000,
    "nothing": "",
    "NaN": "NaN",
    "a lone surrogate": '[["\\ud800", ["a", 3]]]',
}


@pytest.mark.parametrize("text", RECIPES.values(), ids=RECIPES)
def test_an_odd_recipe_is_one_sentence(text, tmp_path):
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(WaypostError) as error:
        read_recipe(tmp_path / "r.toml")
    assert len(str(error.value)) < 2000


@pytest.mark.parametrize("read", [read_actors, read_traces])
@pytest.mark.parametrize("text", JSONS.values(), ids=JSONS)
def test_odd_actors_and_traces_are_one_sentence(text, read, tmp_path):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(WaypostError) as error:
        read(tmp_path / "a.json")
    assert len(str(error.value)) < 2000


@pytest.mark.parametrize("path", ["s0\nApply", "s0\rApply", "s0\0", '"', "", "\x1b[2J", '"s0"x,y', "\ud800"])
def test_control_characters_in_a_path_are_one_sentence(path, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["path", "-t", "Granted", "--path", path])
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert said.startswith("waypost: ")
    assert said.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read by anybody")
@pytest.mark.parametrize("name", ["log.csv", "log.xes", "model.drn", "traces.json"])
def test_an_unreadable_file_is_one_sentence(name, tmp_path, capsys):
    (tmp_path / name).symlink_to("/proc/self/mem")  # opens, and then there is an input/output error
    with pytest.raises(SystemExit) as stop:
        cli.main(["explain", str(tmp_path / name), "-t", "x"])
    assert stop.value.code == 2
    assert "cannot read" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["m.json", "log.csv", "log.xes", "r.toml"])
def test_a_fifo_that_nobody_writes_into_is_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "PATIENCE", 0.2)
    os.mkfifo(tmp_path / name)
    read = {"m.json": read_mdp, "r.toml": read_recipe}.get(name, read_log)
    with pytest.raises(WaypostError, match="nobody has opened this FIFO"):
        read(tmp_path / name)


def test_a_fifo_with_a_writer_is_a_file(tmp_path):
    os.mkfifo(tmp_path / "log.csv")
    text = "case,activity\n1,a\n1,b\n"
    writer = threading.Thread(target=lambda: (tmp_path / "log.csv").write_text(text))
    writer.start()
    assert read_log(tmp_path / "log.csv").sequences() == [("a", "b")]
    writer.join(10)


TINY = {
    "m.json": '{"format": "waypost-mdp", "initial": "s", "states": {"s": {"a": {"t": 1e-400, "s": 1}}, "t": {}}}',
    "m.drn": "@type: MDP\n@parameters\n\n@reward_models\n\n@nr_states\n2\n@model\nstate 0 init\n\taction a\n\t\t0 : 1\n"
    "\t\t1 : 1e-400\nstate 1\n\taction b\n\t\t1 : 1\n",
    "m.tra": "2 2 3\n0 0 0 1 a\n0 0 1 1e-400 a\n1 0 1 1 b\n",
}


@pytest.mark.parametrize("name", TINY)
def test_a_probability_that_is_too_small_for_a_float_is_not_lost(name, tmp_path):
    """What is possible stays possible, or is refused by name; it never becomes "no strategy reaches it"."""
    (tmp_path / name).write_text(TINY[name])
    try:
        mdp = read_mdp(tmp_path / name)
    except WaypostError as error:
        assert "too small" in str(error)  # noqa: PT017
    else:
        assert mdp.transitions[0].nnz == 2
    assert read_mdp(tmp_path / name, exact=True).transitions[0].nnz == 2


def run(command: str, folder, **options) -> subprocess.CompletedProcess:
    waypost = f"{sys.executable} -m waypost"
    return subprocess.run(
        ["/bin/bash", "-c", command.replace("waypost", waypost, 1)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("waypost explain --format json | head -c 5; exit ${PIPESTATUS[0]}", 0, ""),
        ("waypost explain > full", 2, "waypost: cannot write to standard output: No space left on device\n"),
        ("waypost explain --format csv > full", 2, "waypost: cannot write to standard output: No space left"),
        ("waypost check >&-", 0, ""),
        ("waypost explain -t nothing 2>&-", 2, ""),
        ("waypost explain -t nothing 2> full", 2, ""),
    ],
)
def test_an_output_that_is_full_or_closed_is_no_traceback(command, code, said, tmp_path):
    if "full" in command:
        full = tmp_path / "full"
        if os.geteuid() == 0:
            os.mknod(full, 0o666 | 0o020000, os.makedev(1, 7))  # a full disk of our own
        elif Path("/dev/full").exists():
            full.symlink_to("/dev/full")
        else:
            pytest.skip("there is no device that is always full")
    done = run(command, tmp_path)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert bool(done.stderr) == bool(said)


def damaged(folder: Path, how: str) -> None:
    for path in [*folder.rglob("*.nbi"), *folder.rglob("*.nbc")]:
        content = bytearray(path.read_bytes())
        if how == "cut":
            path.write_bytes(content[: len(content) // 2])
        elif how == "empty":
            path.write_bytes(b"")
        elif how == "garbage":
            path.write_bytes(b"\x80garbage" * 100)
        elif path.suffix == ".nbc":  # flipped bits in the machine code
            content[len(content) // 2] ^= 0xFF
            path.write_bytes(content)


TOTAL = """
from waypost.graph.compiled import kernel
@kernel
def total(numbers):
    result = 0.0
    for number in numbers:
        result += number
    return result
"""


def total_of(folder: Path, name: str) -> float:
    """Compile and run a kernel of a module in a folder, as a new process would."""
    space: dict = {"__name__": name}
    (folder / f"{name}.py").write_text(TOTAL)
    exec(compile(TOTAL, str(folder / f"{name}.py"), "exec"), space)  # noqa: S102
    return float(space["total"].compiled(np.ones(3)))


@pytest.mark.parametrize("how", ["cut", "empty", "garbage", "flipped"])
def test_a_damaged_cache_of_machine_code_is_made_again(how, tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "cache"))
    assert total_of(tmp_path, "module") == 3
    kept = list((tmp_path / "cache").rglob("*.nbc"))
    assert kept
    good = {path: path.read_bytes() for path in kept}
    damaged(tmp_path / "cache", how)
    assert total_of(tmp_path, "module") == 3
    assert all(len(path.read_bytes()) > 100 for path in good)
    assert total_of(tmp_path, "module") == 3


def test_a_cache_on_a_full_disk_is_no_cache(tmp_path, monkeypatch):
    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._open_for_write", full)
    assert total_of(tmp_path, "module") == 3


def test_no_place_for_a_cache_is_no_cache(monkeypatch):
    def nowhere(*_args, **_options):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.core.caching.FunctionCache.__init__", nowhere)

    @kernel
    def last(numbers):
        return numbers[-1]

    assert last.compiled(np.arange(3.0)) == 2


@pytest.mark.parametrize(
    "given", [{"delimiter": "(a+)+b"}, {"encoding": "hex"}, {"encoding": "x" * 9999}, {"time_format": "%Q"}]
)
def test_odd_ways_to_read_a_table_are_one_sentence(given, tmp_path):
    (tmp_path / "log.csv").write_text("case,activity,time\n1,a,2020-01-01\n")
    with pytest.raises(LogError) as error:
        read_log(tmp_path / "log.csv", **given)
    assert len(str(error.value)) < 500


CHOICES = ['{"labels": 0.5}', f'{{"prob": 1{"0" * 400}}}', '{"prob": 1e999}', '{"index": [1]}', "[]", '{"prob": NaN}']


@pytest.mark.parametrize("choice", CHOICES)
def test_an_odd_scheduler_is_one_sentence(choice, tmp_path):
    (tmp_path / "s.json").write_text(f'[{{"s": 0, "c": [{choice}]}}]')
    with pytest.raises(WaypostError) as error:
        read_strategy(loan(), tmp_path / "s.json")
    assert len(str(error.value)) < 500


def test_a_memory_that_is_too_small_is_one_sentence(monkeypatch, capsys):
    def starved(*_args, **_options):
        raise MemoryError

    monkeypatch.setattr("waypost.cli.source.read_mdp", starved)
    with pytest.raises(SystemExit) as stop:
        cli.main(["check", "some.drn"])
    assert stop.value.code == 2
    assert "not enough memory" in capsys.readouterr().err
