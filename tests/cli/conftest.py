"""Commands that must succeed, and commands that must be refused."""

from __future__ import annotations

import pytest


@pytest.fixture
def answered(invoke, tmp_path, monkeypatch):
    """Run a command that must succeed, in an empty folder; what it prints."""
    monkeypatch.chdir(tmp_path)

    def answered(*arguments: str) -> str:
        code, out, err = invoke(*arguments)
        assert (code, err) == (0, "")
        return out

    return answered


@pytest.fixture
def refused(invoke, tmp_path, monkeypatch):
    """Run a command that must be refused; what it says."""
    monkeypatch.chdir(tmp_path)

    def refused(*arguments: str) -> str:
        code, out, err = invoke(*arguments)
        assert (code, out) == (2, "")
        return err.strip()

    return refused
