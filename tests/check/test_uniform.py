"""The tests of ranks themselves: exact levels, and power against what goes wrong."""

import numpy as np
import pytest
from arviz_stats.ecdf_utils import get_pointwise_confidence_band, simulate_confidence_bands
from scipy import stats

from bayescale.check.calibration import uniform

BINS = 100


@pytest.mark.parametrize(("size", "level"), [(20, 0.05), (100, 0.01), (500, 2e-4)])
def test_the_band_is_left_with_the_stated_probability(size, level):
    """The walk's probability is exact, so the band is as narrow as counts allow."""
    low, high = uniform.band(level, size, BINS)
    out = 1 - uniform.stay_inside(low, high, size)
    assert 0.7 * level < out <= level
    assert (low <= size * np.arange(1, BINS) / BINS).all()
    np.testing.assert_array_equal(low, size - high[::-1])


def test_the_walk_agrees_with_simulation():
    """20,000 simulated sets of ranks leave the 5% band 5% of the time, within 4 standard errors."""
    rng, size, level = np.random.default_rng(1), 60, 0.05
    low, high = uniform.band(level, size, BINS)
    exact = 1 - uniform.stay_inside(low, high, size)
    counts = rng.multinomial(size, np.full(BINS, 1 / BINS), size=20_000).cumsum(axis=1)[:, :-1]
    seen = ((counts < low) | (counts > high)).any(axis=1).mean()
    assert abs(seen - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000)


def test_the_band_agrees_with_arviz():
    """The same band as the library's, whose level is simulated (so one count may differ)."""
    size, share = 200, np.arange(1, BINS) / BINS
    rng = np.random.default_rng(2)
    prob = simulate_confidence_bands(size, 1, share, 0.95, 2000, rng)
    theirs = np.array(get_pointwise_confidence_band(prob, size, share)) * size
    ours = np.array(uniform.band(0.05, size, BINS))
    assert np.abs(ours - theirs).max() <= 1 + 1e-9
    assert np.abs(ours - theirs).mean() < 0.7


def test_p_values_are_uniform_under_uniform_ranks():
    """Both tests: p-values of 400 right sets are no smaller than they should be."""
    rng = np.random.default_rng(3)
    sets = rng.integers(0, BINS, (400, 150))
    ecdf = [uniform.ecdf_p(ranks, BINS) for ranks in sets]
    scores = (sets + rng.uniform(size=sets.shape)) / BINS
    spread = [uniform.spread_p(s)[0] for s in scores]
    assert stats.kstest(ecdf, "uniform").pvalue > 0.01
    assert stats.kstest(spread, "uniform").pvalue > 0.01


@pytest.mark.parametrize("level", [0.3, 0.02, 1e-4])
def test_the_p_value_is_below_a_level_where_the_band_is_left(level):
    rng = np.random.default_rng(4)
    low, high = uniform.band(level, 80, BINS)
    for _ in range(200):
        ranks = (BINS * rng.beta(*rng.uniform(0.7, 1.4, 2), 80)).astype(int)
        count = uniform.below(ranks, BINS)
        left = bool(((count < low) | (count > high)).any())
        assert left == (uniform.ecdf_p(ranks, BINS) <= level)


@pytest.mark.parametrize(("scale", "side"), [(1.25, "above"), (0.8, "below")])
def test_wrong_widths_are_seen(scale, side):
    """Truths a quarter further out (or nearer in) than posteriors say, in 500 sets."""
    truths = scale * np.random.default_rng(5).standard_normal(500)
    p, spread = uniform.spread_p(stats.norm.cdf(truths))
    assert p < 1e-6
    assert (spread > 1) == (side == "above")


def test_a_shift_is_seen_by_the_ecdf_and_extremes_have_a_p_value():
    truths = 0.3 + np.random.default_rng(6).standard_normal(500)
    ranks = (BINS * stats.norm.cdf(truths)).astype(int)
    assert uniform.ecdf_p(ranks, BINS) < 1e-6
    assert 0 <= uniform.ecdf_p(np.full(500, 50), BINS) < 1e-50
    assert uniform.ecdf_p(np.arange(500) % BINS, BINS) == pytest.approx(1)
