"""R-hat and effective sample sizes are ArviZ's, on series of all kinds."""

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from bayescale.inference.convergence import ess_bulk, ess_tail, rhat


def series(rho, chains, draws, seed, shift=0.0, skew=1.0, digits=None):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((chains, draws))
    values = lfilter([np.sqrt(1 - rho**2)], [1, -rho], noise, axis=-1)
    values = np.exp(skew * values) if skew != 1.0 else values
    values[0] += shift
    return values if digits is None else values.round(digits)


def agree(draws, rtol=1e-8):
    axes = {"chain_axis": 1, "draw_axis": 2}
    with np.errstate(all="ignore"):
        pairs = (
            (rhat(draws), array_stats.rhat(draws, **axes)),
            (ess_bulk(draws), array_stats.ess(draws, method="bulk", **axes)),
            (ess_tail(draws), array_stats.ess(draws, method="tail", prob=(0.05, 0.95), **axes)),
        )
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=rtol)


@settings(max_examples=60)
@given(
    rho=st.floats(-0.9, 0.995),
    chains=st.integers(2, 5),
    draws=st.integers(80, 700),
    seed=st.integers(0, 2**32 - 1),
    shift=st.sampled_from([0.0, 0.3, 5.0]),
    skew=st.sampled_from([1.0, 0.5, 3.0]),
    digits=st.sampled_from([None, 1]),
)
def test_one_series(rho, chains, draws, seed, shift, skew, digits):
    agree(series(rho, chains, draws, seed, shift, skew, digits)[None])


@pytest.mark.parametrize("draws", [10, 11, 25, 40])
def test_short_series(draws):
    """The two break off Geyer's sequence otherwise where a chain ends before it does."""
    agree(np.stack([series(0.3, 4, draws, k) for k in range(20)]), rtol=0.12)


def test_many_series_at_once():
    agree(np.stack([series(rho, 4, 1000, k) for k, rho in enumerate(np.linspace(-0.5, 0.99, 25))]))


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e300])
def test_any_unit(scale):
    draws = series(0.5, 4, 400, 1)[None]
    for number in (rhat, ess_bulk, ess_tail):
        # ties around the median are broken by rounding
        np.testing.assert_allclose(number(draws * scale), number(draws), rtol=1e-3)


def test_a_quantity_that_does_not_vary():
    constant = np.full((1, 4, 100), 3.0)
    assert np.isnan(rhat(constant)[0])
    assert ess_bulk(constant)[0] == ess_tail(constant)[0] == 400


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_draws_that_are_no_numbers_do_not_look_well(wrong):
    draws = series(0.1, 4, 200, 1)[None].copy()
    draws[0, 1, 3] = wrong
    number = rhat(draws)[0]
    assert np.isnan(number) or number >= 1
