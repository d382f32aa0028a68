"""The same bits in fresh processes: in any order of questions, on one core or two, compiled or not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def bits(kind: str, order: int, workers: int, twin: str) -> str:
    """What a fresh process answers."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, str(TESTS / "stress/bits.py"), kind, str(order), str(workers), twin]
    return subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize("kind", ["ordinary", "rare"])
def test_the_order_of_questions_and_the_number_of_workers_do_not_show(kind):
    first = bits(kind, 0, 1, "plain")
    assert first.count("\n") > 20
    assert bits(kind, 1, 2, "plain") == first


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ordinary", "rare", "stiff", "rooms", "queue"])
def test_neither_does_the_compiler(kind):
    first = bits(kind, 0, 1, "plain")
    for order, workers, twin in [(1, 2, "compiled"), (2, 1, "compiled"), (3, 2, "plain")]:
        assert bits(kind, order, workers, twin) == first
