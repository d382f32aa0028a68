"""UMB, the unified Markov binary format: a tar archive of plain arrays and one ``index.json``.

Format version 1, as in the published specification (pmc-tools/umb, ``spec.md``). What an MDP needs of it::

    index.json                              sizes, types, and what else is there
    state-to-choices.bin                    uint64, S + 1    our first_choice
    choice-to-branches.bin                  uint64, C + 1    the row pointer of our transitions
    branch-to-target.bin                    uint64
    branch-to-probability.bin               double or rational
    state-is-initial.bin                    bits
    actions/choices/{values,string-mapping,strings}.bin
    annotations/aps/<label>/states/values.bin    bits
    valuations/states/valuations.bin             bit-packed variables, see `umb_valuations`

Names that are no valuations and counts are in files of our own, ``waypost/state-names`` and ``waypost/counts.bin``,
which other tools pass over: the format has text annotations, but Storm refuses archives that use them.
No array is larger than the bytes that are there, and an archive that swells without measure is refused.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import FormatError, ModelError
from waypost.formats.lexical import distinct_actions
from waypost.formats.reading import read_bytes, too_large, unpacked_limit
from waypost.formats.tar import tar_members
from waypost.formats.umb_valuations import describe_valuations, pack_valuations, unpack_valuations
from waypost.formats.valuations import complete_valuations
from waypost.formats.writing import write_bytes
from waypost.model import MDP

GZIP, XZ, TAR = b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"ustar"
SWELL = 20  # times its size that an archive may unpack to; its arrays and names take some memory more

Files = Mapping[str, bytes]
_IDENTIFIER = re.compile(r"[0-9a-z_-]+\Z")


def is_umb(start: bytes) -> bool:
    r"""Whether a file begins like an UMB archive: a tar, plain or compressed.

    >>> is_umb(b"mdp\n")
    False
    """
    return start.startswith((GZIP, XZ)) or start[257:262] == TAR


def read_umb(path: Path | str, *, trusted: bool = False) -> MDP:
    """Read an MDP or DTMC from an UMB archive; one that is `trusted` may unpack to any size."""
    return umb_model(read_bytes(Path(path)), Path(path).name, trusted=trusted)


def umb_model(raw: bytes, name: str, *, trusted: bool = False) -> MDP:
    """Model of an archive that has been read."""
    return _Archive(tar_members(_unpacked(raw, name, trusted=trusted), name), name).model()


def write_umb(mdp: MDP, path: Path | str) -> None:
    """Write an MDP as an UMB archive, compressed with gzip; probabilities are rationals where the model has them."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in _files(mdp).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    write_bytes(path, gzip.compress(archive.getvalue(), compresslevel=3, mtime=0))


def _unpacked(raw: bytes, name: str, *, trusted: bool) -> bytes:
    limit = None if trusted else unpacked_limit(len(raw), SWELL)
    if not raw.startswith((GZIP, XZ)):
        return raw
    packed = zlib.decompressobj(wbits=31) if raw.startswith(GZIP) else lzma.LZMADecompressor(memlimit=256_000_000)
    unlimited = 0 if raw.startswith(GZIP) else -1
    try:
        content = packed.decompress(raw, unlimited if limit is None else limit + 1)
    except (zlib.error, lzma.LZMAError, EOFError) as error:
        raise FormatError(f"{name} is damaged: {error}") from None
    if limit is not None and len(content) > limit:
        raise FormatError(too_large(name, limit))
    if not packed.eof:
        raise FormatError(f"{name} is cut off")
    return content


class _Archive:
    """The files of an archive, read with checks."""

    def __init__(self, files: Files, name: str) -> None:
        self.files = files
        self.name = name
        try:
            self.index = json.loads(files.get("index.json", b"null"))
        except (ValueError, RecursionError):
            raise self.wrong("its index.json is not JSON") from None
        system = self._map(self.index, "index.json").get("transition-system")
        self.system = self._map(system, "transition-system")
        if self.index.get("format-version") != 1:
            raise self.wrong(
                f"it has format version {str(self.index.get('format-version'))[:20]}, and we read version 1"
            )
        self.n_states = self._count("#states")
        self.n_choices = self._count("#choices")
        self.n_branches = self._count("#branches")

    def wrong(self, what: str) -> FormatError:
        return FormatError(f"{self.name} is not an UMB model we can read: {what}")

    def _map(self, value: Any, what: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(f"there is no {what}" if value is None else f"{what} is not an object")
        return value

    def _count(self, key: str) -> int:
        value = self.system.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**40:
            raise self.wrong(f"{key} is {str(value)[:20]}, not a count")
        return value

    def array(self, file: str, dtype: str, length: int) -> NDArray[Any]:
        """Read an array that must be there, and as long as the index says."""
        content = self.files.get(file)
        if content is None:
            raise self.wrong(f"{file} is missing")
        if len(content) != length * np.dtype(dtype).itemsize:
            raise self.wrong(f"{file} has {len(content)} bytes, not those of {length} entries")
        return np.frombuffer(content, dtype)

    def pointer(self, file: str, rows: int, total: int) -> NDArray[np.int64]:
        """Read a row pointer; an absent one means one entry per row."""
        if file not in self.files:
            if rows != total:
                raise self.wrong(f"{file} is missing")
            return np.arange(rows + 1)
        found = self.array(file, "<u8", rows + 1)
        if found[0] != 0 or found[-1] != total or (found[1:] < found[:-1]).any():
            raise self.wrong(f"{file} does not rise from 0 to {total}")
        return found.astype(np.int64)

    def bits(self, file: str, length: int) -> NDArray[np.bool_]:
        """Read a bit set; an absent one is empty."""
        if file not in self.files:
            return np.zeros(length, bool)
        words = self.array(file, "u1", (length + 63) // 64 * 8)
        return np.unpackbits(words, bitorder="little")[:length].astype(bool)

    def strings(self, folder: str) -> list[str] | None:
        """Read a table of texts."""
        if f"{folder}/string-mapping.bin" not in self.files:
            return None
        text = self.files.get(f"{folder}/strings.bin", b"")
        rows = len(self.files[f"{folder}/string-mapping.bin"]) // 8 - 1
        ends = self.pointer(f"{folder}/string-mapping.bin", max(rows, 0), len(text)).tolist()
        try:
            return [text[a:b].decode() for a, b in pairwise(ends)]
        except UnicodeDecodeError:
            raise self.wrong(f"{folder}/strings.bin is not UTF-8 text") from None

    def picked(self, folder: str, dtype: str, length: int) -> list[str] | None:
        """Read one text per entry, by number in a table of texts; without a table, the numbers themselves."""
        table = self.strings(folder)
        if f"{folder}/values.bin" in self.files:
            numbers = self.array(f"{folder}/values.bin", dtype, length).tolist()
        else:
            numbers = [0] * length
        if table is None:
            return None
        if max(numbers, default=0) >= max(len(table), 1):
            raise self.wrong(f"{folder}/values.bin names text number {max(numbers)} of {len(table)}")
        return [table[k] for k in numbers] if table else None

    def model(self) -> MDP:
        if self.system.get("time", "discrete") != "discrete":
            raise ModelError(f"{self.name} is a continuous-time model; Waypost explains discrete-time MDPs and DTMCs")
        if self._count("#players") > 1:
            raise ModelError(f"{self.name} is a game of {self._count('#players')} players, not an MDP")
        if self._count("#observations"):
            raise ModelError(f"{self.name} is partially observable, not an MDP")
        # in this order each count is bounded by the bytes of a file, before an array of that length is made
        target = self.array("branch-to-target.bin", "<u8", self.n_branches)
        branches = self.pointer("choice-to-branches.bin", self.n_choices, self.n_branches)
        first = self.pointer("state-to-choices.bin", self.n_states, self.n_choices)
        if (target >= max(self.n_states, 1)).any():
            raise self.wrong("a branch leads to a state that does not exist")
        probability, exact = self._probabilities()
        initial = np.flatnonzero(self.bits("state-is-initial.bin", self.n_states))
        if len(initial) != 1:
            raise ModelError(f"{self.name} has {len(initial)} initial states; Waypost explains models with exactly one")
        actions = self.picked("actions/choices", "<u4", self.n_choices) or [""] * self.n_choices
        return MDP.from_triplets(
            np.repeat(np.arange(self.n_choices), np.diff(branches)),
            target.astype(np.int64),
            probability,
            first_choice=first,
            states=self._state_names(),
            actions=distinct_actions(first.tolist(), actions),
            initial=int(initial[0]),
            labels=self._labels(),
            exact=exact,
            counts=self.array("waypost/counts.bin", "<i8", self.n_branches)
            if "waypost/counts.bin" in self.files
            else None,
        )

    def _probabilities(self) -> tuple[NDArray[np.float64], list[Fraction] | None]:
        kind = self.system.get("branch-probability-type")
        if kind is None:
            return np.ones(self.n_branches), None
        name, size = self._map(kind, "branch-probability-type").get("type"), kind.get("size", 128)
        if name == "double":
            return self.array("branch-to-probability.bin", "<f8", self.n_branches), None
        if name != "rational" or not isinstance(size, int) or size <= 0 or size % 128:
            raise self.wrong(f"its probabilities are of type {str(name)[:40]}, and we read double and rational")
        half = size // 16
        content = self.array("branch-to-probability.bin", f"V{2 * half}", self.n_branches).tobytes()
        exact = []
        for at in range(0, len(content), 2 * half):
            over = int.from_bytes(content[at : at + half], "little", signed=True)
            under = int.from_bytes(content[at + half : at + 2 * half], "little")
            if under == 0:
                raise self.wrong("a probability divides by zero")
            exact.append(Fraction(over, under))
        if any(not 0 <= p <= 2 for p in exact):
            raise self.wrong("a probability is not between 0 and 1")
        return np.array([float(p) for p in exact]), exact

    def _labels(self) -> dict[str, NDArray[np.bool_]]:
        labels = {}
        annotations = self._map(self.index.get("annotations", {}), "annotations")
        by_storm = (
            self._map(self.index.get("file-data", {}), "file-data").get("tool") == "Storm"
        )  # labels it adds itself
        for key, given in self._map(annotations.get("aps", {}), "aps").items():
            alias = self._map(given, f"label {key}").get("alias", key)
            name = alias if isinstance(alias, str) else key
            mask = self.bits(f"annotations/aps/{key}/states/values.bin", self.n_states)
            if name != "deadlock" or mask.any() or not by_storm:  # Storm adds it to every model
                labels[name] = mask
        return labels

    def _state_names(self) -> Sequence[str]:
        names = self.strings("waypost/state-names")
        if names is not None and len(names) != self.n_states:
            raise self.wrong(f"it has {len(names)} names for {self.n_states} states")
        if names is None:
            given = self._map(self.index.get("valuations", {}), "valuations").get("states")
            if given is None:
                return [str(s) for s in range(self.n_states)]
            classes = self._map(given, "state valuations").get("classes")
            folder = "valuations/states"
            content = self.files.get(f"{folder}/valuations.bin", b"")
            kinds = np.zeros(self.n_states, np.uint32)
            if f"{folder}/valuation-to-class.bin" in self.files:
                kinds = self.array(f"{folder}/valuation-to-class.bin", "<u4", self.n_states)
            names = unpack_valuations(classes, content, kinds, strings=self.strings(folder), wrong=self.wrong)
        return names if len(set(names)) == len(names) else [str(s) for s in range(self.n_states)]


def _files(mdp: MDP) -> dict[str, bytes]:
    """Give the files of an archive, the index first."""
    table = sorted(set(mdp.actions))
    number = {name: k for k, name in enumerate(table)}
    matrix = mdp.transitions
    files = {
        "state-to-choices.bin": mdp.first_choice.astype("<u8").tobytes(),
        "state-is-initial.bin": _bits(np.arange(mdp.n_states) == mdp.initial),
        "choice-to-branches.bin": matrix.indptr.astype("<u8").tobytes(),
        "branch-to-target.bin": matrix.indices.astype("<u8").tobytes(),
        "actions/choices/values.bin": np.array([number[a] for a in mdp.actions], "<u4").tobytes(),
        **_texts("actions/choices", table),
    }
    kind, files["branch-to-probability.bin"] = _probabilities(mdp)
    aps: dict[str, Any] = {}
    for k, (name, mask) in enumerate(mdp.labels.items()):
        key = name if _IDENTIFIER.match(name) and len(name) < 60 else f"label-{k}"
        key = f"label-{k}" if key in aps else key
        aps[key] = {"alias": name, "applies-to": ["states"], "type": {"type": "bool", "size": 1}}
        files[f"annotations/aps/{key}/states/values.bin"] = _bits(mask)
    if mdp.counts is not None:
        files["waypost/counts.bin"] = mdp.counts.astype("<i8").tobytes()
    variables = complete_valuations(mdp)
    if variables is None:
        files |= _texts("waypost/state-names", mdp.states)
    else:
        files["valuations/states/valuations.bin"] = pack_valuations(variables)
    index: dict[str, Any] = {
        "format-version": 1,
        "format-revision": 0,
        "file-data": {"tool": "Waypost"},
        "transition-system": {
            "time": "discrete",
            "#players": 1,
            "#states": mdp.n_states,
            "#initial-states": 1,
            "#choices": mdp.n_choices,
            "#choice-actions": len(table),
            "#branches": int(matrix.nnz),
            "#branch-actions": 0,
            "#observations": 0,
            "branch-probability-type": kind,
        },
        "annotations": {"aps": aps},
    }
    if variables is not None:
        index["valuations"] = {"states": describe_valuations(variables)}
    return {"index.json": json.dumps(index, indent=1).encode(), **files}


def _probabilities(mdp: MDP) -> tuple[dict[str, Any], bytes]:
    if mdp.exact is None:
        return {"type": "double", "size": 64}, mdp.transitions.data.astype("<f8").tobytes()
    widest = max(max(p.numerator.bit_length() + 1, p.denominator.bit_length()) for p in mdp.exact)
    half = -(-widest // 64) * 8
    parts = (
        p.numerator.to_bytes(half, "little", signed=True) + p.denominator.to_bytes(half, "little") for p in mdp.exact
    )
    return {"type": "rational", "size": 16 * half}, b"".join(parts)


def _texts(folder: str, texts: Sequence[str]) -> dict[str, bytes]:
    try:
        encoded = [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise FormatError(f"the name {str(error.object)[:40]!r} is no text and cannot be written") from None
    ends = np.concatenate([[0], np.cumsum([len(text) for text in encoded])])
    return {f"{folder}/string-mapping.bin": ends.astype("<u8").tobytes(), f"{folder}/strings.bin": b"".join(encoded)}


def _bits(mask: NDArray[np.bool_]) -> bytes:
    packed = np.packbits(mask, bitorder="little").tobytes()
    return packed.ljust((len(mask) + 63) // 64 * 8, b"\0")
