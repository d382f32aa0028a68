"""Opening a file that may be compressed, whatever it is called."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO, cast


def open_binary(path: Path) -> IO[bytes]:
    """Bytes of a file, unpacked if they are gzip's."""
    with path.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path, "rb")) if zipped else path.open("rb")
