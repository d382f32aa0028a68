"""Files that swell: bounded memory, one clear sentence, and an option for people who mean it."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zlib

import pytest

from limits import bounded
from waypost.cases import loan
from waypost.errors import LogError, WaypostError
from waypost.formats import read_mdp, reading
from waypost.formats.umb_writer import _files
from waypost.logs import read_log

LOG = b'<log xes.version="1.0">'
END = (
    b'<trace><string key="concept:name" value="1"/><event><string key="concept:name" value="a"/></event></trace></log>'
)


def packed(path, start: bytes, unit: bytes, megabytes: int, end: bytes = b"") -> None:
    """Write a gzip file of so many megabytes of the same."""
    press = zlib.compressobj(9, wbits=31)
    block = unit * (1_000_000 // len(unit))
    with path.open("wb") as file:
        file.write(press.compress(start))
        for _ in range(megabytes):
            file.write(press.compress(block))
        file.write(press.compress(end) + press.flush())


@pytest.fixture
def a_tenth(monkeypatch):
    """Limits of a tenth, so that the tests take a tenth of the time."""
    monkeypatch.setattr(reading, "ALWAYS", 6_400_000)


@pytest.mark.slow
def test_elements_that_mean_nothing_take_no_memory(tmp_path):
    """Read as a stream: sixty megabytes of them, and the one event behind them is found."""
    packed(tmp_path / "log.xes.gz", LOG, b"<a/>", 60, END)
    with bounded(120, 60_000_000):
        assert read_log(tmp_path / "log.xes.gz").sequences() == [("a",)]


@pytest.mark.usefixtures("a_tenth")
@pytest.mark.parametrize("unit", [b"<a/>", b"<trace/>", b"<event/>", b"<!-- x -->", b'<string key="k" value="v"/>'])
def test_a_log_that_swells_beyond_measure_is_refused(unit, tmp_path):
    packed(tmp_path / "log.xes.gz", LOG, unit, 7)
    with bounded(120), pytest.raises(LogError, match=r"unpacks to more than 6 MB.*WAYPOST_ALLOW_LARGE=1"):
        read_log(tmp_path / "log.xes.gz")


@pytest.mark.usefixtures("a_tenth")
@pytest.mark.parametrize("start", [LOG + b"<trace>", LOG + b"<trace><event>", b"<log", b"<log a='"])
def test_what_never_ends_is_refused(start, tmp_path):
    packed(tmp_path / "log.xes.gz", start, b"<a/>" if start.endswith(b">") else b"xxxx", 7)
    with bounded(120), pytest.raises(LogError):
        read_log(tmp_path / "log.xes.gz")


def test_deep_elements_are_refused(tmp_path):
    (tmp_path / "log.xes").write_bytes(LOG + b"<a>" * 1_000_000)
    with bounded(), pytest.raises(LogError, match="deep within each other"):
        read_log(tmp_path / "log.xes")


def test_many_attributes_of_which_each_event_has_one_are_refused(tmp_path):
    events = b"".join(
        b'<event><string key="concept:name" value="a"/><string key="k%d" value=""/></event>' % k for k in range(20_000)
    )
    (tmp_path / "log.xes").write_bytes(LOG + b"<trace>" + events + b"</trace></log>")
    with bounded(60), pytest.raises(LogError, match="different attributes"):
        read_log(tmp_path / "log.xes")


@pytest.mark.usefixtures("a_tenth")
@pytest.mark.parametrize("row", [b"1,a\n", b"x" * 1000, b'"', b"\n"])
def test_a_table_that_swells_is_refused(row, tmp_path):
    packed(tmp_path / "log.csv.gz", b"case,activity\n1,a\n", row, 7)
    with (
        bounded(120),
        pytest.raises(LogError, match=r"unpacks to more than 6 MB.*WAYPOST_ALLOW_LARGE=1|no proper CSV"),
    ):
        read_log(tmp_path / "log.csv.gz")


def test_a_table_with_a_wide_heading_and_short_lines_is_refused(tmp_path):
    heading = ",".join(["case", "activity", *(f"c{k}" for k in range(8000))])
    (tmp_path / "log.csv").write_text(heading + "\n" + "1,a\n" * 100_000)
    with bounded(60), pytest.raises(LogError, match="far shorter lines"):
        read_log(tmp_path / "log.csv")


def test_a_heading_without_end_is_refused(tmp_path):
    (tmp_path / "log.csv").write_text("a," * 5_000_000)
    with bounded(), pytest.raises(LogError, match="that is no heading"):
        read_log(tmp_path / "log.csv")


def umb(states: int) -> bytes:
    """Make an honest archive of a chain without an end, all zeros, which packs to almost nothing."""
    index = json.loads(_files(loan())["index.json"])
    for key in ("annotations", "valuations"):
        index.pop(key, None)
    index["transition-system"] |= {"#states": states, "#choices": states, "#branches": states, "#choice-actions": 0}
    index["transition-system"].pop("branch-probability-type", None)
    files = {"index.json": json.dumps(index).encode(), "branch-to-target.bin": bytes(8 * states)}
    files["state-is-initial.bin"] = b"\1" + bytes((states + 63) // 64 * 8 - 1)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), 6, mtime=0)


def test_a_model_that_swells_is_refused_unless_it_is_meant(tmp_path, monkeypatch):
    (tmp_path / "m.umb").write_bytes(umb(100_000))
    assert read_mdp(tmp_path / "m.umb").n_states == 100_000
    monkeypatch.setattr(reading, "ALWAYS", 100_000)
    with bounded(), pytest.raises(WaypostError, match=r"unpacks to more than 0 MB.*WAYPOST_ALLOW_LARGE=1"):
        read_mdp(tmp_path / "m.umb")
    monkeypatch.setenv("WAYPOST_ALLOW_LARGE", "1")
    assert read_mdp(tmp_path / "m.umb").n_states == 100_000


@pytest.mark.slow
def test_the_largest_model_that_a_small_archive_may_hold_fits(tmp_path):
    """64 MB of arrays, names and all, stay within a gigabyte and a half."""
    (tmp_path / "m.umb").write_bytes(umb(7_500_000))
    with bounded(300, 3 * 2**29):
        try:
            read_mdp(tmp_path / "m.umb")
        except WaypostError as error:
            assert "unpacks" in str(error)  # noqa: PT017


def test_a_device_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "STREAM", 1_000_000)
    for name, read in {"m.drn": read_mdp, "log.csv": read_log, "log.xes": read_log}.items():
        (tmp_path / name).symlink_to("/dev/zero")  # only ever read
        with bounded(), pytest.raises(WaypostError):
            read(tmp_path / name)
