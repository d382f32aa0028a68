"""Broken files: a model or a clear error, never a traceback, a hang or more memory than the file deserves."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
import tarfile
import tracemalloc
import warnings

import numpy as np
import pytest

from formats.models import assert_same
from limits import bounded
from waypost.cases import ex1, loan
from waypost.errors import WaypostError
from waypost.formats import ReadingNote, drn, explicit, jsonfile, prism, read_mdp, umb
from waypost.formats.umb_writer import _files
from waypost.model import MDP

NUMBERS = b"0 -1 1e999 1e999999999 999999999999999999999 0.5 1/0 1/3 nan inf --1".split()
PIECES = [*b"{ } [ ] : , // state action init @ ; ->".split(), b'"', b"\n", b"\t", b" "]
START, END = "x=0, up=true", "x=1, up=false"
VALUED = MDP.from_dict(
    {START: {"go": {END: 0.25, START: 0.75}, "stay": START}, END: {}}, initial=START, labels={"goal": [END]}
)


def umb_bytes(mdp: MDP, tmp_path) -> bytes:
    umb.write(mdp, tmp_path / "seed.umb")
    return (tmp_path / "seed.umb").read_bytes()


def seeds(kind: str, tmp_path) -> list[bytes]:
    models = [loan(), ex1(), VALUED]
    if kind == "umb":
        packed = [umb_bytes(mdp, tmp_path) for mdp in models]
        return [gzip.decompress(content) for content in packed]
    if kind in ("tra", "sta", "lab"):
        explicit.write(VALUED, tmp_path / "model.tra")
        return [(tmp_path / f"model.{kind}").read_bytes()]
    write = {"json": jsonfile.dumps, "drn": drn.dumps, "prism": prism.dumps}[kind]
    return [write(mdp).encode() for mdp in models]


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Change a file in one to four places."""
    out = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(8)
        if kind == 0:
            out = out[:at]
        elif kind == 1:
            out[at:at] = rng.choice(NUMBERS)
        elif kind == 2:
            out[at:at] = rng.choice(PIECES)
        elif kind == 3:
            del out[at : at + rng.randint(1, 20)]
        elif kind == 4 and out:
            out[min(at, len(out) - 1)] = rng.randrange(256)
        elif kind == 5:
            to = rng.randrange(len(out) + 1)
            out[to:to] = out[at : at + rng.randint(1, 60)]
        elif kind == 6:
            digits = [i for i, byte in enumerate(out) if chr(byte).isdigit()]
            if digits:
                place = rng.choice(digits)
                out[place : place + 1] = rng.choice(NUMBERS)
        else:
            lines = bytes(out).split(b"\n")
            rng.shuffle(lines)
            out = bytearray(b"\n".join(lines)) if rng.random() < 0.3 else out
    return bytes(out)


def survives(path) -> bool:
    """Read a file; whatever comes of it must be a whole model or an error of ours, and soon."""
    said, mdp = "", None
    try:
        with bounded(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadingNote)  # several initial states
            # it may ask for 10^12 states
            mdp = read_mdp(path, exact=path.stat().st_size % 2 == 0, time_limit=3)
    except WaypostError as error:
        said = str(error)
    if mdp is None:
        assert 0 < len(said) < 3000
        return False
    sums = np.asarray(mdp.transitions.sum(axis=1)).ravel()
    assert np.allclose(sums, 1, atol=1e-12)
    assert (mdp.transitions.data > 0).all()
    assert (np.diff(mdp.first_choice) > 0).all()
    assert len(set(mdp.states)) == mdp.n_states
    return True


def run(kind: str, tmp_path, rounds: int) -> None:
    rng = random.Random(kind)  # noqa: S311
    contents = seeds(kind, tmp_path)
    path = tmp_path / f"model.{kind}"
    models = 0
    for _ in range(rounds):
        path.write_bytes(mutated(rng.choice(contents), rng))
        models += survives(path)
    assert 0 < models < rounds  # the mutations are neither all harmless nor all deadly


KINDS = ["json", "drn", "umb", "tra", "sta", "lab", "prism"]


@pytest.fixture
def no_storm(monkeypatch):
    """Leave Storm out: what is not flat PRISM is an error at once."""

    def refused(path, **_):
        raise WaypostError(f"{path} would go to Storm")

    monkeypatch.setattr("waypost.formats.prism.read_symbolic", refused)
    monkeypatch.setattr("waypost.formats.jani.read_symbolic", refused)


@pytest.mark.usefixtures("no_storm")
@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_file_is_a_model_or_a_clear_error(kind, tmp_path):
    run(kind, tmp_path, 300)


@pytest.mark.slow
@pytest.mark.usefixtures("no_storm")
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_broken_files(kind, tmp_path):
    run(kind, tmp_path, 10_000)


@pytest.mark.usefixtures("no_storm")
@pytest.mark.parametrize("kind", ["json", "drn", "umb", "tra", "sta", "prism"])
def test_a_file_cut_off_is_the_same_model_or_an_error(kind, tmp_path):
    for whole in seeds(kind, tmp_path)[:2]:
        path = tmp_path / f"model.{kind}"
        path.write_bytes(whole)
        mdp = read_mdp(path, exact=True)
        ends = range(1, len(whole), max(len(whole) // 200, 1))
        for end in ends if kind != "tra" else [i for i in ends if whole[i - 1 : i] == b"\n"]:  # a name may be shorter
            path.write_bytes(whole[:end])
            try:
                cut = read_mdp(path, exact=True)
            except WaypostError:
                continue
            labels = {
                name: mask for name, mask in mdp.labels.items() if name in cut.labels
            }  # the last ones may be gone
            assert_same(mdp.with_labels(labels), cut)


HEAD = b"@type: MDP\n@parameters\n\n@reward_models\n\n"
JSON = b'{"format": "waypost-mdp", "initial": "a", "states": {"a": {"go": {"a": %s}}}}'
HOSTILE = {
    "many states.drn": HEAD + b"@nr_states\n1000000000000\n@model\nstate 0 init\n\taction a\n\t\t0 : 1\n",
    "far successor.drn": HEAD + b"@nr_states\n1\n@model\nstate 0 init\n\taction a\n\t\t999999999999 : 1\n",
    "half successor.drn": HEAD + b"@nr_states\n1\n@model\nstate 0 init\n\taction a\n\t\t0.5 : 1\n",
    "long exponent.drn": HEAD + b"@nr_states\n1\n@model\nstate 0 init\n\taction a\n\t\t0 : 1e-999999999\n",
    "many states.tra": b"1000000000000 1 1\n0 0 0 1\n",
    "far state.tra": b"mdp\n999999999999999 0 0 1\n",
    "deep.json": b'{"format": "waypost-mdp", "states": ' + b'{"a":' * 100_000,
    "deep.jani": b'{"jani-version": 1, "a": ' + b"[" * 100_000,
    "long exponent.json": JSON % b'"1e999999999"',
    "long number.json": JSON % b"1e999999999",
    "huge number.json": JSON % (b"9" * 5000),
    "deep.prism": b'mdp\nmodule m\nx : [0..1] init 0;\nendmodule\nlabel "a" = ' + b"(" * 50_000 + b"x=0;",
    "blanks.tra": b" " * 100_000 + b"x",
    "nul.drn": b"\0" * 100_000,
    "gzip of nothing.umb": gzip.compress(b""),
}


@pytest.mark.usefixtures("no_storm")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_costs_no_more_than_it_weighs(name, tmp_path):
    (tmp_path / name).write_bytes(HOSTILE[name])
    tracemalloc.start()
    try:
        with pytest.raises(WaypostError):
            read_mdp(tmp_path / name, exact=True)
        with pytest.raises(WaypostError):
            read_mdp(tmp_path / name)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def bomb(index: dict, *, size: int = 0) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in {"index.json": json.dumps(index).encode(), "zeros.bin": bytes(size)}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def test_archives_that_swell_or_promise_too_much_are_refused(tmp_path):
    index = json.loads(_files(loan())["index.json"])
    system = index["transition-system"]
    for key in ("#states", "#choices", "#branches"):
        promised = {**index, "transition-system": {**system, key: 2**39}}
        (tmp_path / "m.umb").write_bytes(bomb(promised))
        with pytest.raises(WaypostError):
            read_mdp(tmp_path / "m.umb")
    everything = {**system, "#states": 2**39, "#choices": 2**39, "#branches": 2**39}
    (tmp_path / "m.umb").write_bytes(bomb({**index, "transition-system": everything}))
    with pytest.raises(WaypostError, match="missing"):
        read_mdp(tmp_path / "m.umb")
    for packed in (gzip.compress(bytes(80_000_000)), lzma.compress(bytes(80_000_000), preset=0)):
        (tmp_path / "m.umb").write_bytes(packed)
        with pytest.raises(WaypostError, match="unpacks to more"):
            read_mdp(tmp_path / "m.umb")


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "a/../index.json"])
def test_paths_in_an_archive_lead_nowhere(path, tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        member = tarfile.TarInfo(path)
        tar.addfile(member, io.BytesIO(b""))
        link = tarfile.TarInfo("index.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    (tmp_path / "m.umb").write_bytes(buffer.getvalue())
    with pytest.raises(WaypostError, match=r"no index\.json"):
        read_mdp(tmp_path / "m.umb")


SYMBOLIC = {
    "prism": b"""mdp
const int N = 3;
module m
  x : [0..N] init 0;
  [go] x<N -> 0.5 : (x'=x+1) + 0.5 : (x'=0);
  [stay] x<N -> 1 : true;
endmodule
label "goal" = x=N;
""",
    "jani": json.dumps({
        "jani-version": 1, "name": "m", "type": "mdp", "actions": [{"name": "go"}], "features": [],
        "variables": [{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 2},
                       "initial-value": 0}],
        "properties": [],
        "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
            {"location": "l", "action": "go", "guard": {"exp": {"op": "<", "left": "x", "right": 2}},
             "destinations": [{"location": "l", "probability": {"exp": 0.5}, "assignments": [
                 {"ref": "x", "value": {"op": "+", "left": "x", "right": 1}}]},
                 {"location": "l", "probability": {"exp": 0.5}}]}]}],
        "system": {"elements": [{"automaton": "a"}], "syncs": [{"synchronise": ["go"], "result": "go"}]},
    }, indent=1).encode(),
}  # fmt: skip


def run_symbolic(kind: str, tmp_path, rounds: int) -> None:
    pytest.importorskip("stormpy")
    rng = random.Random(kind)  # noqa: S311
    path = tmp_path / f"model.{kind}"
    path.write_bytes(SYMBOLIC[kind])
    assert survives(path)
    for _ in range(rounds):
        path.write_bytes(mutated(SYMBOLIC[kind], rng))
        survives(path)


@pytest.mark.parametrize("kind", SYMBOLIC)
def test_a_broken_program_is_a_model_or_a_clear_error(kind, tmp_path):
    run_symbolic(kind, tmp_path, 10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SYMBOLIC)
def test_hundreds_of_broken_programs(kind, tmp_path):
    run_symbolic(kind, tmp_path, 500)
