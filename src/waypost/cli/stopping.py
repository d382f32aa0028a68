"""Ctrl-C always ends a command, within a second, with a code that says so.

Python turns the signal into an exception when its next line runs, which a compiled loop may put off for seconds, and
which a library may swallow. So a thread listens too: the loops let go of the interpreter while they run, so that it
hears the signal at once. It gives the command `PATIENCE` to end by itself, and ends it otherwise.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator

from waypost.cli import progress

PATIENCE = 0.7  # seconds
INTERRUPTED = 130


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
    with contextlib.suppress(OSError, ValueError):
        shown = "\x1b[?25h\r\x1b[2K" if sys.stderr.isatty() else ""  # a progress bar hides the cursor
        so_far = progress.so_far()
        os.write(2, f"{shown}waypost: interrupted{f': {so_far}' if so_far else ''}\n".encode())
    os._exit(INTERRUPTED)
