"""The one place through which words reach a terminal.

Names come from other people's files: what a terminal would obey rather than show (escape sequences, NUL, marks that
turn the direction of text) is spelt out, and a name of a million characters is shown by its beginning. Data for
programs (CSV, JSON) is left as it is, unless it is a terminal that it goes to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

LONGEST = 4000  # characters of one line that people are shown


def safe(text: str) -> str:
    r"""Text for a terminal, its line ends kept.

    >>> safe("a\x1b[31m\u202e\nb")
    'a\\x1b[31m\\u202e\nb'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from waypost.report.wording import printable

    return "\n".join(printable(line) for line in text.split("\n"))


def brief(text: str) -> str:
    """Text for people: as `safe`, and no line goes on for ever."""
    lines = text.split("\n")
    return safe("\n".join(x if len(x) <= LONGEST else f"{x[:LONGEST]}… ({len(x):,} characters)" for x in lines))


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print words for people."""
    click.echo(brief(text), err=err, nl=nl)


def give(data: str | bytes) -> None:
    """Print data for programs; text is made safe where it goes to a terminal."""
    shown = isinstance(data, str) and sys.stdout is not None and sys.stdout.isatty()
    click.echo(safe(data) if shown and isinstance(data, str) else data, nl=False)


def console(*, stderr: bool = False) -> Console:
    """Console for tables and progress, which spells out whatever it is given to show."""
    from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook
    from rich.segment import Segment

    class Spelt:
        """What is shown, segment by segment; colours are not text, and stay."""

        def __init__(self, shown: ConsoleRenderable) -> None:
            self.shown = shown

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Any]:
            for text, style, control in console.render(self.shown, options):
                yield Segment(text if control else safe(text), style, control)

    class Spelling(RenderHook):
        def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
            return [Spelt(shown) for shown in renderables]

    made = Console(stderr=stderr)
    made.push_render_hook(Spelling())
    return made
