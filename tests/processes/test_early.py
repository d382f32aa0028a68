"""A child that is started early goes to the first who wants it, and is gone if nobody does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from waypost.processes import Child, ChildError, early
from waypost.processes.early import ready_child, started_early

CHILDREN = str(Path(__file__).parents[1] / "faults" / "children.py")

if not hasattr(os, "fork"):
    pytest.skip("this system has no children with limits of their own", allow_module_level=True)


@pytest.fixture
def born(monkeypatch):
    """Children that were started, in their order."""
    children = []

    class Noted(Child):
        def __init__(self, *given, **how):
            super().__init__(*given, **how)
            children.append(self)

    monkeypatch.setattr(early, "Child", Noted)
    return children


def test_the_first_who_wants_such_a_child_gets_it_and_the_second_another(born):
    with started_early(CHILDREN, "nap", folder=True):
        with ready_child(CHILDREN, "nap", folder=True) as first:
            one = first.ask(0)
        assert first.closed
        with ready_child(CHILDREN, "nap", folder=True) as second:
            assert second.ask(0) != one
    assert born == [first, second]


def test_who_wants_another_function_gets_a_child_of_its_own(born):
    with started_early(CHILDREN, "nap"), ready_child(CHILDREN, "hungry") as other:
        assert other.ask(7) == 7
    assert len(born) == 2
    assert all(child.closed for child in born)


@pytest.mark.parametrize("ready", [True, False])
def test_a_child_that_nobody_wants_is_gone_with_its_folder(born, tmp_path, monkeypatch, ready):
    """Also one that is not ready yet when that becomes clear."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with started_early(CHILDREN, "nap", folder=True):
        (child,) = born
        if ready:
            child.await_ready()
            assert child.folder.exists()
    assert child.closed
    assert not list(tmp_path.glob("waypost-*"))


def test_a_child_that_cannot_start_is_told_to_who_wants_it_and_to_nobody_else(monkeypatch):
    with started_early(CHILDREN, "no_such_function"):
        pass
    monkeypatch.setattr(sys, "executable", "no such program")
    with started_early(CHILDREN, "nap"), pytest.raises(OSError, match="no such program"):
        ready_child(CHILDREN, "nap")
    monkeypatch.undo()
    with started_early(CHILDREN, "no_such_function"), pytest.raises(ChildError, match="no_such_function"):
        ready_child(CHILDREN, "no_such_function")


def test_outside_there_is_no_early_child(born):
    with started_early(CHILDREN, "nap"):
        pass
    with ready_child(CHILDREN, "nap") as child:
        child.ask(0)
    assert len(born) == 2
    assert born[1] is child
