"""Patterns in words, tables and JSON: how much one matters, and the most telling ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.text import Text

from waypost.arguments import Positive, checked
from waypost.patterns import FoundPatterns, PatternImportance, Telling
from waypost.report.jsonfile import FORMAT, numbers
from waypost.report.names import SHORT_NAMES, differing
from waypost.report.table import fitted_table
from waypost.report.wording import count, exactly, number, percent, printable, share, span

_UNDER = {"all": "Under any strategy", "optimal": "Under a best strategy", "strategy": "Under the given strategy"}
_WHATEVER = {
    "always": "Every run that reaches {target} matches it, whatever is done.",
    "never": "No run that reaches {target} matches it, whatever is done.",
}


@checked
def pattern_summary(answers: Sequence[PatternImportance]) -> str:
    """Say how important a pattern is, in one or several scopes.

    >>> from waypost import pattern_importance
    >>> from waypost.cases import loan
    >>> found = pattern_importance(loan(), pattern="... Error ... Granted", target="Granted", scope="optimal")
    >>> print(pattern_summary([found]))
    The pattern ... Error ... Granted for reaching 'Granted':
    Under a best strategy its importance is 0 to 0.05: 0 % to 5 % of the runs that reach 'Granted' match it.
    """
    first = answers[0]
    target = printable(first.target)
    said = [
        f"{_UNDER[answer.scope]} its importance is {span(answer.bounds, exactly)}: {share(answer.bounds)} of the runs "
        f"that reach {target} match it."
        for answer in answers
    ]
    if first.matches in _WHATEVER:
        said.append(_WHATEVER[first.matches].format(target=target))
    return "\n".join([f"The pattern {printable(str(first.pattern))} for reaching {target}:", *said])


def pattern_document(answers: Sequence[PatternImportance], target: Sequence[str]) -> dict[str, Any]:
    """Importance of one pattern in one or several scopes, as JSON has it."""
    first = answers[0]
    document: dict[str, Any] = {"format": FORMAT, "target": target[0] if len(target) == 1 else list(target)}
    document |= {"pattern": str(first.pattern), "matches": first.matches, "automaton": first.automaton_states}
    return document | {answer.scope: numbers(**answer.bounds._asdict()) for answer in answers}


def telling_line(telling: Telling) -> str:
    """One segment in one line.

    >>> from waypost import Strategy, find_patterns
    >>> from waypost.cases import loan
    >>> found = find_patterns(loan(), target="Granted", strategy=Strategy.uniform(loan()), top=1)
    >>> telling_line(found[0])
    '... Consultation Application+ ...: 61.2 % of the runs that succeed, 5.3 % of the others'
    """
    others = "" if telling.contrast is None else f", {percent(telling.contrast)} of the others"
    return f"{printable(_written(telling))}: {percent(telling.importance)} of the runs that succeed{others}"


def _written(telling: Telling) -> str:
    """Pattern with the short names of states of many variables."""
    text, first = str(telling.pattern), telling.mdp.states[telling.mdp.initial]
    for name in {test.name for test in telling.pattern.tests() if test.name is not None}:
        if (short := differing(first, name)) != name:  # a name of many variables has commas, and so stands in quotes
            text = text.replace(f'"{name}"', f'"{short}"' if short else "(start)")
    return text


@checked
def patterns_summary(found: FoundPatterns, top: Positive = 5) -> str:
    """Say which segments tell most, one line each."""
    return "\n".join(map(telling_line, found[:top])) or f"No segment tells anything about reaching {found.target}."


def print_found(found: FoundPatterns, called: str, console: Console) -> None:
    """Print the most telling segments, and what the numbers mean."""
    target, contrasted = printable(found.target), any(one.contrast is not None for one in found)
    lead = f"Under {printable(called)} {target} is reached with probability {number(found.reached)}."
    if not len(found):
        console.print(Text(f"{lead} No segment tells anything about reaching {target}."))
        return
    every = "Every run does, so that no segment tells success from failure; these divide the runs:"
    console.print(Text(f"{lead} {'Telling segments:' if contrasted else every}"))
    head = ["segment", "reach it", *(["do not"] if contrasted else []), "all runs", *(["bits"] if contrasted else [])]
    lines = []
    for one in found:
        cells = [_written(one), number(one.importance)]
        cells += [number(one.contrast)] if one.contrast is not None else []
        lines.append([*cells, number(one.support), *([number(one.information)] if contrasted else [])])
    console.print(fitted_table(console, head, lines, box=box.SIMPLE_HEAD, header_style="dim"))
    told = f", and matching tells {number(found[0].information)} bits about success" if contrasted else ""
    console.print(Text(f"The first: {telling_line(found[0])}{told}."))
    console.print(Text(f"{count(found.tried, 'segment')} tried; none of those shown restates another."))
    if any(_written(one) != str(one.pattern) for one in found):
        console.print(Text(f"{SHORT_NAMES} --json prints full names, as `waypost pattern` takes them."))


def found_document(found: FoundPatterns, called: str) -> dict[str, Any]:
    """The most telling segments as JSON has them."""
    return {
        "format": FORMAT,
        "target": found.target,
        "strategy": called,
        "reachability": found.reached,
        "tried": found.tried,
        "patterns": [
            {
                "pattern": str(one.pattern),
                "kind": one.kind,
                "importance": one.importance,
                "contrast": one.contrast,
                "support": one.support,
                "information": one.information,
            }
            for one in found
        ],
    }
