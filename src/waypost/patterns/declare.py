"""The Declare templates of process mining, as patterns.

Pesic, Schonenberg, van der Aalst, *DECLARE: Full Support for Loosely-Structured Processes* (2007); the meaning is that
of linear temporal logic on finite traces (Di Ciccio and Mecella 2015). An argument is a condition on one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType

from waypost.errors import PatternError
from waypost.patterns.tree import ANYTHING, Other, Pattern, Template


def _named(meaning: Callable[..., Pattern]) -> Callable[..., Pattern]:
    """Let a template keep its name and arguments, so that it is written as it was read."""

    @wraps(meaning)
    def build(*given: Pattern | int) -> Pattern:
        arguments = given[:1] if given[1:] == (1,) else given  # existence(A, 1) is existence(A)
        for argument in arguments:
            if isinstance(argument, Pattern) and not argument.single:
                raise PatternError(f"{meaning.__name__} is about single steps, and {str(argument)!r} may be more")
        return Template(meaning.__name__, arguments, meaning(*arguments))

    return build


@_named
def existence(a: Pattern, n: int = 1) -> Pattern:
    """`a` occurs at least `n` times.

    >>> from waypost.patterns import step
    >>> str(existence(step("Call"), 2))
    'existence(Call, 2)'
    """
    once = ANYTHING + a
    return (once if n == 1 else once.times(n, n)) + ANYTHING


@_named
def absence(a: Pattern, n: int = 1) -> Pattern:
    """`a` occurs fewer than `n` times."""
    return ~existence(a, n)


@_named
def exactly(a: Pattern, n: int = 1) -> Pattern:
    """`a` occurs `n` times."""
    return existence(a, n) & absence(a, n + 1)


@_named
def init(a: Pattern) -> Pattern:
    """`a` comes first."""
    return a + ANYTHING


@_named
def choice(a: Pattern, b: Pattern) -> Pattern:
    """`a` or `b` occurs."""
    return existence(a) | existence(b)


@_named
def exclusive_choice(a: Pattern, b: Pattern) -> Pattern:
    """`a` or `b` occurs, and not both."""
    return choice(a, b) & not_coexistence(a, b)


@_named
def responded_existence(a: Pattern, b: Pattern) -> Pattern:
    """If `a` occurs, so does `b`, before or after."""
    return absence(a) | existence(b)


@_named
def coexistence(a: Pattern, b: Pattern) -> Pattern:
    """`a` and `b` occur both or not at all."""
    return responded_existence(a, b) & responded_existence(b, a)


@_named
def not_coexistence(a: Pattern, b: Pattern) -> Pattern:
    """`a` and `b` do not occur both."""
    return ~(existence(a) & existence(b))


@_named
def response(a: Pattern, b: Pattern) -> Pattern:
    """Every `a` is followed by a `b`, some time."""
    return ~(ANYTHING + (a & Other(b)) + Other(b).times(0))


@_named
def alternate_response(a: Pattern, b: Pattern) -> Pattern:
    """Every `a` is followed by a `b`, with no other `a` before it."""
    neither = Other(a | b).times(0)
    return ~(ANYTHING + a + neither + ((a & Other(b)) + ANYTHING).times(0, 1))


@_named
def chain_response(a: Pattern, b: Pattern) -> Pattern:
    """Every `a` is directly followed by a `b`."""
    return ~(ANYTHING + a + (Other(b) + ANYTHING).times(0, 1))


@_named
def precedence(a: Pattern, b: Pattern) -> Pattern:
    """A `b` occurs only after an `a`."""
    return ~(Other(a).times(0) + (b & Other(a)) + ANYTHING)


@_named
def alternate_precedence(a: Pattern, b: Pattern) -> Pattern:
    """Every `b` comes after an `a`, with no other `b` between."""
    return precedence(a, b) & ~(ANYTHING + b + Other(a).times(0) + (b & Other(a)) + ANYTHING)


@_named
def chain_precedence(a: Pattern, b: Pattern) -> Pattern:
    """Every `b` comes directly after an `a`."""
    return ~((ANYTHING + Other(a)).times(0, 1) + b + ANYTHING)


@_named
def succession(a: Pattern, b: Pattern) -> Pattern:
    """Response and precedence."""
    return response(a, b) & precedence(a, b)


@_named
def alternate_succession(a: Pattern, b: Pattern) -> Pattern:
    """Alternate response and alternate precedence."""
    return alternate_response(a, b) & alternate_precedence(a, b)


@_named
def chain_succession(a: Pattern, b: Pattern) -> Pattern:
    """Chain response and chain precedence."""
    return chain_response(a, b) & chain_precedence(a, b)


@_named
def not_succession(a: Pattern, b: Pattern) -> Pattern:
    """No `b` after an `a`."""
    return ~(ANYTHING + a + ANYTHING + b + ANYTHING)


@_named
def not_chain_succession(a: Pattern, b: Pattern) -> Pattern:
    """No `b` directly after an `a`."""
    return ~(ANYTHING + a + b + ANYTHING)


COUNTED: Mapping[str, Callable[..., Pattern]] = MappingProxyType(
    {template.__name__: template for template in (existence, absence, exactly)}
)
PAIRED: Mapping[str, Callable[[Pattern, Pattern], Pattern]] = MappingProxyType(
    {
        template.__name__: template
        for template in (
            choice, exclusive_choice, responded_existence, coexistence, not_coexistence, response, alternate_response,
            chain_response, precedence, alternate_precedence, chain_precedence, succession, alternate_succession,
            chain_succession, not_succession, not_chain_succession,
        )
    }
)  # fmt: skip
TEMPLATES = (*COUNTED, "init", *PAIRED)


def template(name: str, arguments: list[Pattern], number: int | None = None) -> Pattern:
    """Template by name, as text has it: ``response(A, B)``, ``existence(A, 2)``.

    >>> from waypost.patterns import step
    >>> str(template("init", [step("Submit")]))
    'init(Submit)'
    """
    if name in COUNTED and len(arguments) == 1 and (number is None or number >= 1):
        return COUNTED[name](arguments[0], 1 if number is None else number)
    if name == "init" and len(arguments) == 1 and number is None:
        return init(arguments[0])
    if name in PAIRED and len(arguments) == 2 and number is None:
        return PAIRED[name](*arguments)
    form = "(A, B)" if name in PAIRED else "(A)" if name == "init" else "(A) or (A, 2)"
    raise PatternError(f"{name} is written {name}{form}, but is not")
