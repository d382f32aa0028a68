"""Every example of docs/formats.md runs."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest


def test_the_examples_run(tmp_path, monkeypatch):
    for library in ("stormpy", "networkx", "aalpy", "gymnasium", "minigrid", "matplotlib"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "formats.md"
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 30
    assert result.failed == 0
    assert (tmp_path / "frozenlake.png").stat().st_size > 10_000
