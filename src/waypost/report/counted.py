"""Patterns of a log in words, a table and JSON: what good cases have that bad ones lack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.text import Text

from waypost.arguments import Positive, checked
from waypost.patterns.counted import CountedPattern, CountedPatterns
from waypost.report.jsonfile import FORMAT, numbers
from waypost.report.story import NOT_CONTROL, share_cell
from waypost.report.table import fitted_table, print_fitted
from waypost.report.wording import SCOPE_TITLES, count, percent, printable, span

SENTENCES = 5  # patterns that are told in words as well
AS_FAR = (
    "All shares leave out the cases that were over before the pattern could happen: that is the fair comparison, and "
    "what cases are counted in."
)
NAMED = 5  # activities that are the outcome, by name
PRODUCTIVE = "Each tells more than its parts do, and none restates another."


def in_words(one: CountedPattern) -> str:
    """A pattern as people say it.

    >>> from waypost import find_log_patterns
    >>> from waypost.logs import EventLog
    >>> log = EventLog.from_sequences([["call", "mail", "pay"]] * 50 + [["mail", "call", "go"]] * 50)
    >>> in_words(find_log_patterns(log, positive="pay")[0])
    'call, later mail'
    """
    names = [printable(name) for name in one.steps]
    a, b = names[0], names[-1]
    said = {
        "passes": a,
        "repeated": f"{a} at least {'twice' if one.times == 2 else f'{one.times} times'}",
        "both": f"{a} and {b}, in any order",
        "without": f"{a} but no {b}",
        "response": f"every {a} is followed by {b}",
        "precedence": f"{a} before the first {b}",
    }
    if one.kind in said:
        return said[one.kind]
    for name, directly in zip(names[1:], one.directly, strict=True):
        a += f" directly followed by {name}" if directly else f", later {name}"
    return a


def counted_line(one: CountedPattern) -> str:
    """One pattern in one sentence: how cases with it end, and those without it that came as far."""
    stage = one.stage
    where = "" if stage is None else f"of the {count(stage.cases, 'case')} that pass {printable(stage.name)}, "
    having, with_it = (one.cases, one.success_after) if stage is None else (stage.having, stage.success_with)
    ends = " and ".join(
        f"{percent(share)} {how}"
        for share, how in ((with_it, f"succeed with it (n = {having:,})"), (one.success_without_as_far, "without"))
        if share is not None
    )
    return f"{in_words(one)}: {where}{ends}."


@checked
def counted_summary(found: CountedPatterns, top: Positive = 5) -> str:
    """Say which patterns of a log tell most, one line each.

    >>> from waypost import find_log_patterns
    >>> from waypost.logs import EventLog
    >>> log = EventLog.from_sequences([["call", "mail", "pay"]] * 50 + [["mail", "call", "go"]] * 50)
    >>> print(counted_summary(find_log_patterns(log, positive="pay")))
    call, later mail: 100 % succeed with it (n = 50) and 0 % without.
    """
    lines = [counted_line(one) for one in found[:top]]
    return "\n".join(lines if any(one.sure for one in found) else [_nothing(found), *lines])


def print_counted(found: CountedPatterns, console: Console) -> None:
    """Print what good cases have and what bad ones have, and how far to trust it."""
    share = percent(found.reached)
    console.print(Text(f"{found.good:,} of {count(found.cases, 'case')} end well ({share})."))
    if not any(one.sure for one in found):
        console.print(Text(_nothing(found)))
    if len(found):
        _print_table(found, console)
    for one in [one for one in found if one.good_share < 1][:SENTENCES]:  # what all good cases pass has no other side
        console.print(Text(f"  - {counted_line(one)}"))
    console.print()
    for sentence in _trust(found):
        console.print(Text(sentence))


def _print_table(found: CountedPatterns, console: Console) -> None:
    """Print what good cases have more often, then what bad cases have."""
    scopes = list(found[0].bounds)
    titles = [SCOPE_TITLES[scope] for scope in scopes]
    head = ["pattern", "good cases", "bad cases", *titles, "success with", "success without", "cases"]
    lines: list[list[str | Text]] = []
    for title, helping in (("more in good:", True), ("more in bad:", False)):
        some = [one for one in found if one.helps == helping]
        lines += [[Text(title, "dim"), *[""] * (len(head) - 1)]] if some else []
        lines += [_cells(one, scopes) for one in some]
    look: Any = {"box": box.SIMPLE_HEAD, "header_style": "dim"}
    print_fitted(console, fitted_table(console, head, lines, spared=titles, whole=True, **look), head, "--json")


def _cells(one: CountedPattern, scopes: Sequence[str]) -> list[str | Text]:
    having, after = one.cases, one.success_after
    if one.stage is not None:
        having, after = one.stage.having, one.stage.success_with
    shares = [share_cell(one.good_share_as_far), share_cell(one.bad_share_as_far)]
    shares += [span(one.bounds[scope]) for scope in scopes]
    return [in_words(one), *shares, share_cell(after), share_cell(one.success_without_as_far), f"{having:,}"]


def _nothing(found: CountedPatterns) -> str:
    """Say that nothing is certain, and why what is shown is shown."""
    if not found.activities:
        return "Every activity is the outcome, comes after it, or is too rare, so there is nothing to make patterns of."
    closest = "; these come closest, and may be chance:" if len(found) else "."
    return (
        f"No pattern tells good cases from bad ones by more than chance would do among the {found.tried:,} counted in "
        f"{count(found.cases, 'case')}{closest}"
    )


def _trust(found: CountedPatterns) -> list[str]:
    """How patterns were found, what is no part of them, and what they cannot say."""
    told = [AS_FAR] if any(one.stage for one in found) else []
    told.append(NOT_CONTROL)
    kinds = "activity" if found.activities == 1 else "activities"
    told.append(f"{count(found.tried, 'pattern')} of {found.activities:,} {kinds} were counted.")
    if any(one.sure for one in found):
        told[-1] = f"{told[-1][:-1]}; those shown are more than chance would do in any of them. {PRODUCTIVE}"
    if found.left_out:
        others = "1 rarer activity was" if found.left_out == 1 else f"{found.left_out:,} rarer activities were"
        told.append(f"{others} left out; a greater --effort tries more, and a recipe can leave out others.")
    if found.defining:
        more = len(found.defining) - NAMED
        named = ", ".join(map(printable, found.defining[:NAMED])) + (f" and {more:,} more" if more > 0 else "")
        told.append(f"No part of a pattern, for they are the outcome or come after it: {named}.")
    return [*told, *(f"Note: {note}." for note in found.notes)]


def counted_document(found: CountedPatterns, called: str) -> dict[str, Any]:
    """Patterns of a log as JSON has them."""
    return {
        "format": FORMAT,
        "target": found.target,
        "strategy": called,
        "reachability": found.reached,
        "cases": found.cases,
        "good": found.good,
        "tried": found.tried,
        "defining": list(found.defining),
        "notes": list(found.notes),
        "patterns": [_entry(one) for one in found],
    }


def _entry(one: CountedPattern) -> dict[str, Any]:
    stage = None if one.stage is None else {**vars(one.stage)}
    return {
        "pattern": one.name,
        "words": in_words(one),
        "kind": one.kind,
        "steps": list(one.steps),
        "importance": one.good_share,
        "contrast": one.bad_share,
        "support": one.support,
        "information": one.information,
        "cases": one.cases,
        "good_cases": one.good_cases,
        "bad_cases": one.bad_cases,
        "success_with": one.success_after,
        "success_without": one.success_without,
        "stage": stage,
        "certain": one.certain,
        "sure": one.sure,
        **{scope: numbers(**bounds._asdict()) for scope, bounds in one.bounds.items()},
    }
