"""What gzip and xz packed, unpacked piece by piece into where it is needed: no whole copy of it ever exists."""

from __future__ import annotations

import lzma
import math
import zlib
from typing import IO, Any

import numpy as np

from waypost.errors import FormatError
from waypost.formats.reading import too_large, unpacked_limit

GZIP, XZ = b"\x1f\x8b\x08", b"\xfd7zXZ\x00"
FED, GIVEN = 1 << 17, 1 << 20  # bytes that go in, and come out at most, at a time: they stay near the processor
MEMORY = 256_000_000  # bytes that xz may use


class Unpacking:
    """Bytes of a packed file, taken one piece after another; damage, a missing end and a bomb are errors.

    >>> import gzip, io
    >>> packed = gzip.compress(b"wonlost")
    >>> source = Unpacking(io.BytesIO(packed), len(packed), "model.umb", swell=20)
    >>> bytes(source.take(3)), bytes(source.take(9))
    (b'won', b'lost')
    """

    def __init__(self, stream: IO[bytes], size: int, name: str, *, swell: int) -> None:
        self._stream, self._name = stream, name
        self._room = memoryview(bytearray(min(FED, max(size, 1))))  # for what goes in
        self._fresh = self._room[: self._read()]
        self._zlib = bytes(self._fresh[: len(GZIP)]) == GZIP
        self._packed: Any = zlib.decompressobj(wbits=31) if self._zlib else lzma.LZMADecompressor(memlimit=MEMORY)
        self._limit = unpacked_limit(size, swell)
        self._left = math.inf if self._limit is None else self._limit  # bytes that may still come out
        self._ready = memoryview(b"")  # came out, and nobody has taken it yet

    def take(self, size: int) -> bytes | memoryview:
        """Give the next bytes; fewer where there are no more."""
        if size <= len(self._ready):
            part, self._ready = self._ready[:size], self._ready[size:]
            return bytes(part)
        room = np.empty(int(min(size, len(self._ready) + self._left + 1)), np.uint8)
        filled = 0
        while filled < len(room):
            part = self._ready[: len(room) - filled]
            room[filled : filled + len(part)] = part
            filled, self._ready = filled + len(part), self._ready[len(part) :]
            if filled < len(room):
                self._ready = memoryview(self._more())
                if not self._ready:
                    break
        return room.data[:filled]

    def finish(self) -> None:
        """Unpack the rest for nothing: what is damaged behind the last piece is damaged."""
        while self._more():
            pass

    def _more(self) -> bytes:
        """Unpack a little; nothing at the end."""
        while not self._packed.eof:
            fed = self._fed()
            try:
                found: bytes = self._packed.decompress(fed, GIVEN)
            except (zlib.error, lzma.LZMAError, EOFError) as error:
                raise FormatError(f"{self._name} is damaged: {error}") from None
            self._left -= len(found)
            if self._limit is not None and self._left < 0:
                raise FormatError(too_large(self._name, self._limit))
            if found:
                return found
            if not fed and not self._packed.eof:
                raise FormatError(f"{self._name} is cut off")
        return b""

    def _fed(self) -> bytes | memoryview:
        """Give what is to be unpacked next: what was left over, or a piece of the file."""
        if self._zlib and self._packed.unconsumed_tail:
            return bytes(self._packed.unconsumed_tail)
        if not self._zlib and not self._packed.needs_input:
            return b""
        piece, self._fresh = self._fresh, self._room[:0]
        return piece or self._room[: self._read()]

    def _read(self) -> int:
        return self._stream.readinto(self._room) or 0  # type: ignore[attr-defined]
