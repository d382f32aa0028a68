"""What every test may ask for."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a shell's background job: children would not hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

PATIENT = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("default", deadline=None, suppress_health_check=PATIENT, max_examples=100)
settings.register_profile("quick", deadline=None, suppress_health_check=PATIENT, max_examples=10)
settings.register_profile("thorough", deadline=None, suppress_health_check=PATIENT, max_examples=3000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


class SharedData:
    """Real logs and models beside the checkout, never part of it; a test that needs one is skipped without it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __truediv__(self, name: str) -> Path:
        path = self.root / name
        if not path.exists():
            pytest.skip(f"needs {name} under {self.root} (set WAYPOST_DATA to where it is)")
        return path


@pytest.fixture
def invoke(capsys):
    """Run the command line; give its exit code, what it printed, and what it said on standard error."""
    from waypost.cli import main

    def invoke(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return int(left.value.code or 0), printed.out, printed.err

    return invoke


@pytest.fixture(scope="session")
def shared_data() -> SharedData:
    beside = Path(__file__).parents[2] / "shared" / "data"
    return SharedData(Path(os.environ.get("WAYPOST_DATA", beside)))
