"""Signs of life on long work: a bar with a time estimate, on the terminal, after two seconds, and never in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from waypost.cli import terminal

PATIENCE = 2.0  # seconds before anything is shown


class InterruptedWorkError(Exception):
    """Ctrl-C, with what had been done by then; click would turn a KeyboardInterrupt into silence."""


_told: Callable[[], str] | None = None  # what the work that is running would say if it were interrupted now


def so_far() -> str:
    """What has been done by now, for somebody who interrupts."""
    return "" if _told is None else _told()


@contextmanager
def interruptible(told: Callable[[], str]) -> Iterator[None]:
    """Work that can say how far it got, should somebody interrupt it."""
    global _told  # noqa: PLW0603 - there is one command at a time
    _told = told
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedWorkError(told()) from None
    finally:
        _told = None


@contextmanager
def bounds_progress(total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Give a callback that counts settled bounds; show them on standard error; say how far it got when interrupted."""
    done = 0

    def settled(number: int) -> None:
        nonlocal done
        done += number
        show(done)

    watched = not quiet and sys.stderr.isatty()
    with (
        _bar(total) if watched else nullcontext(lambda _done: None) as show,
        interruptible(lambda: f"{done:,} of {total:,} bounds were settled; nothing was written"),
    ):
        yield settled


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    """Give a callback that shows how much of the work is done, from the time that somebody might wonder."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from waypost.graph.compiled import watching

    console = terminal.console(stderr=True)
    bar = Progress(
        TextColumn("settling bounds"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console,
        transient=True, auto_refresh=False,
    )  # fmt: skip
    task = bar.add_task("bounds", total=total)
    began, running, warned = time.monotonic(), False, False

    def show(done: int) -> None:
        nonlocal running
        bar.update(task, completed=done)
        if not running and time.monotonic() - began > PATIENCE:
            running = True
            bar.start()
        if running:
            bar.refresh()

    def compiling() -> None:
        nonlocal warned
        if not warned:
            warned = True
            console.print("making machine code for this computer, once; it takes up to half a minute", style="dim")

    try:
        with watching(compiling):
            yield show
    finally:
        if running:
            bar.stop()


@contextmanager
def status(text: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Give a callback that says on standard error how far work is, where somebody would see it."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    with terminal.console(stderr=True).status(text) as shown:
        yield lambda said: shown.update(f"{text}: {said}")
