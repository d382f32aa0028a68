"""Ctrl-C stops long work at once, says what was done, and writes nothing."""

from __future__ import annotations

import pytest

import waypost.cli.explain
from waypost.cli import main


def test_an_interrupt_tells_what_was_done(monkeypatch, capsys, tmp_path):
    def interrupted(_mdp, *, progress, **_):
        progress(7)
        raise KeyboardInterrupt

    monkeypatch.setattr(waypost.cli.explain, "explain", interrupted)
    with pytest.raises(SystemExit) as stop:
        main(["explain", "--target", "Granted", "--json", str(tmp_path / "never.json")])
    assert stop.value.code == 130
    assert capsys.readouterr().err == "waypost: interrupted: 7 of 60 bounds were settled; nothing was written\n"
    assert not list(tmp_path.iterdir())
