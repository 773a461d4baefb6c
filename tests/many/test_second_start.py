"""Fits that mix badly start again once, whitened by what their first draws have taught."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bayescale.inference.lane import Lane
from bayescale.inference.mode import Mode
from bayescale.many.worker import _verdict

JOB: Any = SimpleNamespace(min_ess=400, most=2000)


@pytest.mark.parametrize(
    ("ess", "rhat", "draws", "fresh", "verdict"),
    [
        (600, 1.005, 250, True, "enough"),
        (200, 1.005, 250, True, "more"),  # 1,600 at the most draws
        (600, 1.02, 250, True, "more"),
        (40, 1.005, 250, True, "again"),  # 320 at the most draws
        (40, 1.005, 250, False, "enough"),
        (300, 1.02, 2000, True, "again"),  # the most draws in vain
        (300, 1.02, 2000, False, "enough"),
    ],
)
def test_what_is_done_with_draws(ess, rhat, draws, fresh, verdict):
    numbers: Any = SimpleNamespace(
        ess_bulk=np.array([ess, 900]), ess_tail=np.array([950, 980]), rhat=np.array([rhat, 1.0])
    )
    assert _verdict(JOB, looked(numbers), draws, fresh) == verdict


def looked(numbers: Any) -> Any:
    return None, None, numbers


def lane(mode: Mode, dim: int) -> Lane:
    nothing = np.zeros((4, dim))
    return Lane(0, {}, nothing, nothing[:, :2], nothing, 0.8, False, mode, state=nothing)


def test_a_second_start_is_whitened_by_the_covariance_of_the_first():
    rng = np.random.default_rng(3)
    mode = Mode(rng.normal(size=5), rng.normal(size=(5, 5)), -7.0, 10)
    z = rng.normal(size=(4, 250, 5)) @ rng.normal(size=(5, 5)) + rng.normal(size=5)
    again: Any = lane(mode, 5).relearnt(z)
    draws = mode.vector + z @ mode.whitening.T
    flat = draws.reshape(-1, 5)
    np.testing.assert_allclose(again.mode.vector, flat.mean(axis=0))
    white = again.mode.whitening
    np.testing.assert_allclose(white @ white.T, np.cov(flat.T), rtol=1e-8)
    np.testing.assert_allclose(again.mode.vector + again.z @ white.T, draws[:, -1])
    assert (again.state, again.traces, again.looks, again.deep) == (None, (), 1, True)
    assert again.target > 0.8
    assert again.mode is not mode


def test_chains_that_never_moved_still_give_a_map():
    mode = Mode(np.zeros(3), np.eye(3), 0.0, 1)
    again: Any = lane(mode, 3).relearnt(np.zeros((4, 50, 3)))
    assert np.isfinite(again.z).all()
    assert np.linalg.matrix_rank(again.mode.whitening) == 3
