"""What is computed when it is first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - a decorator
    """As `functools.cached_property`, without its lock: until Python 3.12 that is one for all instances.

    Two threads that ask at the same time may both compute it; they find the same.

    >>> class Square:
    ...     @once
    ...     def area(self):
    ...         print("computed")
    ...         return 4
    >>> square = Square()
    >>> square.area + square.area
    computed
    8
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        """Compute it; from then on the instance itself has it, and nobody asks here."""
        value = instance.__dict__[self.compute.__name__] = self.compute(instance)
        return value
