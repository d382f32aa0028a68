"""Loops over arrays that are plain Python on small models and machine code on large ones.

A kernel is written once, in the part of Python that numba understands. Small inputs run it as it is, so that nobody
waits for a compiler; large ones compile it, once per machine (numba keeps the result on disk). Fetching machine code
takes a moment and compiling it up to half a minute, so what is large depends on what is on the disk, and on how long
the text of a kernel is. Object arrays of rationals always run as they are: the same text serves both arithmetics.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, cached_property
from math import inf
from threading import Lock, Timer
from types import FunctionType
from typing import Any, TypeVar

from waypost.graph.keeping import has_place, keep_carefully, on_disk

WORTH_COMPILING = 200_000  # basic steps, some fifty milliseconds of plain Python
LOADING = 0.2  # times as many are worth machine code from the disk, a few milliseconds
FETCHING = 3  # times as many are worth importing numba for
READYING = 6  # times as many are worth getting it ready to compile
BYTES = 600  # of Python's own code take half a second to compile: once kept, it is worth waiting for a few times longer
WORTH_SHARING = 1e7  # basic steps, some ten milliseconds: less is not worth a second thread
WORTH_HALVING = 50_000  # steps of a pass over a graph: then two questions about it are worth a thread each
LONG_TEXT = 10 * BYTES  # takes seconds to compile
LONG = 0.1  # seconds of waiting for a model: then it is one that machine code will be needed for

T = TypeVar("T")
U = TypeVar("U")

_HASTE = Lock()
_kernels: list[Kernel] = []  # all there are so far
_in_haste = 0  # blocks of `eagerly` that somebody is in
_watching: list[Callable[[], None]] = []  # who wants to know


class Kernel:
    """A function over arrays with a compiled twin; kernels may call each other.

    >>> import numpy as np
    >>> @kernel
    ... def total(numbers):
    ...     result = 0.0
    ...     for number in numbers:
    ...         result += number
    ...     return result
    >>> float(total(np.ones(3))), total.sized(3).__name__
    (3.0, 'total')
    """

    def __init__(self, function: Callable[..., Any], *, leaf: bool = False) -> None:
        self.plain = function
        self.leaf = leaf
        self.spent = 0.0  # basic steps asked for so far
        self.__doc__ = function.__doc__
        _kernels.append(self)

    def __call__(self, *args: Any) -> Any:
        """Run in plain Python."""
        return self.plain(*args)

    @property
    def name(self) -> str:
        """Its module and its own name, as in ``solve.optimiser.settle``."""
        return f"{self.plain.__module__.removeprefix('waypost.')}.{self.plain.__qualname__}"

    @property
    def was_compiled(self) -> bool:
        """Whether this process runs machine code of it."""
        return self.spent == inf

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """Machine code for this kernel and the kernels it calls."""
        if not has_place(self.plain):
            return self._compiled(cache=False)
        try:
            compiled = self._compiled(cache=True)
        except (RuntimeError, OSError):  # nowhere to keep it: no home, and installed where nobody may write
            return self._compiled(cache=False)
        keep_carefully(compiled, self._sources, self._constants)
        return compiled

    @cached_property
    def inner(self) -> Callable[..., Any]:
        """The same to be called by other kernels: Python cannot, which makes compiling quicker."""
        return self._compiled(
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
            **({"forceinline": True, "_nrt": False} if self.leaf else {}),
        )

    @property
    def _wait(self) -> float:
        """How long machine code is to be waited for, in times of `WORTH_COMPILING`."""
        if not self._kept:
            return max(READYING, self._bytes / BYTES)
        return LOADING if "numba" in sys.modules else FETCHING

    @cached_property
    def _kept(self) -> bool:
        return self.is_on_disk()

    def is_on_disk(self) -> bool:
        """Whether machine code of it is on the disk now."""
        return on_disk(self.plain, self._sources)

    @property
    def _sources(self) -> set[str]:
        return {__file__, *(k.plain.__code__.co_filename for k in self._reached())}

    @property
    def _constants(self) -> str:
        """Constants that are in the machine code, wherever they are written: it is made again with any of them."""
        used = [(name, k.plain.__globals__.get(name)) for k in self._reached() for name in k.plain.__code__.co_names]
        return repr(
            sorted({(name, repr(value)) for name, value in used if isinstance(value, int | float | str | tuple)})
        )

    @cached_property
    def _bytes(self) -> int:
        return sum(len(k.plain.__code__.co_code) for k in self._reached())

    def _reached(self) -> set[Kernel]:
        """The kernel itself and all that it calls, or they do."""
        found, new = set[Kernel](), {self}
        while new:
            found |= new
            called = (k.plain.__globals__.get(name) for k in new for name in k.plain.__code__.co_names)
            new = {k for k in called if isinstance(k, Kernel)} - found
        return found

    def _compiled(self, **options: Any) -> Callable[..., Any]:
        import numba

        plain = self.plain
        if not isinstance(plain, FunctionType):  # pragma: no cover - kernels are plain functions
            raise TypeError("a kernel is a plain function")
        names = {
            k: v.inner if isinstance(v, Kernel) else v
            for k, v in plain.__globals__.items()
            if k in plain.__code__.co_names or k.startswith("__")
        }
        twin = FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__, plain.__closure__)
        twin.__module__ = plain.__module__
        compiled: Callable[..., Any] = numba.njit(nogil=True, **options)(twin)
        return compiled

    def sized(self, work: float) -> Callable[..., Any]:
        """Whichever twin is faster for about `work` basic steps; many small calls add up. No work: plain Python."""
        if not work:  # rationals, which no machine code knows
            return self.plain
        self.spent += work
        worth = 0 if _in_haste else WORTH_COMPILING
        if not self.spent > worth * LOADING:
            return self.plain
        if self.spent < inf:
            if not self.spent > worth * self._wait:
                return self.plain
            if not self._kept and self._bytes > LONG_TEXT:
                for told in _watching:
                    told()
        self.spent = inf  # once compiled, always
        return self.compiled


def kernels() -> list[Kernel]:
    """All kernels of the modules that were imported so far."""
    return list(_kernels)


@cache
def cores() -> int:
    """Number of processors: asked for once, as the answer takes longer than a small model."""
    return os.cpu_count() or 1


def in_parts(
    loop: Kernel,
    settle: Callable[[Callable[..., Any], slice], None],
    length: int,
    work: float,
    size: int | None = None,
) -> None:
    """Call `settle` with a twin of `loop` for parts of ``range(length)``, on all cores where that is worth it.

    `work` is the number of basic steps in all. Parts are independent of each other, and `settle` writes to its own.
    Where one answer helps to find the next, give the `size` of a part: it must not depend on who runs it.
    """
    run = loop.sized(work)
    alone = run is loop.plain or work < WORTH_SHARING or length < cores() or cores() == 1
    if size is None:
        size = max(1, length if alone else -(-length // (2 * cores())))
    parts = [slice(low, low + size) for low in range(0, length, size)]
    if alone:
        for part in parts:
            settle(run, part)
        return
    with ThreadPoolExecutor(cores()) as pool:
        try:
            list(pool.map(lambda part: settle(run, part), parts))
        except BaseException:  # Ctrl-C: do not begin what has not begun
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def both(one: Callable[[], T], other: Callable[[], U], size: int) -> tuple[T, U]:
    """Answers to two questions about a graph of some size, neither of which needs the other; on two threads if large.

    >>> both(lambda: 1, lambda: 2, size=10)
    (1, 2)
    """
    if size < WORTH_HALVING or cores() == 1:
        return one(), other()
    with ThreadPoolExecutor(1) as pool:
        aside = pool.submit(other)
        return one(), aside.result()


@contextmanager
def eagerly() -> Iterator[None]:
    """Compile every kernel used within, however small the work: what is measured afterwards meets no compiler."""
    global _in_haste  # noqa: PLW0603 - the one setting of this room, counted because threads may overlap
    with _HASTE:
        _in_haste += 1
    try:
        yield
    finally:
        with _HASTE:
            _in_haste -= 1


@contextmanager
def watching(told: Callable[[], None]) -> Iterator[None]:
    """Tell somebody whenever work within begins to wait for a compiler, for seconds or longer."""
    _watching.append(told)
    try:
        yield
    finally:
        _watching.remove(told)


@contextmanager
def while_waiting() -> Iterator[None]:
    """Fetch the compiler, a quarter of a second, while something within is waited for, if that takes long."""
    timer = Timer(LONG, lambda: _nothing.compiled(0))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def kernel(function: Callable[..., Any]) -> Kernel:
    """Make a function over arrays a `Kernel`."""
    return Kernel(function)


def leaf(function: Callable[..., Any]) -> Kernel:
    """Make a function that a loop calls at every step a `Kernel` whose machine code stands in that of its callers.

    A call counts a reference to every array it is handed, and threads that share arrays wait for each other there.
    """
    return Kernel(function, leaf=True)


@kernel
def _nothing(number):  # type: ignore[no-untyped-def]
    return number
