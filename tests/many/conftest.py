"""Many fits, made once for all tests of a session."""

import pytest

import bayescale as bs
from tests.many.sweeps import sweeps


@pytest.fixture(scope="session")
def tables():
    return sweeps(8)


@pytest.fixture(scope="session")
def fits(tables) -> bs.ManyFits:
    """Eight fits, one worker, one at a time: what every other way must equal."""
    return bs.fit_many("chinchilla", tables, workers=1, seed=3, progress=False)
