"""How files are written: whole or not at all, and never in the place of what is no plain file.

::

    regular file, or nothing yet    written beside its place and moved there, with the mode of the one it replaces
    symbolic link                   the same, at the place that the link names
    device, FIFO, /dev/stdout       written through
    read-only file, folder          refused

Several files of one model appear together: all are written before the first is moved, and a failure puts everything
back.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from waypost.errors import FormatError

_OPEN_ALREADY = re.compile(r"/dev/(?:stdout|stderr|fd/\d{1,6})\Z|/proc/self/fd/\d{1,6}\Z")
_NUMBERED = {"stdout": 1, "stderr": 2}


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write a file, whole or not at all."""
    write_files({path: content})


def write_text(path: Path | str, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_files({path: as_utf8(path, text)})


def as_utf8(path: Path | str, text: str) -> bytes:
    """Text as the bytes of a file; half a surrogate pair is no character and has none."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{Path(path).name} cannot hold the name with {text[error.start]!r}, which is no character"
        ) from None


def write_files(contents: Mapping[Path | str, bytes]) -> None:
    """Write files that belong together: all of them or none; the last one makes the others count.

    While they are moved into place the last one is missing, so that nobody, not even after a power cut, reads new
    parts of a model with old ones.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_files({f"{folder}/a": b"one", f"{folder}/b": b"two"})
    ...     Path(folder, "b").read_bytes()
    b'two'
    """
    staged: list[tuple[Path, Path]] = []  # (temporary, place)
    through: list[tuple[Path | str, bytes]] = []
    with ExitStack() as stack:
        for path, content in contents.items():
            with _explained(path):
                place, mode = _place(path)
                if place is None:
                    through.append((path, content))
                    continue
                temporary = place.with_name(f".{place.name[:40]}.{secrets.token_hex(6)}")
                stack.callback(temporary.unlink, missing_ok=True)
                _write_new(temporary, content, mode)
                staged.append((temporary, place))
        for path, content in through:
            with _explained(path):
                _write_through(path, content)
        _move(staged)


def _place(path: Path | str) -> tuple[Path | None, int | None]:
    """Where a regular file goes, with the mode it keeps; None for what is written through."""
    if _OPEN_ALREADY.match(os.fspath(path)):
        return None, None
    try:
        found = os.stat(path)  # noqa: PTH116 - follows links, as writing does
    except FileNotFoundError:
        return Path(os.path.realpath(path)), None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(None, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        return None, None
    if not found.st_mode & 0o222 or not os.access(path, os.W_OK):  # root may write anything, and still should not
        raise PermissionError(None, "it is read-only")
    return Path(os.path.realpath(path)), stat.S_IMODE(found.st_mode)


def _write_new(path: Path, content: bytes, mode: int | None) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # a full disk may be told only now
        if mode is not None:
            path.chmod(mode)


def _write_through(path: Path | str, content: bytes) -> None:
    """Write to a device, a FIFO, or what is open already."""
    name = os.fspath(path)
    if _OPEN_ALREADY.match(name):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        last = name.rpartition("/")[2]
        handle = os.dup(_NUMBERED[last] if last in _NUMBERED else int(last))
    else:
        handle = os.open(path, os.O_WRONLY)
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def _move(staged: list[tuple[Path, Path]]) -> None:
    """Move files into place; what was there is put aside until all of them are."""
    if len(staged) == 1:
        with _explained(staged[0][1]):
            staged[0][0].replace(staged[0][1])
        return
    undo: list[Callable[[], object]] = []
    aside: list[Path] = []
    try:
        for temporary, place in reversed(staged):
            if place.exists():
                old = temporary.with_name(temporary.name + ".old")
                with _explained(place):
                    place.replace(old)
                aside.append(old)
                undo.append(lambda old=old, place=place: old.replace(place))  # type: ignore[misc]
        for temporary, place in staged:
            with _explained(place):
                temporary.replace(place)
            undo.append(lambda place=place: place.unlink())  # type: ignore[misc]
    except BaseException:
        for step in reversed(undo):
            with contextlib.suppress(OSError):
                step()
        raise
    for old in aside:
        old.unlink(missing_ok=True)


@contextlib.contextmanager
def _explained(path: Path | str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # the reader of a pipe has seen enough: no mistake of anybody's
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"cannot write {os.fspath(path)!r}: {reason}") from None
