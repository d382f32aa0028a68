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

What it has no place for is in files of our own, which other tools pass over: ``waypost/state-names`` (names that are no
valuations), ``waypost/counts.bin`` and ``waypost/words.json`` (which variables names show; constants and formulas). The
format has text annotations, but Storm refuses archives that use them. Continuous-time models are read by their
embedded jumps: the branches without their rates.
No array is larger than the bytes that are there, and an archive that swells without measure is refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import FormatError, ModelError
from waypost.formats.kinds import game, note_jumps, partially_observable, with_intervals
from waypost.formats.lexical import distinct_codes
from waypost.formats.reading import beginning, read_bytes
from waypost.formats.registry import Format
from waypost.formats.starting import begun
from waypost.formats.tar import Laid, tar_members
from waypost.formats.umb_valuations import unpack_valuations
from waypost.formats.umb_writer import dumps
from waypost.formats.unpacking import GZIP, XZ, Unpacking
from waypost.formats.writing import write_bytes
from waypost.model import MDP, StateNames, Variable
from waypost.model.names import Texts
from waypost.model.valuations import named_by

__all__ = ["FORMAT", "Archive", "dumps", "is_umb", "loads", "read", "write"]

TAR = b"ustar"
FOLLOWING = -64  # bytes below it, with their sign, are inside a character of UTF-8
SWELL = 20  # times its size that an archive may unpack to; its arrays and names take some memory more

Files = Mapping[str, bytes | memoryview]


def is_umb(start: bytes) -> bool:
    r"""Whether a file begins like an UMB archive: a tar, plain or compressed.

    >>> is_umb(b"mdp\n")
    False
    """
    return start.startswith((GZIP, XZ)) or start[257:262] == TAR


def loads(content: bytes, *, initial: str | None = None, name: str = "the archive") -> MDP:
    """Read a model from the bytes of an UMB archive."""
    files = _unpacked(io.BytesIO(content), len(content), name) if _packed(content) else tar_members(Laid(content), name)
    return Archive(files, name).model(initial=initial)


def read(path: Path | str, *, initial: str | None = None) -> MDP:
    """Read a model from an UMB archive; what is packed is unpacked as it is read."""
    path = Path(path)
    if not _packed(beginning(path, len(XZ))):
        return loads(read_bytes(path), initial=initial, name=path.name)
    with path.open("rb") as stream:
        files = _unpacked(stream, path.stat().st_size, path.name)
    return Archive(files, path.name).model(initial=initial)


def _packed(start: bytes) -> bool:
    return start.startswith((GZIP, XZ))


def _unpacked(stream: IO[bytes], size: int, name: str) -> Files:
    source = Unpacking(stream, size, name, swell=SWELL)
    files = tar_members(source, name)
    source.finish()
    return files


def write(mdp: MDP, path: Path | str) -> None:
    """Write an MDP as an UMB archive, compressed with gzip; probabilities are rationals where the model has them."""
    write_bytes(path, dumps(mdp))


class Archive:
    """The files of an archive, read with checks."""

    def __init__(self, files: Files, name: str) -> None:
        self.files = files
        self.name = name
        try:
            self.index = json.loads(bytes(files.get("index.json", b"null")))
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
        """Make the error that says what is wrong with this archive."""
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
        return found.view(np.int64)  # none is negative: they rise to the total

    def bits(self, file: str, length: int) -> NDArray[np.bool_]:
        """Read a bit set; an absent one is empty."""
        if file not in self.files:
            return np.zeros(length, bool)
        words = self.array(file, "u1", (length + 63) // 64 * 8)
        return np.unpackbits(words, bitorder="little")[:length].astype(bool)

    def texts(self, folder: str) -> Texts | None:
        """Read texts, without writing them out."""
        if f"{folder}/string-mapping.bin" not in self.files:
            return None
        content = bytes(self.files.get(f"{folder}/strings.bin", b""))
        rows = len(self.files[f"{folder}/string-mapping.bin"]) // 8 - 1
        first = self.pointer(f"{folder}/string-mapping.bin", max(rows, 0), len(content))
        try:
            whole = content.isascii() or content.decode()
        except UnicodeDecodeError:
            whole = ""
        if not whole or (np.frombuffer(content + b".", np.int8)[first] < FOLLOWING).any():
            raise self.wrong(f"{folder}/strings.bin is not UTF-8 text")
        return Texts(content, first)

    def strings(self, folder: str) -> list[str] | None:
        """Read a table of texts."""
        texts = self.texts(folder)
        return None if texts is None else list(texts)

    def picked(self, folder: str, dtype: str, length: int) -> tuple[NDArray[Any], list[str]]:
        """Read one text per entry, as numbers in a table of texts; without a table, there is one empty text."""
        table = self.strings(folder)
        numbers: NDArray[Any] = np.zeros(length, np.int64)
        if f"{folder}/values.bin" in self.files:
            numbers = self.array(f"{folder}/values.bin", dtype, length)
        if table is None:
            return np.zeros(length, np.int64), [""]
        if len(numbers) and int(numbers.max()) >= max(len(table), 1):
            raise self.wrong(f"{folder}/values.bin names text number {int(numbers.max())} of {len(table)}")
        return numbers, table or [""]

    def model(
        self,
        *,
        initial: str | None = None,
        variables: dict[str, Variable] | None = None,
        names: StateNames | None = None,
    ) -> MDP:
        """Put the model together, with variables and names of one's own where they are given."""
        if self._count("#players") > 1:
            raise ModelError(game(self.name))
        if self._count("#observations"):
            raise ModelError(partially_observable(self.name))
        if self.system.get("time", "discrete") != "discrete":
            note_jumps(self.name, "continuous-time model")
            hybrid = self.bits("state-is-markovian.bin", self.n_states) & (np.diff(self._first()) > 1)
            if self.system["time"] == "urgent-stochastic" and hybrid.any():
                raise ModelError(f"{self.name} has states with both rates and actions; close it before writing it")
        # in this order each count is bounded by the bytes of a file, before an array of that length is made
        target = self.array("branch-to-target.bin", "<u8", self.n_branches)
        branches = self.pointer("choice-to-branches.bin", self.n_choices, self.n_branches)
        first = self._first()
        if len(target) and target.max() >= self.n_states:
            raise self.wrong("a branch leads to a state that does not exist")
        probability, exact = self._probabilities()
        initials = np.flatnonzero(self.bits("state-is-initial.bin", self.n_states)).tolist()
        words = self._words()
        valuations = self.valuations() if variables is None else variables
        actions = distinct_codes(first, *self.picked("actions/choices", "<u4", self.n_choices))
        counted = "waypost/counts.bin" in self.files
        mdp = MDP.from_triplets(
            None,
            target.view(np.int64),  # all are states, so none is negative
            probability,
            first_choice=first,
            pointer=branches,
            states=names or self._state_names(valuations, words.get("shown")),
            actions=actions,
            initial=initials[0] if initials else 0,
            labels=self._labels(),
            exact=exact,
            counts=self.array("waypost/counts.bin", "<i8", self.n_branches) if counted else None,
            valuations=valuations or None,
            definitions=words.get("definitions"),
        )
        return begun(mdp, initials, initial=initial, name=self.name)

    def _first(self) -> NDArray[np.int64]:
        return self.pointer("state-to-choices.bin", self.n_states, self.n_choices)

    def _words(self) -> dict[str, Any]:
        """Read which variables the names show, and the constants and formulas, where we wrote them."""
        try:
            words = json.loads(bytes(self.files.get("waypost/words.json", b"{}")))
        except (ValueError, RecursionError):
            raise self.wrong("its waypost/words.json is not JSON") from None
        shown, definitions = (self._map(words, "waypost/words.json").get(k) for k in ("shown", "definitions"))
        listed = shown is None or (isinstance(shown, list) and shown and all(isinstance(x, str) for x in shown))
        defined = definitions is None or (
            isinstance(definitions, dict) and all(isinstance(text, str) for text in definitions.values())
        )
        if not (listed and defined):
            raise self.wrong("its waypost/words.json holds no names")
        return {"shown": shown, "definitions": definitions}

    def valuations(self) -> dict[str, Variable]:
        """Read the variables of all states."""
        given = self._map(self.index.get("valuations", {}), "valuations").get("states")
        if given is None:
            return {}
        folder = "valuations/states"
        kinds = None
        if f"{folder}/valuation-to-class.bin" in self.files:
            kinds = self.array(f"{folder}/valuation-to-class.bin", "<u4", self.n_states)
        return unpack_valuations(
            self._map(given, "state valuations").get("classes"),
            self.files.get(f"{folder}/valuations.bin", b""),
            kinds,
            self.n_states,
            strings=self.strings(folder) or [],
            wrong=self.wrong,
        )

    def _probabilities(self) -> tuple[NDArray[np.float64], list[Fraction] | None]:
        kind = self.system.get("branch-probability-type")
        if kind is None:
            return np.ones(self.n_branches), None
        name, size = self._map(kind, "branch-probability-type").get("type"), kind.get("size", 128)
        if name == "double":
            return self.array("branch-to-probability.bin", "<f8", self.n_branches), None
        if str(name).endswith("-interval"):
            raise ModelError(with_intervals(self.name))
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

    def _state_names(self, variables: dict[str, Variable], shown: list[str] | None) -> Sequence[str]:
        """Give the names in our own file, those made of the variables, or numbers."""
        names = self.texts("waypost/state-names")
        if names is not None:
            if len(names) != self.n_states:
                raise self.wrong(f"it has {len(names)} names for {self.n_states} states")
            return names
        if shown and all(name in variables for name in shown):
            made = StateNames(variables, shown)
            if made.distinct:
                return made
        return named_by(variables) or [str(s) for s in range(self.n_states)]


FORMAT = Format(
    name="UMB",
    endings=(".umb",),
    names="the values of the variables; other names in a file of our own inside the archive",
    keeps=("exact", "labels", "counts", "valuations"),
    recognises=lambda raw, _text, _path: is_umb(raw[:512]),
    loads=loads,
    read=read,
    write=write,
    options=("initial", "name"),
)
