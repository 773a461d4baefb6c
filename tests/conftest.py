"""Shared fixtures: where the real data sets lie, or a clear reason to skip."""

import os
from pathlib import Path

import pytest


def find_data_dir() -> Path | None:
    """Return the folder of real data sets (BAYESCALE_DATA, else beside the checkout)."""
    named = os.environ.get("BAYESCALE_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    folder = find_data_dir()
    if folder is None:
        pytest.skip("real data sets not found: set BAYESCALE_DATA to a folder laid out like them")
    return folder
