"""Shared fixtures: where the real data sets lie, and a compile cache for this run alone."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# the first call of a JAX function compiles it; examples are the same in every run
settings.register_profile("bayescale", deadline=None, derandomize=True)
settings.load_profile("bayescale")

COMPILED = "BAYESCALE_TESTS_COMPILED"  # environment variable: this run's compile cache


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


def pytest_configure(config: pytest.Config) -> None:
    """Make one folder of compiled functions for all workers of this run, and remove it after."""
    if hasattr(config, "workerinput"):  # a worker: it has the folder in its environment
        return
    folder = tempfile.TemporaryDirectory(prefix="bayescale-tests-", ignore_cleanup_errors=True)
    os.environ[COMPILED] = folder.name
    config.add_cleanup(folder.cleanup)


@pytest.fixture(scope="session", autouse=True)
def compile_cache() -> Iterator[Path]:
    """Compiled functions are kept for this run only, so no test leans on an earlier run."""
    before = os.environ.get("BAYESCALE_CACHE")
    os.environ["BAYESCALE_CACHE"] = os.environ[COMPILED]
    yield Path(os.environ[COMPILED])
    if before is None:
        del os.environ["BAYESCALE_CACHE"]
    else:
        os.environ["BAYESCALE_CACHE"] = before
