"""Scores against closed forms, and what becomes of draws that are no numbers."""

import numpy as np
import pytest
from scipy import stats

from bayescale.check.extrapolation import scores
from bayescale.check.extrapolation.held import QUANTILES, held_from_draws, joined
from bayescale.errors import FitError


def even_draws(law, count=4001):
    """Draws at evenly spaced probabilities, so that sums over them are quadratures."""
    return law.ppf((np.arange(count) + 0.5) / count)


@pytest.mark.parametrize("y", [-2.0, -0.3, 0.0, 1.7])
def test_crps_of_a_normal(y):
    # Gneiting and Raftery 2007, eq. 21, for mean 0 and SD 1
    closed = y * (2 * stats.norm.cdf(y) - 1) + 2 * stats.norm.pdf(y) - 1 / np.sqrt(np.pi)
    found = scores.crps(even_draws(stats.norm)[:, None], [y])
    assert found == pytest.approx(closed, abs=1e-3)


def test_crps_is_its_double_sum():
    rng = np.random.default_rng(0)
    draws, y = rng.normal(size=(37, 5)), rng.normal(size=5)
    pairs = np.abs(draws[:, None] - draws[None]).mean(axis=(0, 1))
    assert scores.crps(draws, y) == pytest.approx(np.abs(draws - y).mean(axis=0) - pairs / 2)
    assert scores.crps(draws[:1], y) == pytest.approx(np.abs(draws[0] - y))


def test_interval_score_by_hand():
    # width 2; the second misses by .5 below, the third by 1 above, at 20 times the miss
    found = scores.interval_score([0.0, -1.5, 2.0], [-1.0] * 3, [1.0] * 3, 0.9)
    assert found == pytest.approx([2.0, 2.0 + 20 * 0.5, 2.0 + 20 * 1.0])


def test_interval_score_is_best_for_the_right_interval():
    y = even_draws(stats.norm, 20001)

    def mean(half: float) -> float:
        return float(scores.interval_score(y, np.full_like(y, -half), half, 0.9).mean())

    right = float(stats.norm.ppf(0.95))
    assert mean(right) < min(mean(0.9 * right), mean(1.1 * right))
    # of a normal it is 2 pdf(z)/.05 at the right interval
    assert mean(right) == pytest.approx(2 * stats.norm.pdf(right) / 0.05, rel=1e-3)


def test_coverage_counts_both_ends():
    assert scores.coverage([1.0, 2.0, 3.0, 4.0], [1.0] * 4, [3.0] * 4) == 0.75


def test_pit_is_uniform_where_draws_are_right():
    rng = np.random.default_rng(1)
    y, draws = rng.normal(size=2000), rng.normal(size=(500, 2000))
    assert stats.kstest(scores.pit(draws, y), "uniform").pvalue > 0.01
    assert stats.kstest(scores.pit(draws - 0.2, y), "uniform").pvalue < 1e-6
    assert scores.pit(np.zeros((4, 1)), [0.0]) == 0.5


def test_log_score_is_the_log_of_the_mean_density():
    density = np.array([[0.2, 1e-5], [0.4, 3e-5]])
    assert scores.log_score(np.log(density)) == pytest.approx(np.log([0.3, 2e-5]))


def test_scores_of_log_loss():
    rng = np.random.default_rng(2)
    observed = np.array([2.0, 2.5, 3.0])
    draws = observed * np.exp(0.1 + 0.05 * rng.standard_normal((8000, 3)))
    found = held_from_draws(draws, observed, np.array([4, 5, 6]), log=True).scores()
    assert found["rmse_log_loss"] == pytest.approx(0.1, abs=0.003)
    assert found["max_relative_error"] == pytest.approx(np.exp(0.1) - 1, abs=0.005)
    assert found["median_width"] == pytest.approx(2 * 1.645 * 0.05, rel=0.05)
    # two SDs off: outside 95% (1.96) and all narrower ones
    assert found["coverage"] == {"50": 0.0, "80": 0.0, "90": 0.0, "95": 0.0}
    assert found["pit"] == pytest.approx([stats.norm.cdf(-2)] * 3, abs=0.01)
    assert found["log_score"] is None


def test_scores_of_the_response_where_noise_is_on_it():
    observed = np.array([-1.0, 3.0])  # has no logarithm
    draws = even_draws(stats.norm)[:, None] + observed
    found = held_from_draws(draws, observed, np.array([1, 2]), log=False).scores()
    assert found["rmse"] == pytest.approx(0.0, abs=1e-6)
    assert found["coverage"]["50"] == 1.0
    assert "rmse_log_loss" not in found


def test_joined_splits_keep_every_run():
    rng = np.random.default_rng(3)
    parts = [
        held_from_draws(np.exp(rng.normal(size=(50, n))), np.ones(n), np.arange(n), log=True)
        for n in (2, 3)
    ]
    both = joined(parts)
    assert len(both) == 5
    assert both.crps == pytest.approx(np.concatenate([p.crps for p in parts]))
    assert set(both.quantiles) == set(QUANTILES)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0, 0.0])
def test_draws_that_are_no_numbers_are_named(bad):
    draws = np.full((10, 3), 2.0)
    draws[4, 1] = bad
    with pytest.raises(FitError, match=r"1 of 30 predictive draws .* first at row 12"):
        held_from_draws(draws, np.full(3, 2.0), np.array([11, 12, 13]), log=True)


def test_an_observation_without_a_logarithm_is_named():
    with pytest.raises(FitError, match="row 12"):
        held_from_draws(np.full((10, 2), 2.0), np.array([2.0, 0.0]), np.array([11, 12]), log=True)
