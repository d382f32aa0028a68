"""Success after and without a state, in cells and sentences."""

from __future__ import annotations

from waypost.importance.results import Bounds, Explanation, Kind
from waypost.importance.whatifs import WhatIfs
from waypost.report.names import short_names
from waypost.report.wording import cell, printable, span

WHAT_IF = ("success after", "success without")
SENTENCES = 3


def whatif_cells(known: WhatIfs, k: int) -> list[str]:
    """Cells of one state: what success is likely after it, and without it at best."""
    return [span(Bounds(known.after_lower[k], known.after_upper[k]), cell), cell(known.without[k])]


def whatif_words(explanation: Explanation) -> list[str]:
    """Say which states cannot be done without, or only at a price; the dearest first.

    >>> from waypost import explain
    >>> from waypost.cases import loan
    >>> for sentence in whatif_words(explain(loan(), target="Granted", whatifs=True)):
    ...     print(sentence)
    Without Application+, 'Granted' cannot be reached.
    Without Consultation, 'Granted' is reached with probability 0.465 at best, instead of 0.98.
    Without Rework, 'Granted' is reached with probability 0.9 at best, instead of 0.98.
    """
    known, called = explanation.whatifs, short_names(explanation.mdp)
    if known is None:
        return []
    target, best = printable(explanation.target), explanation.reachability.upper
    inner = [k for k, kind in enumerate(explanation.kinds) if kind not in {Kind.START, Kind.TARGET}]
    dear = sorted((k for k in inner if known.without[k] < best), key=lambda k: float(known.without[k]))
    said = []
    for k in dear[:SENTENCES]:
        name, left = printable(called(int(explanation.asked[k]))), known.without[k]
        said.append(
            f"Without {name}, {target} "
            + (
                "cannot be reached."
                if left == 0
                else f"is reached with probability {cell(left)} at best, instead of {cell(best)}."
            )
        )
    return said
