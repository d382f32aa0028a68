"""Writing UMB archives; `waypost.formats.umb` describes what is in them, and reads them."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waypost.errors import FormatError
from waypost.formats.umb_valuations import describe_valuations, pack_valuations
from waypost.formats.valuations import names_as_columns
from waypost.model import MDP

_IDENTIFIER = re.compile(r"[0-9a-z_-]+\Z")


def dumps(mdp: MDP) -> bytes:
    """Give the bytes of an UMB archive, compressed with gzip."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in _files(mdp).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(archive.getvalue(), compresslevel=3, mtime=0)


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
    names = names_as_columns(mdp)
    variables = mdp.valuations if names is None else names.variables
    if names is None:
        files |= _texts("waypost/state-names", mdp.states)
    if variables:
        files["valuations/states/valuations.bin"], strings = pack_valuations(variables)
        files |= _texts("valuations/states", strings) if strings else {}
    if names is not None or mdp.definitions:
        words = {"shown": None if names is None else list(names.shown), "definitions": dict(mdp.definitions)}
        files["waypost/words.json"] = json.dumps(words).encode()
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
    if variables:
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
