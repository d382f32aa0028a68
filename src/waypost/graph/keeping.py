"""Machine code kept on disk, where a disk that is full, read-only or damaged is no reason to stop.

numba keeps what it compiled beside the module or in the user's cache. Whatever goes wrong there means that a kernel is
compiled again; and since damaged machine code may do anything, each file begins with its checksum. What was compiled
holds the functions that it calls, so that it is made again when any of the files changes in which they are written.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any


def on_disk(function: Callable[..., Any], sources: Iterable[str]) -> bool:
    """Whether machine code of a function lies where numba looks for it, and none of its `sources` is younger.

    It is a guess that takes a moment and does not need numba: whoever believes it may still have to compile.
    """
    code = function.__code__
    source = Path(code.co_filename)
    name = f"{source.stem}.{function.__qualname__}-{code.co_firstlineno}.py{sys.version_info[0]}{sys.version_info[1]}"
    given, home = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME", "~/.cache")
    shared = Path(given) if given else Path(home, "numba").expanduser()
    beside = source.parent / "__pycache__"
    try:
        youngest = max(Path(file).stat().st_mtime for file in sources)
        found = [*shared.glob(f"*/{name}*.nbi"), *([] if given else beside.glob(f"{name}*.nbi"))]
        return any(file.stat().st_mtime >= youngest for file in found)
    except OSError:
        return False


def keep_carefully(dispatcher: Any, sources: Iterable[str]) -> None:
    """Make a compiled function's cache on disk a convenience that cannot fail, and is made again with its `sources`."""
    from numba.core.caching import IndexDataCacheFile

    class Checked(IndexDataCacheFile):  # type: ignore[misc]
        """Files of a cache, each checked before it is believed."""

        def _load_index(self) -> Any:
            try:
                return super()._load_index()
            except Exception:  # noqa: BLE001 - a damaged pickle may raise anything
                return {}

        def _save_data(self, name: str, data: Any) -> None:
            content = self._dump(data)
            with self._open_for_write(self._data_path(name)) as file:
                file.write(hashlib.sha256(content).digest() + content)

        def _load_data(self, name: str) -> Any:
            found = Path(self._data_path(name)).read_bytes()
            if hashlib.sha256(found[32:]).digest() != found[:32]:
                raise OSError("damaged")  # which means: not there
            return pickle.loads(found[32:])  # noqa: S301 - the user's own cache, as we wrote it

    kept = dispatcher._cache  # noqa: SLF001 - numba has no other way in
    old = kept._cache_file  # noqa: SLF001
    new = Checked.__new__(Checked)
    new.__dict__.update(old.__dict__)
    new._source_stamp = [old._source_stamp, *map(_digest, sorted(sources))]  # noqa: SLF001
    kept._cache_file = new  # noqa: SLF001
    kept.load_overload = _or_none(kept.load_overload)
    kept.save_overload = _or_none(kept.save_overload)


@cache
def _digest(source: str) -> str:
    try:
        return hashlib.sha256(Path(source).read_bytes()).hexdigest()
    except OSError:  # it was typed in, or comes out of an archive
        return source


def _or_none(step: Callable[..., Any]) -> Callable[..., Any]:
    def careful(*args: Any) -> Any:
        try:
            return step(*args)
        except Exception:  # noqa: BLE001 - no room, no right, or something unreadable: compile it again
            return None

    return careful
