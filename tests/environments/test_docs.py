"""Every example of docs/environments.md runs, and so does the tutorial."""

from __future__ import annotations

import doctest
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_examples_run():
    for library in ("gymnasium", "minigrid", "sklearn"):
        pytest.importorskip(library)
    result = doctest.testfile(str(DOCS / "environments.md"), module_relative=False)
    assert result.attempted > 15
    assert result.failed == 0


def test_the_tutorial_runs():
    for library in ("gymnasium", "minigrid", "sklearn", "pandas", "matplotlib"):
        pytest.importorskip(library)
    told = runpy.run_path(str(DOCS / "tutorials" / "agent.py"))
    assert told["beside"].success < told["beside"].best
    assert told["never"].importance is None
