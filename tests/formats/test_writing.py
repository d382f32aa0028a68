"""Writing replaces plain files only, keeps what they were, and leaves nothing half done."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from waypost.cases import loan
from waypost.errors import FormatError
from waypost.formats import explicit, read_mdp, write_mdp
from waypost.formats.writing import _place, write_bytes, write_files, write_text

root_only = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def made_device(path: Path, minor: int) -> Path:
    """Make a device of Linux's memory: 3 swallows everything, 7 is always full."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    except OSError:
        pytest.skip("no devices may be made here")
    return path


@root_only
def test_a_device_is_written_through(tmp_path):
    """A device of our own, which swallows everything, is still a device afterwards."""
    device = made_device(tmp_path / "sink.json", 3)
    write_bytes(device, b"gone")
    write_mdp(loan(), device)
    assert stat.S_ISCHR(device.stat().st_mode)
    assert names(tmp_path) == {"sink.json"}


@root_only
def test_a_full_device_is_an_error_and_stays(tmp_path):
    device = made_device(tmp_path / "full.json", 7)
    with pytest.raises(FormatError, match="No space left"):
        write_bytes(device, b"too much")
    assert stat.S_ISCHR(device.stat().st_mode)


def test_a_fifo_is_written_through(tmp_path):
    fifo, read = tmp_path / "pipe", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    write_text(fifo, "through")
    reader.join(10)
    assert read == [b"through"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(there, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real.json", tmp_path / "link.json"
    if there:
        real.write_text("old")
    link.symlink_to("elsewhere/real.json")
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert names(tmp_path / "elsewhere") == {"real.json"}


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FormatError, match="cannot write"):
        write_text(tmp_path / "a", "x")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
def test_a_file_keeps_its_mode(mode, tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "new"


def test_a_new_file_has_the_usual_mode(tmp_path):
    write_text(tmp_path / "file", "new")
    (tmp_path / "usual").write_text("new")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_read_only_file_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(FormatError, match="read-only"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == {"file"}


@pytest.mark.parametrize("where", ["", "nowhere/file", "plain/file", "nul\0"])
def test_what_cannot_be_written_is_one_sentence(where, tmp_path):
    (tmp_path / "plain").write_text("")
    with pytest.raises(FormatError, match="cannot write"):
        write_text(tmp_path / where, "new")
    assert names(tmp_path) == {"plain"}


def test_the_names_of_open_files_are_never_a_place_for_a_file():
    """Asked without writing: code that is wrong here would, as root, take the machine's own link away."""
    for name in ("/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/17"):
        assert _place(name) == (None, None)


@pytest.mark.parametrize("name", ["/dev/fd/1", "/proc/self/fd/1"])  # in a folder where nobody can make files
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_standard_output_by_name_is_written_through(name, kind, tmp_path):
    """Also where it is a file: what was printed before and after is kept, in order."""
    code = (
        "from waypost.formats.writing import write_text\nprint('before')\n"
        f"write_text({name!r}, 'middle\\n')\nprint('after')"
    )
    with (tmp_path / "out").open("wb") as out:
        where = out if kind == "file" else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", code], stdout=where, check=True, timeout=60)
    found = (tmp_path / "out").read_bytes() if kind == "file" else done.stdout
    assert found == b"before\nmiddle\nafter\n"


def test_a_model_that_cannot_be_written_leaves_no_part_of_itself(tmp_path):
    """The labels are refused: neither transitions nor states may be left."""
    odd = loan().with_labels({'no "quotes" there': [True] * loan().n_states})
    with pytest.raises(FormatError, match="rename it"):
        write_mdp(odd, tmp_path / "model.tra")
    assert names(tmp_path) == set()
    write_mdp(loan(), tmp_path / "model.tra")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(FormatError):
        write_mdp(odd, tmp_path / "model.tra")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("broken", [0, 1, 2])
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_files_that_belong_together_appear_together(broken, error, tmp_path, monkeypatch):
    """Whichever move fails, the old model is there again, whole."""
    places = [tmp_path / f"m{suffix}" for suffix in (".sta", ".lab", ".tra")]
    for path in places[:2]:
        path.write_bytes(b"old")
    replace, moved = Path.replace, []

    def failing(self, to):
        if to in places and not str(self).endswith(".old"):
            moved.append(to)
            if len(moved) == broken + 1:
                raise error
        return replace(self, to)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises((FormatError, KeyboardInterrupt)):
        write_files(dict.fromkeys(places, b"new"))
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"m.sta": b"old", "m.lab": b"old"}
    write_files(dict.fromkeys(places, b"new"))
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"new"}
    assert len(names(tmp_path)) == 3


def test_a_model_killed_while_it_is_moved_is_no_model(tmp_path, monkeypatch):
    """Transitions come last: without them nothing reads the rest, so that old and new are never mixed."""
    explicit.write(loan(), tmp_path / "m.tra")
    replace = Path.replace

    class Killed(BaseException):
        pass

    for step in range(1, 6):
        count = 0

        def dying(self, to, step=step):
            nonlocal count
            count += 1
            if count >= step:
                raise Killed
            return replace(self, to)

        monkeypatch.setattr(Path, "replace", dying)  # also the way back is cut
        with pytest.raises(Killed):
            explicit.write(loan().with_labels({"other": [True] * loan().n_states}), tmp_path / "m.tra")
        monkeypatch.undo()
        if (tmp_path / "m.tra").exists():
            assert "Granted" in read_mdp(tmp_path / "m.tra").states
            assert set(read_mdp(tmp_path / "m.tra").labels) == set(loan().labels)
        else:
            with pytest.raises(FormatError, match=r"without its transitions|cannot read"):
                read_mdp(tmp_path / "m.sta")
        explicit.write(loan(), tmp_path / "m.tra")
