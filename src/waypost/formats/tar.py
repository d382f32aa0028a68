"""The files inside a tar archive, one after another.

The standard library's reader also follows links, sparse files and sizes that run backwards. A model has none of these,
and an archive from a stranger should cost no more than its own length.
"""

from __future__ import annotations

from mmap import mmap
from typing import Protocol

from waypost.errors import FormatError

BLOCK = 512
SMALL = 2**20  # bytes up to which a file is a copy
_OCTAL = frozenset(b"01234567")


class Pieces(Protocol):
    """Bytes that are taken one piece after another."""

    def take(self, size: int) -> bytes | memoryview:
        """Give the next bytes; fewer than asked for where there are no more."""


class Laid:
    """Bytes that lie in memory: large pieces are views, which copy nothing."""

    def __init__(self, content: bytes | mmap) -> None:
        self._view, self._at = memoryview(content), 0

    def take(self, size: int) -> bytes | memoryview:
        """Give the next bytes."""
        part = self._view[self._at : self._at + size]
        self._at += size
        return bytes(part) if size <= SMALL else part


def tar_members(source: Pieces, name: str) -> dict[str, bytes | memoryview]:
    """Give the regular files of an archive by path.

    >>> import io, tarfile
    >>> buffer = io.BytesIO()
    >>> with tarfile.open(fileobj=buffer, mode="w") as tar:
    ...     member = tarfile.TarInfo("./a.bin")
    ...     member.size = 2
    ...     tar.addfile(member, io.BytesIO(b"hi"))
    >>> tar_members(Laid(buffer.getvalue()), "model.umb")
    {'a.bin': b'hi'}
    """
    files: dict[str, bytes | memoryview] = {}
    position, long_name = 0, None
    while len(header := bytes(source.take(BLOCK))) == BLOCK:
        if header.count(0) == BLOCK:  # the archive ends with empty blocks
            return files
        if header[257:262] != b"ustar":
            raise FormatError(f"{name} is no tar archive (at byte {position})")
        size = _octal(header[124:136], name)
        body = source.take(size)
        if len(body) != size:
            raise FormatError(f"{name} is cut off: a file in it should have {size} bytes, {len(body)} are left")
        source.take(-size % BLOCK)
        kind = header[156:157]
        if kind in (b"0", b"\0"):
            prefix, short = _text(header[345:500]), _text(header[:100])
            path = long_name or (f"{prefix}/{short}" if prefix else short)
            files[path.removeprefix("./").lstrip("/")] = body
        long_name = _long_name(kind, bytes(body)) if kind in (b"L", b"x") else None
        position += BLOCK + -(-size // BLOCK) * BLOCK
    raise FormatError(f"{name} is cut off: the end of the archive is missing")


def _long_name(kind: bytes, body: bytes) -> str | None:
    """Read the path of the next file, where its own header has no room for it."""
    if kind == b"L":
        return _text(body)
    for record in body.split(b"\n"):
        key, _, value = record.partition(b" ")[2].partition(b"=")
        if key == b"path":
            return _text(value)
    return None


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


def _octal(field: bytes, name: str) -> int:
    digits = field.strip(b" \0")
    if not digits or not _OCTAL.issuperset(digits):
        raise FormatError(f"{name} is no tar archive we can read: a size in it is {digits[:20]!r}")
    return int(digits, 8)
