"""Pareto-smoothed importance sampling of leave-one-out densities, by ArviZ."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def psis(log_likelihood: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave-one-out log predictive density of each unit, and its Pareto k.

    Vehtari, Gelman, Gabry (arXiv:1507.04544) with the smoothing of arXiv:1507.02646, as ArviZ
    computes it; the tail's size takes the effective number of draws into account.

    Parameters
    ----------
    log_likelihood : array, shape (chain, draw, unit)

    Returns
    -------
    elpd, pareto_k : array, shape (unit,)
        k is minus infinity where all draws agree, NaN where the weights have no tail to fit.
    """
    from arviz_stats.base.array import array_stats

    elpd, k = (np.empty(log_likelihood.shape[2]) for _ in range(2))
    with _unloaded_jax_out_of_sight():
        for unit in range(log_likelihood.shape[2]):
            table = np.ascontiguousarray(log_likelihood[:, :, unit])
            if np.ptp(table) < 1e-12:
                elpd[unit], k[unit] = table.mean(), -np.inf
                continue
            elpd[unit], k[unit], _ = array_stats.loo(
                table, chain_axis=0, draw_axis=1, r_eff=_efficiency(table)
            )
    return elpd, k


@contextmanager
def _unloaded_jax_out_of_sight() -> Iterator[None]:
    """Keep SciPy from loading JAX, where ArviZ has only put a stand-in for it.

    ArviZ registers a module ``jax`` that loads when it is touched, and SciPy touches it to see
    whether an array is one of JAX's: seconds of imports for NumPy arrays.
    """
    stand_in = sys.modules.get("jax")
    if stand_in is None or type(stand_in).__name__ != "_LazyModule":
        yield
        return
    del sys.modules["jax"]
    try:
        yield
    finally:
        sys.modules.setdefault("jax", stand_in)


def _efficiency(table: np.ndarray) -> float:
    """Effective over actual number of draws for the mean likelihood of one unit."""
    from arviz_stats.base.array import array_stats

    likelihood = np.exp(table - table.max())
    found: Any = array_stats.ess(
        likelihood, chain_axis=0, draw_axis=1, method="mean", relative=True
    )
    return float(found) if np.isfinite(found) else 1.0


def good_k(draws: int) -> float:
    """Largest Pareto k at which so many draws suffice: min(1 - 1/log10(S), 0.7)."""
    return min(1 - 1 / np.log10(max(draws, 11)), 0.7)


def log_mean_exp(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Log of the mean of exponentials, without overflow."""
    return np.logaddexp.reduce(values, axis=axis) - np.log(values.shape[axis])
