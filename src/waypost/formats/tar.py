"""The files inside a tar archive, as slices of it.

The standard library's reader also follows links, sparse files and sizes that run backwards. A model has none of these,
and an archive from a stranger should cost no more than its own length.
"""

from __future__ import annotations

from mmap import mmap

from waypost.errors import FormatError

BLOCK = 512
SMALL = 2**20  # bytes up to which a file is a copy


def tar_members(content: bytes | mmap, name: str) -> dict[str, bytes | memoryview]:
    """Give the regular files of an archive by path; large ones as a view, which copies nothing.

    >>> import io, tarfile
    >>> buffer = io.BytesIO()
    >>> with tarfile.open(fileobj=buffer, mode="w") as tar:
    ...     member = tarfile.TarInfo("./a.bin")
    ...     member.size = 2
    ...     tar.addfile(member, io.BytesIO(b"hi"))
    >>> tar_members(buffer.getvalue(), "model.umb")
    {'a.bin': b'hi'}
    """
    files: dict[str, bytes | memoryview] = {}
    view = memoryview(content)
    position, long_name = 0, None
    while position + BLOCK <= len(content):
        header = content[position : position + BLOCK]
        if not any(header):  # the archive ends with empty blocks
            return files
        if header[257:262] != b"ustar":
            raise FormatError(f"{name} is no tar archive (at byte {position})")
        size = _octal(header[124:136], name)
        body: bytes | memoryview = view[position + BLOCK : position + BLOCK + size]
        if size <= SMALL or header[156:157] not in (b"0", b"\0"):
            body = bytes(body)
        if len(body) != size:
            raise FormatError(f"{name} is cut off: a file in it should have {size} bytes, {len(body)} are left")
        kind = header[156:157]
        if kind in (b"0", b"\0"):
            prefix, short = _text(header[345:500]), _text(header[:100])
            path = long_name or (f"{prefix}/{short}" if prefix else short)
            files[path.removeprefix("./").lstrip("/")] = body
        long_name = _long_name(kind, body) if isinstance(body, bytes) else None
        position += BLOCK + -(-size // BLOCK) * BLOCK
    raise FormatError(f"{name} is cut off: the end of the archive is missing")


def _long_name(kind: bytes, body: bytes) -> str | None:
    """Read the path of the next file, where its own header has no room for it."""
    if kind == b"L":
        return _text(body)
    if kind == b"x":
        for record in body.split(b"\n"):
            key, _, value = record.partition(b" ")[2].partition(b"=")
            if key == b"path":
                return _text(value)
    return None


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


def _octal(field: bytes, name: str) -> int:
    digits = field.strip(b" \0")
    if not digits or any(digit not in b"01234567" for digit in digits):
        raise FormatError(f"{name} is no tar archive we can read: a size in it is {digits[:20]!r}")
    return int(digits, 8)
