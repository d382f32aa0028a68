"""What tests of readers share."""

from __future__ import annotations

import pytest

from waypost.errors import LogError


@pytest.fixture
def complaint(tmp_path):
    """Give what a reader says of a file with this content."""

    def complaint(read, content: str) -> str:
        (tmp_path / "file").write_text(content)
        with pytest.raises(LogError) as said:
            read(tmp_path / "file")
        return str(said.value)

    return complaint
