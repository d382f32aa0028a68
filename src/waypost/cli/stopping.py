"""Ctrl-C always ends a command, within a second, with a code that says so; and so does the end of ``--time-limit``.

Python turns the signal into an exception when its next line runs, which a compiled loop may put off for seconds, and
which a library may swallow. So a thread listens too: the loops let go of the interpreter while they run, so that it
hears the signal at once. It gives the command `PATIENCE` to end by itself, and ends it otherwise. Time that runs out is
an interrupt that nobody typed.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from waypost.cli import progress

PATIENCE = 0.7  # seconds
INTERRUPTED = 130
TOO_LONG = 2


@dataclass
class _Clock:
    """Time of the command that is running; there is one at a time."""

    allowed: float | None = None  # seconds
    over: float | None = None  # seconds that have passed, where that was too long


_clock = _Clock()


def allowed() -> float | None:
    """Seconds that the command may take; None where nobody set a limit."""
    return _clock.allowed


def ending() -> tuple[str, int]:
    """Why a command that is interrupted ends, and with which code."""
    if _clock.over is None:
        return "interrupted", INTERRUPTED
    return f"no answer within {_clock.over:g} s, the time limit", TOO_LONG


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupt the command if it takes longer than so many seconds."""
    done = threading.Event()
    _clock.allowed, _clock.over = seconds, None
    threading.Thread(target=_time, args=(seconds, done), daemon=True).start()
    try:
        yield
    finally:
        done.set()
        _clock.allowed = None


def _time(seconds: float, done: threading.Event) -> None:
    if done.wait(seconds):
        return
    _clock.over = seconds
    _thread.interrupt_main()  # heard by nobody where Ctrl-C is ignored, as it is in the background of a shell
    if not done.wait(PATIENCE):
        _end()


@contextlib.contextmanager
def stopping() -> Iterator[threading.Event]:
    """Watch for Ctrl-C while a command runs in the main thread; the event tells whether it was heard."""
    heard = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return
    told, tell = socket.socketpair()
    tell.setblocking(False)
    before = signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(told, heard), daemon=True).start()
    try:
        yield heard
    finally:
        signal.set_wakeup_fd(before)
        tell.close()  # the thread is told by this, too


def _listen(told: socket.socket, heard: threading.Event) -> None:
    with told:
        while number := told.recv(1):
            if number[0] == signal.SIGINT:
                break
        else:
            return
        heard.set()
        told.settimeout(PATIENCE)
        with contextlib.suppress(TimeoutError):
            while told.recv(1):  # a second Ctrl-C changes nothing
                pass
            return  # the command has ended by itself
    _end()


def _end() -> None:
    """End the process here and now, with a sentence."""
    why, code = ending()
    with contextlib.suppress(OSError, ValueError):
        shown = "\x1b[?25h\r\x1b[2K" if sys.stderr.isatty() else ""  # a progress bar hides the cursor
        so_far = progress.so_far()
        os.write(2, f"{shown}waypost: {why}{f': {so_far}' if so_far else ''}\n".encode())
    os._exit(code)
