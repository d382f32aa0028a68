"""What is seen of a run from outside: names, the actions between them, and how it ended."""

from __future__ import annotations

from typing import cast

Trace = list[str | tuple[str, str]]  # the first output, then (input, output) for every step

POSITIVE, NEGATIVE = "positive", "negative"  # the last output of a run that reached its goal, or did not
ENVIRONMENT = "env"  # the input of a step that nobody chooses


def steps_of(trace: Trace) -> list[tuple[str, str]]:
    """Steps of a trace, inputs with their outputs, without the first output.

    >>> steps_of(["start of the lake", ("down", "ice"), ("down", "positive")])
    [('down', 'ice'), ('down', 'positive')]
    """
    return cast("list[tuple[str, str]]", trace[1:])
