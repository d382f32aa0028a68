"""What will be needed next is imported while a child process, Storm's, is waited for."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from waypost.processes import aside


@contextmanager
def imported_meanwhile(*modules: str) -> Iterator[None]:
    """Import modules, one by one, while a child that is asked within works; none once there is nothing to wait for.

    >>> from waypost.processes import run
    >>> with imported_meanwhile("json", "csv"):
    ...     run("math", "factorial", 5)
    120
    """
    enough = threading.Event()
    importing = threading.Thread(target=_import, args=(modules, enough), daemon=True)

    def start() -> None:
        if importing.ident is None:
            importing.start()

    with aside(start):
        try:
            yield
        finally:
            enough.set()
    if importing.ident is not None:
        importing.join()


def _import(modules: Iterable[str], enough: threading.Event) -> None:
    with suppress(ImportError):  # whoever needs it is told
        for name in modules:
            importlib.import_module(name)
            if enough.is_set():
                return
