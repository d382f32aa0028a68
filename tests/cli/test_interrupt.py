"""Ctrl-C stops long work at once, says what was done, and writes nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import waypost.importance
from waypost.cli import main
from waypost.cli.stopping import allowed


def test_an_interrupt_tells_what_was_done(monkeypatch, capsys, tmp_path):
    def interrupted(_mdp, *, progress, **_):
        progress(7)
        raise KeyboardInterrupt

    monkeypatch.setattr(waypost.importance, "explain", interrupted)
    with pytest.raises(SystemExit) as stop:
        main(["explain", "--target", "Granted", "--json", str(tmp_path / "never.json")])
    assert stop.value.code == 130
    assert capsys.readouterr().err == "waypost: interrupted: 7 of 40 bounds were settled; nothing was written\n"
    assert not list(tmp_path.iterdir())


SLOW = """
import signal, sys, time
import waypost.cli.explain, waypost.importance
if "ignored" in sys.argv:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a shell
def slow(_mdp, *, progress, **_):
    progress(7)
    time.sleep(60)
waypost.importance.explain = slow
waypost.cli.main(["explain", "--target", "Granted", "--json", sys.argv[1], "--time-limit", "2"])
"""


@pytest.mark.parametrize("ctrl_c", ["heard", "ignored"])
def test_time_that_runs_out_ends_a_command_with_a_sentence(tmp_path, ctrl_c):
    """Law: --time-limit is for all of the work, also where nobody could have interrupted it."""
    command = [sys.executable, "-c", SLOW, str(tmp_path / "never.json"), ctrl_c]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    said = "waypost: no answer within 2 s, the time limit: 7 of 40 bounds were settled; nothing was written\n"
    assert (done.returncode, done.stderr, done.stdout) == (2, said, "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", [["check", "loan"], ["paths", "loan"], ["decisions", "loan"], ["agent", "loan", "best", "--top", "1"]]
)
def test_time_that_suffices_changes_nothing(words, capsys):
    """Law: an answer that comes in time is the answer without a limit."""
    told = []
    for limit in ([], ["--time-limit", "600"]):
        with pytest.raises(SystemExit) as stop:
            main([*words, *limit])
        assert stop.value.code == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert allowed() is None
