"""Long ways made short: what a way shares with the one before all others is said once, and endless ones are cut.

Reports that a person reads write ways so; files for programs have them whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby

Written = tuple[tuple[str, ...], str]  # the steps of a part of a way, and the part as it is written

LONG = 12  # parts; a shorter way is written whole
SHARED = 4  # parts in a row, as in the first way, that are left out but for the first and the last of them
ENDLESS = 24  # parts that are left at most
HEAD, TAIL = 14, 8  # parts of an endless way that are written


def shortened(ways: Sequence[Sequence[Written]]) -> list[list[str]]:
    """Parts of each way as they are written, with a word for those left out.

    >>> first = [((name,), name) for name in "abcdefghijklm"]
    >>> other = [*first[:6], (("x", "y"), "[x, y] (2 times)"), *first[6:]]
    >>> for way in shortened([first, other]):
    ...     print(", ".join(way))
    a, b, c, d, e, f, g, h, i, j, k, l, m
    a, … 4 steps as in the first …, f, [x, y] (2 times), g, … 5 steps as in the first …, m
    """
    if not ways:
        return []
    first, *others = ways
    return [_cut(first, set()), *(_cut(way, _shared(first, way)) for way in others)]


def _shared(first: Sequence[Written], way: Sequence[Written]) -> set[int]:
    """Parts of a long way that are left out, because the first one has them in the same row."""
    if len(way) <= LONG:
        return set()
    matcher = SequenceMatcher(None, [steps for steps, _ in first], [steps for steps, _ in way], autojunk=False)
    rows = [range(start, start + size) for _, start, size in matcher.get_matching_blocks() if size >= SHARED]
    return {k for row in rows for k in row[1:-1]}


def _cut(way: Sequence[Written], shared: set[int]) -> list[str]:
    """Write the parts of a way that are not shared, and of an endless one the beginning and the end."""
    left = [k for k in range(len(way)) if k not in shared]
    cut = range(left[HEAD], left[-TAIL]) if len(left) > ENDLESS else range(0)
    parts: list[str] = []
    why = dict.fromkeys(shared, "steps as in the first") | dict.fromkeys(cut, "more steps")
    for reason, group in groupby(enumerate(way), key=lambda each: why.get(each[0])):
        own = [part for _, part in group]
        if reason is None:
            parts += [text for _, text in own]
        else:
            parts.append(f"… {sum(len(steps) for steps, _ in own)} {reason} …")
    return parts
