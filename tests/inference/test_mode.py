"""Mode and whitening against functions whose modes and curvatures are known."""

import numpy as np
import pytest

from bayescale.errors import FitError
from bayescale.inference.mode import climbs, find_mode, hessian, whiten

RNG = np.random.default_rng(11)


def gaussian(dim, condition, seed=0):
    """Log density of a Gaussian with a given condition number, its mean and covariance."""
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    variances = np.geomspace(1.0, 1.0 / condition, dim)
    covariance = rotation @ np.diag(variances) @ rotation.T
    precision, mean = np.linalg.inv(covariance), rng.standard_normal(dim)

    def gradient(x):
        residual = precision @ (x - mean)
        return float(-0.5 * (x - mean) @ residual), -residual

    return gradient, mean, covariance


@pytest.mark.parametrize(("dim", "condition"), [(1, 1), (3, 10), (7, 1e6), (30, 1e4), (60, 1e4)])
def test_gaussian(dim, condition):
    gradient, mean, covariance = gaussian(dim, condition)
    starts = 2 * RNG.standard_normal((3, dim))
    mode = find_mode(gradient, starts)
    spread = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(mode.vector - mean) < 0.01 * spread)
    np.testing.assert_allclose(
        mode.whitening @ mode.whitening.T, covariance, atol=1e-3 * spread.min() ** 2
    )
    assert mode.log_density == pytest.approx(0.0, abs=1e-3)
    assert mode.evaluations > 0


def two_hills(x):
    """Modes at -2 and at 2; the right one is higher by ln 3."""
    left, right = np.exp(-2 * (x + 2) ** 2), 3 * np.exp(-2 * (x - 2) ** 2)
    value = np.log(left + right)
    slope = (-4 * (x + 2) * left - 4 * (x - 2) * right) / (left + right)
    return float(value[0]), slope


def test_the_higher_of_two_modes_is_kept():
    mode = find_mode(two_hills, np.array([[-2.5], [2.5], [-1.5]]))
    assert mode.vector[0] == pytest.approx(2.0, abs=1e-3)
    assert mode.log_density == pytest.approx(np.log(3), abs=1e-3)


def hills(x):
    """Two hills along the first of twelve directions, the higher one at 2."""
    value, slope = two_hills(x[:1])
    return value - 0.5 * float(x[1:] @ x[1:]), np.concatenate([slope, -x[1:]])


def test_many_dimensions_are_climbed_until_three_starts_agree():
    """Two starts that agree on the lower hill don't end the search."""
    starts = np.zeros((6, 12))
    starts[:, 0] = [-2.5, -1.5, 2.5, 1.5, 2.2, np.nan]
    mode = find_mode(hills, starts)
    assert mode.vector[0] == pytest.approx(2.0, abs=1e-3)
    assert find_mode(two_hills, starts[:, :1]).vector[0] == pytest.approx(-2.0, abs=1e-3)
    counted = find_mode(hills, starts[2:]).evaluations
    more = np.concatenate([starts[2:5], np.tile(starts[2], (6, 1))])
    assert find_mode(hills, more).evaluations < counted + len(more) + 1  # the rest are left alone


def test_how_many_climbs():
    assert [climbs(d) for d in (7, 8, 9, 20, 21)] == [4, 4, 12, 12, 4]


def valley(x):
    """Minus Rosenbrock's function: a curved valley with its floor at (1, 1)."""
    a, b = x
    value = -((1 - a) ** 2 + 100 * (b - a**2) ** 2)
    slope = np.array([2 * (1 - a) + 400 * a * (b - a**2), -200 * (b - a**2)])
    return float(value), slope


def test_a_curved_valley():
    mode = find_mode(valley, np.array([[-1.2, 1.0], [2.0, -1.0]]))
    np.testing.assert_allclose(mode.vector, [1.0, 1.0], atol=1e-2)
    expected = np.linalg.inv([[802.0, -400.0], [-400.0, 200.0]])
    np.testing.assert_allclose(mode.whitening @ mode.whitening.T, expected, rtol=0.05)


def with_a_wall(x):
    """Not finite left of 0, as where a law overflows."""
    if x[0] <= 0:
        return -np.inf, np.array([np.nan])
    return float(np.log(x[0]) - x[0]), np.array([1 / x[0] - 1])


@pytest.mark.parametrize("wall", [with_a_wall, lambda x: (np.nan, np.array([0.0]))])
def test_starts_without_a_density_are_left_out(wall):
    starts = np.array([[-1.0], [5.0]])
    if wall is with_a_wall:
        assert find_mode(wall, starts).vector[0] == pytest.approx(1.0, abs=0.02)
    else:
        with pytest.raises(FitError, match="the log density is not finite at any start"):
            find_mode(wall, starts)


def test_flat_directions_are_held_to_the_scale_of_priors():
    """No curvature along the second axis: its scale stays finite."""

    def ridge(x):
        return float(-0.5 * 1e4 * x[0] ** 2), np.array([-1e4 * x[0], 0.0])

    mode = find_mode(ridge, np.array([[0.3, 0.2]]))
    scales = np.sqrt(np.diag(mode.whitening @ mode.whitening.T))
    assert scales[0] == pytest.approx(0.01, rel=1e-3)
    assert 1 < scales[1] < 5


def test_a_saddle_or_a_curvature_that_is_no_number_gives_a_usable_whitening():
    for curvature in (np.diag([4.0, -1.0]), np.full((2, 2), np.nan)):
        whitening = whiten(curvature)
        assert np.all(np.isfinite(whitening))
        assert abs(np.linalg.det(whitening)) > 0
    np.testing.assert_allclose(whiten(np.diag([4.0, 25.0])) ** 2, np.diag([0.25, 0.04]))


def test_hessian_by_differences():
    gradient, mean, covariance = gaussian(5, 1e3)

    def objective(x):
        value, slope = gradient(x)
        return -value, -slope

    found = hessian(objective, mean)
    np.testing.assert_allclose(found, np.linalg.inv(covariance), rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(found, found.T)
