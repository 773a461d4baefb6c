"""Writing a small file and reading it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bayescale.data import Runs, read_runs
from bayescale.errors import DataError


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Runs]:
    """Return a function that writes text (or bytes) to a file and reads it as runs."""

    def write_and_read(text: str | bytes, name: str = "runs.csv", **options) -> Runs:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_runs(path, **options)

    return write_and_read


@pytest.fixture
def refuse(read) -> Callable[..., str]:
    """Return a function that reads like `read`, expects a DataError and returns its text."""

    def write_and_refuse(text: str | bytes, name: str = "runs.csv", **options) -> str:
        with pytest.raises(DataError) as caught:
            read(text, name, **options)
        message = str(caught.value)
        assert "Traceback" not in message
        assert "\n" not in message
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        return message

    return write_and_refuse
