"""What a command will need is made ready ahead: Storm's process while we import, and what we import while it builds."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SYMBOLIC = (".prism", ".nm", ".pm", ".sm", ".jani")  # endings of the models that Storm builds for us
WORKER = Path(__file__).parents[1] / "formats" / "storm_worker.py"  # to import it would be to import numpy
LOOKED_AT = 1_000_000  # characters of a program
_NOT_FLAT = re.compile(r"\b(?:const|formula|global|rewards)\b|\bendmodule\b.*\bendmodule\b", re.DOTALL)


@contextmanager
def storm_ahead(arguments: Iterable[str]) -> Iterator[None]:
    """Start Storm's process at once where the arguments of a command name a model that only Storm can build.

    That is a guess: where it is wrong nobody asks the process, and it ends with the command.
    """
    words = set(arguments)
    if words & {"-h", "--help"} or not any(map(_is_for_storm, words)) or not _has_storm():
        yield
        return
    from waypost.processes import spare_memory
    from waypost.processes.early import started_early

    with started_early(str(WORKER), "work", memory=spare_memory(), folder=True):
        yield


def _is_for_storm(argument: str) -> bool:
    """Whether an argument is a JANI file, or a PRISM program of more than commands for single states."""
    path = Path(argument)
    with suppress(OSError, ValueError):
        if path.suffix not in SYMBOLIC or not path.is_file():
            return False
        if path.suffix == ".jani":
            return True
        with path.open(encoding="utf-8", errors="replace") as stream:
            return _NOT_FLAT.search(stream.read(LOOKED_AT)) is not None
    return False


def _has_storm() -> bool:
    return hasattr(os, "fork") and importlib.util.find_spec("stormpy") is not None


def import_arrays() -> None:
    """Import numpy and scipy without what scipy only takes along from numpy, as much again: it asks for every name."""
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "18")  # idle threads spin for 0.1 ms, not for 25
    import numpy as np

    baggage = [name for name in ("f2py", "testing") if name not in vars(np)]  # numpy imports them when asked
    for name in baggage:
        setattr(np, name, None)
    try:
        import scipy.sparse  # noqa: F401
    finally:
        for name in baggage:
            if vars(np)[name] is None:
                delattr(np, name)


@contextmanager
def imported_meanwhile(*modules: str) -> Iterator[None]:
    """Import modules, one by one, while a child that is asked within works; none once there is nothing to wait for.

    >>> from waypost.processes import run
    >>> with imported_meanwhile("json", "csv"):
    ...     run("math", "factorial", 5)
    120
    """
    from waypost.processes import aside

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
