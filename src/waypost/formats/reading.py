"""How a file is opened: once, without waiting for ever, and no further than its size deserves.

A packed file may unpack to `SWELL` times its size, or to `ALWAYS` bytes, whichever is more. Who means it, and has the
memory, sets ``WAYPOST_ALLOW_LARGE=1``.
"""

from __future__ import annotations

import gzip
import io
import os
import queue
import stat
import threading
import zlib
from pathlib import Path
from typing import IO, Any

from waypost.errors import FormatError, WaypostError

SWELL = 100  # event logs pack to a thirtieth or so
ALWAYS = 64_000_000  # bytes
STREAM = 1_000_000_000  # bytes from a pipe or a device, whose end cannot be foreseen
PATIENCE = 5.0  # seconds for somebody to open the other end of a FIFO
GZIP = b"\x1f\x8b"
LARGE = "WAYPOST_ALLOW_LARGE"


def unpacked_limit(packed: int, swell: int = SWELL) -> int | None:
    """Bytes that a file of so many may unpack to; None where any number is allowed.

    >>> unpacked_limit(1000), unpacked_limit(10_000_000)
    (64000000, 1000000000)
    """
    return None if os.environ.get(LARGE, "") not in ("", "0") else max(ALWAYS, swell * packed)


def too_large(name: str, limit: int) -> str:
    """Say that a file was not read to its end."""
    return (
        f"{name} unpacks to more than {limit / 1e6:,.0f} MB, which no honest file of its size does; "
        f"to read it all the same, set {LARGE}=1"
    )


def open_source(path: Path) -> IO[bytes]:
    """Open a file, device or FIFO for reading; a FIFO that nobody writes into is an error, not a wait for ever.

    Raises `OSError` for what cannot be opened.
    """
    if stat.S_ISFIFO(os.stat(path).st_mode):  # noqa: PTH116 - through links
        return os.fdopen(_await_writer(path), "rb")
    return path.open("rb")


def beginning(path: Path, size: int) -> bytes:
    """First bytes of a file that can be read again; of anything else, none.

    >>> beginning(Path("no such file"), 2)
    b''
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - through links
            return b""
        with path.open("rb", buffering=0) as stream:
            return stream.read(size)
    except (OSError, ValueError):  # who reads it will say why
        return b""


def begins_as_list(path: Path) -> bool:
    """Whether a file is JSON by its ending and starts as a list does: traces rather than a model.

    >>> begins_as_list(Path("no such file.json"))
    False
    """
    return path.suffix.casefold() == ".json" and beginning(path, 64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


def read_bytes(path: Path, kind: type[WaypostError] = FormatError) -> bytes:
    """Content of a file, or a clear word why not."""
    try:
        with open_source(path) as stream:
            if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return stream.read()
            content = stream.read(STREAM + 1)
    except (OSError, ValueError) as error:
        raise kind(cannot_read(path, error)) from None
    if len(content) > STREAM and unpacked_limit(0) is not None:
        raise kind(f"{path} goes on for more than {STREAM / 1e6:,.0f} MB; to read it all the same, put it into a file")
    return content


def cannot_read(path: Path, error: Exception) -> str:
    """Say why a file cannot be read."""
    return f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}"


def open_unpacked(path: Path, kind: type[WaypostError]) -> io.BufferedReader:
    """Bytes of a file, unpacked if they are gzip's, whatever it is called; damage and excess raise `kind`."""
    stream = None
    try:
        stream = open_source(path)
        packed = stream.peek(2)[:2] == GZIP  # type: ignore[attr-defined]
    except (OSError, ValueError) as error:
        if stream is not None:
            stream.close()
        raise kind(cannot_read(path, error)) from None
    found = os.fstat(stream.fileno())
    regular, size = stat.S_ISREG(found.st_mode), found.st_size
    limit = unpacked_limit(size) if packed else None if regular or unpacked_limit(0) is None else STREAM
    if packed and regular:
        _try_out(stream, path, limit, kind)
    source: Any = gzip.GzipFile(fileobj=stream) if packed else stream
    return io.BufferedReader(_Bounded(source, path, limit, kind, stream), 1 << 16)


def _try_out(stream: IO[bytes], path: Path, limit: int | None, kind: type[WaypostError]) -> None:
    """Unpack a file once for nothing: a bomb is noticed before anybody takes the trouble to understand it."""
    try:
        with _Bounded(gzip.GzipFile(fileobj=stream), path, limit, kind) as trial:
            while trial.read(1 << 20):
                pass
        stream.seek(0)
    except BaseException:
        stream.close()
        raise


class _Bounded(io.RawIOBase):
    """A stream that ends in an error of ours when it is damaged or goes on for too long."""

    def __init__(
        self, source: Any, path: Path, limit: int | None, kind: type[WaypostError], file: IO[bytes] | None = None
    ) -> None:
        self._source, self._path, self._limit, self._kind = source, path, limit, kind
        self._file = file  # to be closed with it
        self._seen = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._source.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise self._kind(f"{self._path.name} is a damaged gzip file: {error}") from None
        except OSError as error:
            raise self._kind(cannot_read(self._path, error)) from None
        self._seen += len(content)
        if self._limit is not None and self._seen > self._limit:
            raise self._kind(too_large(self._path.name, self._limit))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        if not self.closed:
            self._source.close()
            if self._file is not None:
                self._file.close()
        super().close()


def _await_writer(path: Path) -> int:
    """Wait until somebody has the other end of a FIFO open; then it may take as long as it likes to write."""
    opened: queue.SimpleQueue[int] = queue.SimpleQueue()
    threading.Thread(target=lambda: opened.put(os.open(path, os.O_RDONLY)), daemon=True).start()
    try:
        return opened.get(timeout=PATIENCE)
    except BaseException as error:
        os.close(os.open(path, os.O_RDWR))  # a writer for a moment, so that the thread does not wait for ever
        os.close(opened.get())
        if isinstance(error, queue.Empty):
            raise TimeoutError(None, f"nobody has opened this FIFO for writing within {PATIENCE:g} s") from None
        raise
