"""Shared fixtures: where the real data sets lie, and a compile cache for this session alone."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# the first call of a JAX function compiles it; examples are the same in every run
settings.register_profile("bayescale", deadline=None, derandomize=True)
settings.load_profile("bayescale")


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


@pytest.fixture(scope="session", autouse=True)
def compile_cache() -> Iterator[Path]:
    """Compiled functions are kept for this session only, so no test leans on an earlier one."""
    before = os.environ.get("BAYESCALE_CACHE")
    with tempfile.TemporaryDirectory(prefix="bayescale-tests-") as folder:
        os.environ["BAYESCALE_CACHE"] = folder
        yield Path(folder)
    if before is None:
        del os.environ["BAYESCALE_CACHE"]
    else:
        os.environ["BAYESCALE_CACHE"] = before
