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


def shown(value: object) -> str:
    """Write a value of somebody's file for a message: whatever it is, and not all of it.

    >>> shown(3), len(shown("x" * 1000)), shown(16**6000)
    ('3', 203, 'a number of 7226 digits')
    """
    try:
        text = repr(value)
    except ValueError:  # Python writes no decimal number that long
        digits = int(value.bit_length() * 0.30103) + 1 if isinstance(value, int) else 0
        return f"a number of {digits} digits" if digits else f"a very long {type(value).__name__}"
    except RecursionError:
        return f"a deeply nested {type(value).__name__}"
    return text if len(text) <= 200 else text[:200] + "..."
