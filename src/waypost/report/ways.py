"""The usual ways to a target in words, a table and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from rich import box
from rich.console import Console
from rich.text import Text

from waypost.arguments import Positive, checked
from waypost.importance.results import Bounds
from waypost.patterns import UsualWays
from waypost.patterns.ways import Way, steps_in_words
from waypost.report.folding import Written, shortened
from waypost.report.jsonfile import FORMAT, numbers
from waypost.report.names import differing
from waypost.report.table import fitted_table
from waypost.report.wording import cell, number, percent, printable, span


@checked
def ways_summary(found: UsualWays, top: Positive = 5) -> str:
    """Say which ways are most usual, one line each.

    >>> from waypost import usual_ways
    >>> from waypost.cases import loan
    >>> print(ways_summary(usual_ways(loan(), target="Granted"), top=1))
    43.6 % of the runs that reach 'Granted' go s0, Application, Application+, Granted
    """
    reach = f"of the runs that reach {printable(found.target)} go"
    return "\n".join(f"{percent(way.share)} {reach} {printable(str(way))}" for way in found[:top])


def print_ways(
    found: UsualWays, bounds: Sequence[Bounds | None], called: str, console: Console, *, whole: bool = False
) -> None:
    """Print the most usual ways with their shares; `bounds` are those of their likeliest runs as paths.

    Long ways are told by what the first one has not, unless they are to be `whole`.

    >>> from waypost import usual_ways
    >>> from waypost.cases import loan
    >>> found = usual_ways(loan(), target="Granted", top=1)
    >>> bounds = [found[0].importance("all").bounds]
    >>> print_ways(found, bounds, "a best strategy", Console(width=100))  # doctest: +NORMALIZE_WHITESPACE
    Under a best strategy 'Granted' is reached with probability 0.98. The usual ways:
    <BLANKLINE>
      way                                      share    as a path
     ─────────────────────────────────────────────────────────────
      s0, Application, Application+, Granted   0.436   0.454 to 1
    <BLANKLINE>
    Together 43.6 % of the runs that reach 'Granted' go one of these ways.
    """
    target = printable(found.target)
    console.print(
        Text(f"Under {printable(called)} {target} is reached with probability {number(found.reached)}. The usual ways:")
    )
    full = [str(way) for way in found]
    short = [steps_in_words(parts) for parts in shortened([_written(way) for way in found])]
    told = full if whole else short
    lines = [
        [way, number(taken.share), "" if known is None else span(known, cell)]
        for way, taken, known in zip(told, found, bounds, strict=True)
    ]
    head, apart = ["way", "share", "as a path"], int(any(len(way) > console.width for way in told))
    console.print(fitted_table(console, head, lines, box=box.SIMPLE_HEAD, header_style="dim", leading=apart))
    if told != full:
        parts = [both for way in found for both in zip(way.parts, _written(way), strict=True)]
        changes = " and steps by what they change" if any(text != str(part) for part, (_, text) in parts) else ""
        console.print(Text(f"Long ways are told by what the first has not{changes}; --whole writes them out."))
    together = sum(way.share for way in found)
    console.print(Text(f"Together {percent(min(1.0, together))} of the runs that reach {target} go one of these ways."))


def _written(way: Way) -> list[Written]:
    """Parts of a way; steps to states of many variables by those that they change."""
    written: list[Written] = []
    before = ""
    for part in way.parts:
        steps = [differing(a, b) or "(stays)" for a, b in pairwise([before, *part.steps])]
        written.append((part.steps, str(replace(part, steps=tuple(steps)))))
        before = part.steps[-1]
    return written


def ways_document(found: UsualWays, bounds: Sequence[Bounds | None], called: str) -> dict[str, Any]:
    """The usual ways as JSON has them."""
    return {
        "format": FORMAT,
        "target": found.target,
        "strategy": called,
        "reachability": found.reached,
        "ways": [
            {
                "way": str(way),
                "pattern": str(way.pattern),
                "share": way.share,
                "run": list(way.run),
                "probability": way.likely,
                "path": None if known is None else numbers(**known._asdict()),
            }
            for way, known in zip(found, bounds, strict=True)
        ],
    }
