"""Opening a file that may be compressed, whatever it is called."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path

from waypost.errors import LogError
from waypost.formats.reading import open_unpacked, read_bytes

PARQUET = (".parquet", ".pq")
LOG_SUFFIXES = (".xes", ".xes.gz", ".csv", ".tsv", ".csv.gz", *PARQUET)


def exists(path: Path) -> bool:
    """Whether there is something of that name; no name with a NUL in it is one."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def log_files(path: Path) -> list[Path]:
    """Files of a log: the one it is, or those in a folder and the folders in it, by name; they are of one kind."""
    if not path.is_dir():
        return [path]
    found: dict[str, list[Path]] = {}
    for each in sorted(path.rglob("*")):
        kind = _kind(each)
        hidden = any(part.startswith(("_", ".")) for part in each.relative_to(path).parts)  # no data, as in Spark
        if kind is not None and not hidden and each.is_file():
            found.setdefault(kind, []).append(each)
    if not found:
        raise LogError(f"{str(path)!r} is a folder without event logs; they end with {', '.join(LOG_SUFFIXES)}")
    if len(found) > 1:
        first = " and ".join(f"{kind} ({files[0].name})" for kind, files in found.items())
        raise LogError(f"{str(path)!r} is a folder with logs of several kinds, {first}; name one of the files")
    return next(iter(found.values()))


def parquet_files(path: Path) -> list[Path]:
    """Parquet files of a log; none where it comes as anything else."""
    if not exists(path):
        return []
    files = log_files(path)
    return files if _kind(files[0]) == "Parquet" else []


def is_xes(path: str | PathLike[str]) -> bool:
    """Whether the name of a file is that of an XES log."""
    return str(path).casefold().endswith((".xes", ".xes.gz", ".xml", ".xml.gz"))


def _kind(path: Path) -> str | None:
    """Kind of log that a file is by its name."""
    name = path.name.casefold()
    kinds = {"XES": (".xes", ".xes.gz"), "Parquet": PARQUET, "CSV": (".csv", ".tsv", ".csv.gz", ".tsv.gz")}
    return next((kind for kind, endings in kinds.items() if name.endswith(endings)), None)


def open_binary(path: Path) -> io.BufferedReader:
    """Bytes of a file, unpacked if they are gzip's, within the limits of `waypost.formats.reading`."""
    return open_unpacked(path, LogError)


def read_text(path: Path, what: str) -> str:
    """Text of a small file in UTF-8; `what` it is to be is told where it is not."""
    try:
        return read_bytes(path, LogError).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LogError(f"{path.name} is no {what}: byte {error.start} is not UTF-8 text") from None
