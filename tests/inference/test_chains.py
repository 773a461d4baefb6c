"""Chains that start again with what they have learnt draw from the same posterior."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.inference import chains
from bayescale.inference.mode import Mode


@pytest.fixture
def fitted(runs, monkeypatch):
    def fit(long: float):
        monkeypatch.setattr(chains, "LONG", long)
        monkeypatch.setattr(chains, "VERY_LONG", long)
        return bs.fit("coupled", runs, seed=4, draws=1000, progress=False)

    return fit


def test_the_posterior_is_the_same_with_and_without_a_second_start(fitted):
    straight, again = fitted(np.inf), fitted(0.0)
    one, two = straight.summary, again.summary
    error = np.hypot(one["mcse"], two["mcse"])
    assert not np.array_equal(one["mean"], two["mean"])  # it did start again
    assert np.all(np.abs(one["mean"] - two["mean"]) < 5 * error)
    assert again.gate.max_rhat < 1.01
    assert not again.gate.divergences


def test_a_bad_whitening_is_mended_by_draws():
    """Draws of a long and thin normal, whitened as if it were round, give its own shape."""
    rng = np.random.default_rng(0)
    shape = np.array([[100.0, 0.0], [9.0, 1.0]])
    z = rng.standard_normal((4, 500, 2)) @ shape.T + [3.0, -2.0]
    mode, last = Mode(np.zeros(2), np.eye(2), 0.0, 0).relearnt(z)
    assert np.allclose(mode.whitening @ mode.whitening.T, np.cov(z.reshape(-1, 2).T))
    assert np.allclose(mode.vector + last @ mode.whitening.T, z[:, -1])


def test_a_fit_with_short_trajectories_is_left_alone(fitted):
    usual = fitted(chains.LONG)
    assert usual.record["gradients_per_draw"] < chains.LONG
    assert np.array_equal(usual.summary["mean"], fitted(np.inf).summary["mean"])


def test_a_bend_that_walks_as_far_is_given_up(fitted, runs, monkeypatch):
    """Draws go on as if nobody had looked at how they curve."""
    with monkeypatch.context() as patched:
        patched.setattr(chains, "LOOKS", 1)
        straight = fitted(0.0)
    steps = iter([40.0, 40.0, 50.0, 40.0])  # after the mode, whitened, bent; what it was before
    monkeypatch.setattr(chains, "_mean_steps", lambda traces: next(steps))
    again = fitted(0.0)
    assert list(steps) == []
    assert np.array_equal(straight.summary["mean"], again.summary["mean"])
    assert again.record["settings"]["target_accept"] == straight.record["settings"]["target_accept"]
