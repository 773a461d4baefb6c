"""R-hat and effective sample sizes are ArviZ's, to rounding."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from bayescale.inference.convergence import ess_bulk, ess_tail, rhat

AXES = {"chain_axis": 1, "draw_axis": 2}


def autoregressive(rng, coefficient, shape):
    noise = rng.standard_normal(shape)
    for k in range(1, shape[-1]):
        noise[..., k] += coefficient * noise[..., k - 1]
    return noise


def cases():
    rng = np.random.default_rng(5)
    yield "independent", rng.standard_normal((6, 4, 1000))
    yield "odd length", rng.standard_normal((3, 4, 333))
    yield "two chains", rng.standard_normal((3, 2, 100))
    yield "sticky", autoregressive(rng, 0.95, (4, 4, 500))
    yield "antithetic", autoregressive(rng, -0.6, (4, 4, 500))
    yield "stuck for good", np.cumsum(rng.standard_normal((3, 4, 200)), axis=2)
    yield "shifted", rng.standard_normal((3, 4, 300)) + np.arange(4)[None, :, None]
    yield "heavy tails", rng.standard_t(1, (3, 4, 400))
    yield "ties", np.round(rng.standard_normal((3, 4, 400)), 1)
    yield "short", rng.standard_normal((2, 4, 21))


@pytest.mark.parametrize(("name", "draws"), list(cases()), ids=[name for name, _ in cases()])
def test_numbers_are_arviz(name, draws):
    np.testing.assert_allclose(rhat(draws), array_stats.rhat(draws, **AXES), rtol=1e-10)
    expected = array_stats.ess(draws, method="bulk", **AXES)
    np.testing.assert_allclose(ess_bulk(draws), expected, rtol=1e-8)
    expected = array_stats.ess(draws, method="tail", prob=(0.05, 0.95), **AXES)
    np.testing.assert_allclose(ess_tail(draws), expected, rtol=1e-8)


def test_a_constant_has_no_rhat():
    assert np.isnan(rhat(np.ones((1, 4, 100)))).all()
