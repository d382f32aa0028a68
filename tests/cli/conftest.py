"""Commands that must succeed, and commands that must be refused."""

from __future__ import annotations

import pytest


def ending(invoke, wanted: int):
    """Run commands that must end so; what they say where it belongs, and nothing elsewhere."""

    def run(*arguments: str) -> str:
        code, out, err = invoke(*arguments)
        told, silent = (out, err) if wanted == 0 else (err.strip(), out)
        assert (code, silent) == (wanted, ""), err
        return told

    return run


@pytest.fixture
def answered(invoke, tmp_path, monkeypatch):
    """Run a command that must succeed, in an empty folder; what it prints."""
    monkeypatch.chdir(tmp_path)
    return ending(invoke, 0)


@pytest.fixture
def refused(invoke, tmp_path, monkeypatch):
    """Run a command that must be refused; what it says."""
    monkeypatch.chdir(tmp_path)
    return ending(invoke, 2)
