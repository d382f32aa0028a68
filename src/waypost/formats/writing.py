"""How a file is written: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from waypost.errors import FormatError


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write a file beside its place and move it there, so that nobody ever sees half of it."""
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    except OSError as error:
        raise FormatError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except OSError as error:
        raise FormatError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    finally:
        Path(temporary).unlink(missing_ok=True)


def write_text(path: Path | str, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{Path(path).name} cannot hold the name with {text[error.start]!r}, which is no character"
        ) from None
    write_bytes(path, content)
