"""A child that is started before it is known what to ask it: it gets ready while its parent does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from waypost.processes import Child, ChildError


@dataclass
class _Early:
    """A child that was started, until somebody takes it."""

    kind: tuple[str, str]  # module and function
    child: Child | None


_EARLY: ContextVar[_Early | None] = ContextVar("_EARLY", default=None)


@contextmanager
def started_early(module: str, function: str, **how: Any) -> Iterator[None]:
    """Start a child and do not wait for it; within, the first who wants one of this function gets it (`ready_child`).

    >>> with started_early("math", "factorial"), ready_child("math", "factorial") as child:
    ...     child.ask(5)
    120
    """
    try:
        early = _Early((module, function), Child(module, function, **how, wait=False))
    except (ChildError, OSError):  # who wants one will be told
        yield
        return
    before = _EARLY.set(early)
    try:
        yield
    finally:
        _EARLY.reset(before)
        if early.child is not None:
            early.child.close()


def ready_child(module: str, function: str, **how: Any) -> Child:
    """Child that was started early, as it was told to be then, or else a new one; use it in a ``with`` statement.

    >>> with ready_child("math", "factorial") as child:
    ...     child.ask(4)
    24
    """
    early = _EARLY.get()
    if early is None or early.child is None or early.kind != (module, function):
        return Child(module, function, **how)
    child, early.child = early.child, None
    child.await_ready()
    return child
