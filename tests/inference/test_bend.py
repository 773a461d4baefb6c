"""A map that straightens a curved posterior: exact both ways, and worth what it costs."""

import numpy as np
import pytest

from bayescale.inference.bend import HEADS, bent, features, head_count, learn, straight
from bayescale.inference.mode import Mode


def banana(rng: np.random.Generator, chains: int = 4, draws: int = 300, dim: int = 4) -> np.ndarray:
    """Draws wide in the first direction, along which the last follows a parabola closely."""
    y = rng.standard_normal((chains, draws, dim)) * np.geomspace(1, 0.1, dim)
    y[..., -1] = 0.05 * y[..., -1] + y[..., 0] ** 2
    return y


def some_bend(rng: np.random.Generator, dim: int, heads: int) -> np.ndarray:
    """A bend in which heads depend on those before them alone."""
    one, _ = np.tril_indices(heads)
    bend = 0.3 * rng.standard_normal((dim, 1 + (heads + 1) * (heads + 2) // 2))
    bend[:, 0] = rng.uniform(0.2, 1.0, dim)
    for i in range(heads):
        bend[i, 2 : 2 + heads] *= np.arange(heads) < i
        bend[i, 2 + heads :] *= one < i
    return bend


@pytest.mark.parametrize("heads", range(1, HEADS + 1))
def test_there_and_back_is_the_same_place(heads):
    rng = np.random.default_rng(heads)
    assert head_count(features(np.zeros(heads)).shape[-1]) == heads
    bend = some_bend(rng, 8, heads)
    z = rng.standard_normal((3, 5, 8))
    np.testing.assert_allclose(straight(bent(z, bend), bend), z, atol=1e-12)
    np.testing.assert_allclose(bent(z, bend)[1, 2], bent(z[1, 2], bend))


def test_volume_changes_by_the_scales_alone():
    import jax

    rng = np.random.default_rng(1)
    bend = some_bend(rng, 7, 4)
    with jax.enable_x64(True):
        for z in 2 * rng.standard_normal((5, 7)):
            jacobian = np.asarray(jax.jacobian(lambda z: bent(z, bend))(jax.numpy.asarray(z)))
            np.testing.assert_allclose(np.linalg.det(jacobian), np.prod(bend[:, 0]), rtol=1e-9)


def test_a_curved_posterior_is_made_round():
    rng = np.random.default_rng(2)
    y = banana(rng)
    start = Mode(np.zeros(4), np.eye(4), 0.0, 0)
    line, _ = start.relearnt(y)
    curve, last = line.relearnt(
        np.linalg.solve(line.whitening, (y - line.vector)[..., None])[..., 0], curved=True
    )
    np.testing.assert_allclose(curve.vectors(last), y[:, -1], atol=1e-10)
    assert curve.bend is not None
    at = np.linalg.solve(curve.whitening, (banana(rng) - curve.vector)[..., None])[..., 0]
    z = straight(at, curve.bend)  # draws that it was not learnt from
    assert np.abs(np.corrcoef(z.reshape(-1, 4).T) - np.eye(4)).max() < 0.15
    flat = z.reshape(-1, 4)
    of_squares = np.corrcoef(np.square(flat).T, flat.T)[:4, 4:]
    assert np.abs(of_squares[~np.eye(4, dtype=bool)]).max() < 0.15
    np.testing.assert_allclose(z.std(axis=(0, 1)), 1, rtol=0.1)


def test_what_does_not_curve_is_left_straight():
    rng = np.random.default_rng(3)
    y = rng.standard_normal((4, 200, 5))
    order, bend = learn(y)
    assert sorted(order) == list(range(5))
    assert np.array_equal(bend[:, 0], np.ones(5))
    assert not bend[:, 1:].any()


def test_a_curve_in_one_chain_alone_teaches_nothing():
    """A chain that has gone astray must not bend the others."""
    rng = np.random.default_rng(4)
    y = rng.standard_normal((4, 200, 3))
    y[0, :, 2] = y[0, :, 0] ** 2 - 1
    assert not learn(y)[1][:, 1:].any()


def test_far_out_a_bend_goes_no_farther():
    bend = some_bend(np.random.default_rng(5), 5, 2)
    far, farther = np.zeros(5), np.zeros(5)
    far[0], farther[0] = 1e3, 1e6
    np.testing.assert_allclose(bent(far, bend)[1:], bent(farther, bend)[1:])


@pytest.mark.parametrize("dim", [1, 2])
def test_few_dimensions(dim):
    rng = np.random.default_rng(6)
    y = rng.standard_normal((4, 100, dim))
    order, bend = learn(y)
    assert len(order) == dim
    np.testing.assert_allclose(straight(bent(y, bend), bend), y)
