"""Whatever names hold, a terminal shows them and obeys none; a name of ten megabytes is told in a moment."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
import unicodedata

import pytest

NASTY = "a\x1b]0;owned\x07\x1b[2J\u202egnp\u2066\x00\x9b31m\u2028z\x7f"
OURS = re.compile("\x1b\\[(?:[0-9;]*m|\\?25[lh]|2K|1A)|\r")  # colours; the cursor and line of a sign of life
FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def shown_on_terminal(arguments, folder) -> tuple[int, str]:
    """Run a command with a terminal for its output and errors; its exit code, and all that the terminal received."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "waypost", *arguments],
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(theirs)
    received = b""
    try:
        while part := os.read(ours, 65536):
            received += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return child.wait(60), received.decode("utf-8", "replace")


def obeyed(text: str) -> set[str]:
    """Find the characters that a terminal would act upon, beside our own."""
    plain = OURS.sub("", text)
    return {repr(c) for c in plain if unicodedata.category(c) in FORBIDDEN and c != "\n"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("nasty")
    far, end = "far " + NASTY, "end " + NASTY
    model = {
        "format": "waypost-mdp",
        "initial": NASTY,
        "states": {NASTY: {"go " + NASTY: {end: 0.5, NASTY: 0.5}, "stay": NASTY}, end: {}, far: {}},
        "labels": {"goal " + NASTY: [end], "goal": [end]},
    }
    (where / "model.json").write_text(json.dumps(model))
    wrong = json.loads(json.dumps(model))
    wrong["states"][NASTY]["stay"] = "nowhere " + NASTY
    (where / "wrong.json").write_text(json.dumps(wrong))
    odd = NASTY.replace("\x00", "").replace("\u2028", "")
    rows = [f"{k},{name},{odd}" for k in range(30) for name in ("ask", "go " + odd, "pay" if k % 2 else "leave")]
    (where / "log.csv").write_text("\n".join(["case,activity,lifecycle", *rows]), encoding="utf-8")
    (where / "steps.toml").write_text('[[step]]\ndo = "keep_lifecycle"\nnames = ["*"]\n')
    (where / "strategy.json").write_text(json.dumps({NASTY: {"none " + NASTY: 1}}))
    return where


COMMANDS = [
    ("check", "model.json"),
    ("explain", "model.json", "-t", "goal"),
    ("explain", "model.json", "-t", "goal", "--format", "text"),
    ("explain", "model.json", "-t", "goal", "--format", "markdown"),
    ("explain", "model.json", "-t", "goal", "--format", "csv"),
    ("explain", "model.json", "-t", "goal", "--format", "json"),
    ("explain", "model.json", "-t", "goal", "--json", "-"),
    ("explain", "model.json", "-t", "goal", "--csv", "-"),
    ("explain", "model.json", "-t", "gaol"),
    ("explain", "model.json", "-t", "goal", "--strategy", "strategy.json"),
    ("path", "model.json", "-t", "goal", "--path", "x"),
    ("convert", "model.json", "model.tra"),
    ("check", "wrong.json"),
    ("learn", "log.csv"),
    ("explain", "log.csv", "-t", "pay", "--bootstrap", "2", "--match", "label"),
    ("explain", "log.csv", "-t", "nothing"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_output_drives_the_terminal(arguments, folder):
    code, text = shown_on_terminal(arguments, folder)
    assert code in (0, 2)
    assert text.strip()
    assert "Traceback" not in text
    assert obeyed(text) == set()


def test_data_in_a_pipe_is_left_as_it_is(folder):
    """Programs get the names that the file has."""
    command = [sys.executable, "-m", "waypost", "explain", "model.json", "-t", "goal", "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=60)
    assert NASTY in [state["name"] for state in json.loads(done.stdout)["states"]]


@pytest.mark.parametrize("command", [("check",), ("explain", "-t", "goal"), ("explain", "-t", "gaol")], ids=" ".join)
def test_a_name_of_ten_megabytes_is_shown_by_its_beginning(command, tmp_path):
    name = "x" * 10_000_000
    model = {
        "format": "waypost-mdp",
        "initial": name,
        "states": {name: {"go": "t"}, "t": {}},
        "labels": {"goal": ["t"]},
    }
    (tmp_path / "m.json").write_text(json.dumps(model))
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "waypost", command[0], "m.json", *command[1:]],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, 2)
    assert b"Traceback" not in done.stderr
    assert len(done.stdout) + len(done.stderr) < 300_000
    assert time.monotonic() - started < 20
