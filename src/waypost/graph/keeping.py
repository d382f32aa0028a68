"""Machine code kept on disk, where a disk that is full, read-only or damaged is no reason to stop.

numba keeps what it compiled beside the module or in the user's cache. Whatever goes wrong there means that a kernel is
compiled again; and since damaged machine code may do anything, each file begins with its checksum. What was compiled
holds the functions that it calls, so that it is made again when any of the files changes in which they are written, or
any constant that they use.

To run it, no compiler is needed. numba gets its own ready all the same, a sixth of a second, and reads what other code
could be compiled with, some twenty milliseconds a kernel. Nothing is ever compiled with a kernel that Python calls, so
neither is kept, and neither is waited for.
"""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import io
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any


def on_disk(function: Callable[..., Any], sources: Iterable[str]) -> bool:
    """Whether machine code of a function lies where numba looks for it, and none of its `sources` is younger.

    It is a guess that takes a moment and does not import numba: on another kind of processor one may still have to
    compile.
    """
    given, beside = os.environ.get("NUMBA_CACHE_DIR"), Path(function.__code__.co_filename).parent / "__pycache__"
    name = glob.escape(index_name(function))
    try:
        youngest = max(Path(file).stat().st_mtime for file in sources)
        shared = kept_in()
        found = [*(shared.glob(f"*/{name}*.nbi") if shared else ()), *(() if given else beside.glob(f"{name}*.nbi"))]
        return any(file.stat().st_mtime >= youngest and _is_of_our_numba(file) for file in found)
    except OSError:
        return False


def _is_of_our_numba(index: Path) -> bool:
    """Whether numba will believe an index of its files, which begins with the version that wrote it."""
    with index.open("rb") as file:
        return _numba_version() in file.read(64)


@cache
def _numba_version() -> bytes:
    """Version of the numba that is installed, without importing it; nothing, where that cannot be told."""
    with suppress(OSError, ValueError):
        spec = importlib.util.find_spec("numba")
        text = Path((spec and spec.origin) or "").with_name("_version.py").read_text(encoding="utf-8")
        if found := re.search(r"""["']version["']: ["']([^"']+)["']""", text):
            return found[1].encode()
    return b""


def index_name(function: Callable[..., Any]) -> str:
    """What numba calls the files of a function, without their endings."""
    code = function.__code__
    version = f"py{sys.version_info[0]}{sys.version_info[1]}"
    return f"{Path(code.co_filename).stem}.{function.__qualname__}-{code.co_firstlineno}.{version}"


def kept_in() -> Path | None:
    """Folder for machine code that is not beside its module; None for a user without a home."""
    given, home = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(given) if given else Path(home, "numba").expanduser()
    except RuntimeError:  # as in a container that runs under a number nobody has
        return None


def has_place(function: Callable[..., Any]) -> bool:
    """Whether machine code may be kept at all: for a user without a home numba would make a folder called ``~``."""
    return kept_in() is not None or os.access(Path(function.__code__.co_filename).parent, os.W_OK)


def keep_carefully(dispatcher: Any, sources: Iterable[str], constants: str) -> None:
    """Make a compiled function's cache on disk a convenience that cannot fail.

    It is made again with its `sources`, and where its `constants` are others.
    """
    import numpy as np
    from numba.core.caching import IndexDataCacheFile

    class Checked(IndexDataCacheFile):  # type: ignore[misc]
        """Files of a cache, each checked before it is believed."""

        def _load_index(self) -> Any:
            try:
                return super()._load_index()
            except Exception:  # noqa: BLE001 - a damaged pickle may raise anything
                return {}

        def _save_data(self, name: str, data: Any) -> None:
            content = self._dump(_to_run(data))
            with self._open_for_write(self._data_path(name)) as file:
                file.write(hashlib.sha256(content).digest() + content)

        def _load_data(self, name: str) -> Any:
            found = Path(self._data_path(name)).read_bytes()
            if hashlib.sha256(found[32:]).digest() != found[:32]:
                raise OSError("damaged")  # which means: not there
            calls, data = _Unpickler(io.BytesIO(found[32:])).load()
            _make_known(calls, dispatcher.targetctx)
            return data

    kept = dispatcher._cache  # noqa: SLF001 - numba has no other way in
    old = kept._cache_file  # noqa: SLF001
    new = Checked.__new__(Checked)
    new.__dict__.update(old.__dict__)
    new._source_stamp = [old._source_stamp, np.__version__, constants, *map(_digest, sorted(sources))]  # noqa: SLF001
    kept._cache_file = new  # noqa: SLF001
    kept.load_overload = _or_none(kept._load_overload)  # noqa: SLF001 - without the compiler
    kept.save_overload = _or_none(kept.save_overload)


def _to_run(data: Any) -> tuple[list[str], Any]:
    """Names that machine code refers to, and as much of what numba keeps as is needed to run it."""
    from llvmlite import binding

    (name, kind, (code, bitcode)), described, *rest = data
    entries = {described.llvm_func_name, described.llvm_cpython_wrapper_name, described.llvm_cfunc_wrapper_name}
    module = binding.parse_bitcode(bitcode)
    symbols = [(symbol.name, symbol.is_declaration) for symbol in (*module.functions, *module.global_variables)]
    calls = [symbol for symbol, elsewhere in symbols if elsewhere and not symbol.startswith("llvm.")]
    defined = entries & {symbol for symbol, elsewhere in symbols if not elsewhere}  # numba asks whether they are there
    text = "\n".join(f'define void @"{entry}"() {{ unreachable }}' for entry in sorted(defined))
    return calls, ((name, kind, (code, binding.parse_assembly(text).as_bitcode())), described, *rest)


def _make_known(names: Iterable[str], context: Any) -> None:
    """See to it that what machine code refers to is there: a name that LLVM does not know ends the process."""
    from llvmlite import binding
    from numba.core.runtime import rtsys

    rtsys.initialize(context)
    if any(binding.address_of_symbol(name) is None for name in names):
        context.refresh()  # the compiler brings the rest


class _Unpickler(pickle.Unpickler):
    """Reads what we wrote into the user's own cache; what numba compiles with is not imported for it."""

    def find_class(self, module: str, name: str) -> Any:
        """Find what a name means, and something lighter in the place of an environment."""
        if (module, name) == ("numba.core.environment", "_rebuild_env"):
            return _environment
        return super().find_class(module, name)


def _environment(module: str, constants: Any, name: str) -> Any:
    """Constants of a compiled function, and of its module only the name: it looks nothing up there."""
    from numba.core.environment import Environment, lookup_environment

    found = lookup_environment(name)
    if found is None:
        found = Environment(vars(sys.modules[module]) if module in sys.modules else {"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found  # noqa: SLF001 - numba has no other way in
    return found


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
