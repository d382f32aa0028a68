"""What is in a log, for people, in the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.text import Text

from waypost.logs.description import FEW_VALUES, UNIQUE, Attribute, LogDescription
from waypost.report.table import fitted_table
from waypost.report.wording import count, percent, printable

VARIANTS = 5
NAMES = 8  # of a long list, so many are shown
SEQUENCE = 200  # characters of a variant
SEGMENTS = 3  # attributes that are named for dividing the cases
UNDIVIDED = (
    "No event or attribute divides the cases into good and bad ones; read more cases, take a deadline as the outcome "
    "(--within '60 days' with --positive EVENT), or set one by a recipe (set_outcome)."
)


def print_description(found: LogDescription, name: str, *, top: int, console: Console | None = None) -> None:
    """Print what one asks of a log before one asks why."""
    console = Console() if console is None else console
    span = f", {found.first[:10]} to {found.last[:10]}" if found.first and found.last else ", without times"
    console.print(Text(f"{printable(name)}: {count(found.cases, 'case')}, {count(found.events, 'event')}{span}"))
    head = ["activity", "cases", "share", "events", "first", "last"]
    performed = any(a.resources is not None for a in found.activities)
    head += ["performed by"] * performed
    lines = []
    for a in found.activities[:top]:
        numbers = [f"{n:,}" for n in (a.events, a.first, a.last)] + ([f"{a.resources or 0:,}"] if performed else [])
        lines.append([a.name, f"{a.cases:,}", percent(a.share), *numbers])
    console.print(fitted_table(console, head, lines, box=box.SIMPLE_HEAD, header_style="dim"))
    if len(found.activities) > top:
        console.print(Text(f"and {len(found.activities) - top:,} more; --top {len(found.activities)} shows all\n"))
    _print_variants(found, console)
    _print_attributes(found, console)
    for title, told in (
        ("Lifecycle transitions", _counts(found.lifecycles)),
        ("Classifiers (--column activity=NAME)", ", ".join(f"{n} ({' + '.join(k)})" for n, k in found.classifiers)),
        ("Performed by", _counts(found.resources)),
        ("Columns that may say who acts (--actors COLUMN --choosing WHO)", ", ".join(found.actors)),
    ):
        if told:
            console.print(Text(f"{title}: {printable(told)}"))
    for note in found.notes:
        console.print(Text(f"Note: {printable(note)}"))
    _print_outcomes(found, name, console)


def _print_variants(found: LogDescription, console: Console) -> None:
    shown = found.variants[:VARIANTS]
    covered = percent(shown[-1].coverage) if shown else "0 %"
    most = f"; the first {len(shown)} cover {covered} of the cases" if len(shown) > 1 else ""
    console.print(Text(f"{count(found.n_variants, 'variant')}{most}:"))
    for variant in shown:
        console.print(Text(f"  {variant.cases:,}: {printable(', '.join(variant.activities), SEQUENCE)}"))


def _print_attributes(found: LogDescription, console: Console) -> None:
    for of in ("case", "event"):
        several = [a for a in found.attributes if a.of == of]
        if several:
            console.print(Text(f"Attributes of {of}s:"))
        for attribute in several:
            console.print(Text(f"  {printable(attribute.name)}: {printable(_values(attribute))}"))


def _values(attribute: Attribute) -> str:
    filled = "" if attribute.filled == 1 else f" ({percent(attribute.filled)} have it)"
    if attribute.kind != "text" and attribute.low is not None:
        low, high = (f"{v:g}" if isinstance(v, float) else v[:10] for v in (attribute.low, attribute.high or 0.0))
        return f"{attribute.kind}s from {low} to {high}{filled}"
    listed = len(attribute.counts) == attribute.distinct
    return (
        _counts(attribute.counts)
        + ("" if listed else f" and {attribute.distinct - len(attribute.counts):,} more")
        + filled
    )


def _counts(counts: Iterable[tuple[str, int]]) -> str:
    listed = list(counts)
    more = f" and {len(listed) - NAMES:,} more" if len(listed) > NAMES else ""
    return ", ".join(f"{value} {n:,}" for value, n in listed[:NAMES]) + more


def _print_outcomes(found: LogDescription, name: str, console: Console) -> None:
    """Print what could tell good cases from bad ones, and the command that asks."""
    if not found.outcomes:
        console.print(Text(f"\n{UNDIVIDED}"))
        return
    console.print(Text("\nWhat could be the outcome:"))
    for one in found.outcomes:
        console.print(Text(f"  {printable(one.option)}  {count(one.cases, 'case')}, {percent(one.share)}; {one.why}"))
    console.print(Text(f"\nNext: waypost explain {printable(name)} {printable(found.outcomes[0].option)}"))
    dividing = [printable(f"--segment {a.name!r}") for a in found.attributes if _divides(a, found)]
    if dividing:
        some = " or ".join(dividing[:SEGMENTS])
        console.print(Text(f"Cases may differ to begin with: {some} tells whether steps matter alike in every part."))


def _divides(attribute: Attribute, found: LogDescription) -> bool:
    """Whether an attribute parts the cases into few kinds, and not by the outcome itself."""
    few = 2 <= attribute.distinct == len(attribute.counts)
    many = attribute.kind == "number" and FEW_VALUES < attribute.distinct < UNIQUE * found.cases
    same = any(cases == found.outcomes[0].cases for _, cases in attribute.counts)
    return attribute.of == "case" and not attribute.later and (few or many) and not same
