"""Centring of pooled parameters: a change of coordinates, never of the posterior."""

import numpy as np
import pytest

from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.laws import get_law
from bayescale.pooling import Pooling, independent, partial

POOLING = {"E": partial("corpus"), "A": independent("corpus"), "alpha": partial("corpus")}


@pytest.fixture(scope="module")
def packing():
    model = Model(get_law("chinchilla"), pooling=Pooling.of(POOLING))
    return Packing.of(model, {"corpus": ("a", "b", "c")})


@pytest.fixture(scope="module")
def centring(packing):
    rng = np.random.default_rng(3)
    return {z: rng.uniform(0, 1, c.shape) for z, c in packing.no_centring().items()}


def test_vectors_under_a_centring_give_the_sites_back(packing, centring):
    sites = packing.sample_prior(np.random.default_rng(0), 40)
    again = packing.constrain(packing.join(sites, centring), centring)
    for name, values in sites.items():
        np.testing.assert_allclose(again[name], values, rtol=1e-9, atol=1e-9)


def test_full_centring_holds_the_groups_own_values(packing):
    sites = packing.sample_prior(np.random.default_rng(1), 5)
    full = {z: np.ones_like(c) for z, c in packing.no_centring().items()}
    held = packing.cut(packing.join(sites, full))["E_z"]
    own = np.log(sites["E_pop"])[:, None] + sites["E_sd"][:, None] * sites["E_z"]
    np.testing.assert_allclose(held, own, rtol=1e-12)


def test_log_jacobian_is_that_of_the_map(packing, centring):
    """Numerically: the determinant of d(sites without centring) / d(vector)."""
    sites = {k: v[0] for k, v in packing.sample_prior(np.random.default_rng(2), 1).items()}
    vector = packing.join(sites, centring)

    def plain(v):
        return packing.join(packing.constrain(v, centring))

    step = 1e-6
    columns = [
        (plain(vector + step * e) - plain(vector - step * e)) / (2 * step)
        for e in np.eye(packing.size)
    ]
    expected = np.linalg.slogdet(np.array(columns))[1]
    parts = packing.split(vector, centring)
    assert float(packing.log_jacobian(parts, centring)) == pytest.approx(expected, abs=1e-6)
