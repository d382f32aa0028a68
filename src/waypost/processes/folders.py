"""A folder that is gone when its process is, however that ends: a small program waits for it. Run by its path."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable


def passing_folder() -> tuple[str, Callable[[], None]]:
    """Make a temporary folder, and give what removes it; where that is never called, the end of this process does.

    >>> import os
    >>> folder, remove = passing_folder()
    >>> os.path.isdir(folder), remove(), os.path.isdir(folder)
    (True, None, False)
    """
    folder = tempfile.mkdtemp(prefix="waypost-")
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the other one
    )

    def remove() -> None:
        guard.communicate()  # nothing more: the guard hears that this end is closed
        shutil.rmtree(folder, ignore_errors=True)

    return folder, remove


if __name__ == "__main__":
    sys.stdin.buffer.read()  # ends with the parent, whatever ends that
    shutil.rmtree(sys.argv[1], ignore_errors=True)
