"""Opening a file that may be compressed, whatever it is called."""

from __future__ import annotations

import io
from pathlib import Path

from waypost.errors import LogError
from waypost.formats.reading import open_unpacked, read_bytes


def exists(path: Path) -> bool:
    """Whether there is something of that name; no name with a NUL in it is one."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def open_binary(path: Path) -> io.BufferedReader:
    """Bytes of a file, unpacked if they are gzip's, within the limits of `waypost.formats.reading`."""
    return open_unpacked(path, LogError)


def read_text(path: Path, what: str) -> str:
    """Text of a small file in UTF-8; `what` it is to be is told where it is not."""
    try:
        return read_bytes(path, LogError).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LogError(f"{path.name} is no {what}: byte {error.start} is not UTF-8 text") from None
