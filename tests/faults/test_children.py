"""Children die with their parent, keep to limits set inside themselves, and leave nothing behind."""

from __future__ import annotations

import os
import resource
import selectors
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHILDREN = str(HERE / "children.py")
ENDLESS = """mdp
module m
  x : [0..1000000000] init 0;
  [go] x<1000000000 -> 0.5 : (x'=x+1) + 0.5 : (x'=0);
endmodule
"""
STORM = "import sys, waypost\nprint('go', flush=True)\nwaypost.read_mdp(sys.argv[1])"
OURS = (
    f"import sys\nfrom waypost.processes import Child\nwith Child({CHILDREN!r}, 'deaf', folder=True) as child:\n"
    "    print('go', flush=True)\n    child.ask(600, seconds=900)"
)


def descendants(pid: int) -> list[int]:
    """Processes below one, by number."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [p for child in map(int, below) for p in (child, *descendants(child))]


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def until(condition, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("program", ["ours", "storm"])
def test_a_child_dies_with_its_parent_and_its_folder_goes(how, program, tmp_path):
    """However the parent ends, nothing runs on and no folder is left."""
    if program == "storm":
        pytest.importorskip("stormpy")
    (tmp_path / "endless.prism").write_text(ENDLESS)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    parent = subprocess.Popen(
        [sys.executable, "-c", STORM if program == "storm" else OURS, str(tmp_path / "endless.prism")],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert parent.stdout.readline() == b"go\n"
        assert until(lambda: list(temporary.iterdir()) and descendants(parent.pid))
        time.sleep(1.5 if program == "storm" else 0.2)  # Storm is at work by now
        below = descendants(parent.pid)
        assert below
        parent.send_signal(how)
        parent.wait(20)
        assert until(lambda: all(map(gone, below)), 5)
        assert until(lambda: not list(temporary.iterdir()), 5)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()


def test_a_hard_limit_on_memory_is_no_reason_to_break_down(tmp_path):
    """A model that fits into ``ulimit -v`` is read within it."""
    pytest.importorskip("stormpy")
    (tmp_path / "m.prism").write_text(ENDLESS.replace("1000000000", "3"))
    code = "import sys, waypost\nprint(waypost.read_mdp(sys.argv[1]).n_states)"
    limit = 6 * 2**30
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m.prism")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr


def child(function, *given, **options):
    from waypost.processes import Child

    return Child(CHILDREN, function, *given, **options)


def test_a_system_without_fork_is_told_so(monkeypatch):
    from waypost.processes import ChildError

    monkeypatch.delattr("os.fork")
    with pytest.raises(ChildError, match="needs fork, which this system has not"):
        child("deaf")


def trouble(error) -> str:
    return error.value.trouble


def test_the_time_limit_lives_in_the_child():
    """Also where the work holds the interpreter and hears nothing; the folder goes with it."""
    from waypost.processes import ChildError

    started = time.monotonic()
    with child("deaf", folder=True) as one:
        folder = one.folder
        with pytest.raises(ChildError) as error:
            one.ask(600, seconds=0.5)
    assert trouble(error) == "time"
    assert error.value.said == "its time was up"
    assert not folder.exists()
    assert time.monotonic() - started < 10


def test_the_memory_limit_is_the_childs_own():
    from waypost.processes import ChildError

    with child("hungry", memory=2**30) as one:
        assert one.ask(1000) == 1000
        with pytest.raises(ChildError) as error:
            one.ask(2**31)
        assert trouble(error) == "memory"
        assert one.ask(1000) == 1000  # and it is still there
        with pytest.raises(ChildError):
            one.ask(2**27, grow=2**20)
        assert one.ask(2**27, grow=2**28) == 2**27


def test_limits_never_ask_for_more_than_the_system_allows():
    with child("limits", memory=2**62) as one:
        soft, hard = one.ask(None)
    assert hard == resource.getrlimit(resource.RLIMIT_AS)[1]
    assert soft == 2**62


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGSEGV, "broken"), (signal.SIGKILL, "memory")])
def test_a_crash_is_told(number, expected):
    """A process that the system kills, unasked, was too large."""
    from waypost.processes import ChildError

    with child("crash") as one:
        with pytest.raises(ChildError) as error:
            one.ask(int(number))
        assert trouble(error) == expected
        with pytest.raises(ChildError):
            one.ask(int(number))


def test_an_exception_is_told_and_the_child_goes_on():
    from waypost.processes import ChildError

    with child("failing") as one:
        for _ in range(2):
            with pytest.raises(ChildError, match="no such thing") as error:
                one.ask(1)
            assert (error.value.trouble, error.value.kind) == ("raised", "ValueError")


def test_chatter_does_not_break_the_conversation():
    with child("chatty") as one:
        one.send("word")
        assert [one.receive(20), one.receive(20)] == ["word", "WORD"]


def test_answers_of_several_children_come_in_order():
    from waypost.processes import spread

    assert list(spread(CHILDREN, "multiplying", 3, range(20), 2)) == [3 * k for k in range(20)]


def test_giving_up_on_several_children_ends_them_at_once():
    from waypost.processes import spread

    started = time.monotonic()
    answers = spread("time", "sleep", None, [0.0, 600, 600, 600], 2)
    assert next(answers) is None
    answers.close()
    assert time.monotonic() - started < 20
    assert not descendants(os.getpid())


def test_closing_a_child_that_somebody_is_about_to_wait_for_tells_them(monkeypatch):
    from waypost.processes import Child, ChildError

    registered = threading.Event()

    class Slow(selectors.DefaultSelector):
        def select(self, timeout=None):
            registered.set()
            time.sleep(0.5)
            return super().select(timeout)

    said = []

    def wait():
        try:
            one.ask(600)
        except ChildError as error:
            said.append(error.trouble)

    one = Child("time", "sleep")
    monkeypatch.setattr(selectors, "DefaultSelector", Slow)
    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    registered.wait(20)
    one.close()
    waiting.join(20)
    assert len(said) == 1


def test_a_function_that_is_not_there_is_told():
    from waypost.processes import ChildError

    with pytest.raises(ChildError, match="no_such_function"):
        child("no_such_function")
