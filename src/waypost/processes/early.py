"""A child that is started before it is known what to ask it: it gets ready while its parent does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from waypost.processes import Child, ChildError, Closing


class _Early(Closing):
    """A child that a thread of its own waits for, until somebody takes it or nobody wants it any more."""

    def __init__(self, module: str, function: str, how: dict[str, Any]) -> None:
        self.kind = module, function
        self._child: Child | None = None
        self._trouble: Exception | None = None
        self._free = threading.Lock()  # held by whoever decides what becomes of the child
        self._wanted = True
        self._starting = threading.Thread(target=self._start, args=(module, function, how), daemon=True)
        self._starting.start()

    def _start(self, module: str, function: str, how: dict[str, Any]) -> None:
        try:
            child = Child(module, function, **how)
        except Exception as error:  # noqa: BLE001 - whoever takes it is told
            self._trouble = error
            return
        with self._free:
            self._child = child
            if not self._wanted:
                child.close()

    def take(self) -> Child:
        """Wait until the child is ready, and hand it over."""
        self._starting.join()
        if self._trouble is not None:
            raise self._trouble
        child, self._child = self._child, None
        if child is None:
            raise ChildError("broken", "it was taken already")
        return child

    def close(self) -> None:
        """End the child, unless somebody has taken it; one that is not ready yet is not waited for."""
        with self._free:
            self._wanted = False
            if self._child is not None:
                self._child.close()


_EARLY: ContextVar[_Early | None] = ContextVar("_EARLY", default=None)


@contextmanager
def started_early(module: str, function: str, **how: Any) -> Iterator[None]:
    """Start a child at once; within, the first who wants one of the same function is given it (`ready_child`).

    >>> with started_early("math", "factorial"), ready_child("math", "factorial") as child:
    ...     child.ask(5)
    120
    """
    with _Early(module, function, how) as early:
        before = _EARLY.set(early)
        try:
            yield
        finally:
            _EARLY.reset(before)


def ready_child(module: str, function: str, **how: Any) -> Child:
    """Child that was started early, as it was told then, or else a new one; use it in a ``with`` statement.

    >>> with ready_child("math", "factorial") as child:
    ...     child.ask(4)
    24
    """
    early = _EARLY.get()
    if early is None or early.kind != (module, function):
        return Child(module, function, **how)
    _EARLY.set(None)  # there is one
    return early.take()
