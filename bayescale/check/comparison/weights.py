"""Weights of laws from their pointwise log predictive densities of left-out runs."""

from typing import Any

import numpy as np

from bayescale.errors import FitError

BOOTSTRAPS = 2000


def stacking_weights(elpd: Any) -> np.ndarray:
    r"""Weights whose mixture has the best leave-out log score.

    Maximises :math:`\sum_i \ln \sum_k w_k e^{\ell_{ik}}` over the simplex (Yao et al. 2018,
    arXiv:1704.02030, eq. 3), a concave problem, by SciPy's SLSQP with the exact gradient.

    Parameters
    ----------
    elpd : array, shape (row, model)
        Log predictive density of each left-out row (or run) under each law, nats; minus infinity
        where a law rules the row out.

    Returns
    -------
    array, shape (model,)
        At least 0, of sum 1.

    Raises
    ------
    FitError
        The array has another shape, holds NaN or plus infinity, or a row that every law rules out.
    """
    from scipy.optimize import minimize

    table = _checked(elpd)
    if table.shape[1] == 1:
        return np.ones(1)
    # a row's largest density is a common factor of its mixture: it moves no weight
    density = np.exp(table - table.max(axis=1, keepdims=True))
    rows, models = density.shape

    def score(w: np.ndarray) -> tuple[float, np.ndarray]:
        mixed = np.maximum(density @ w, np.finfo(float).tiny)
        return -float(np.log(mixed).mean()), -(density / mixed[:, None]).mean(axis=0)

    found: Any = minimize(
        score,
        np.full(models, 1 / models),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * models,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    weights = np.clip(found.x, 0.0, None)
    return weights / weights.sum()


def pseudo_bma_weights(elpd: Any, seed: int = 0, bootstraps: int = BOOTSTRAPS) -> np.ndarray:
    r"""Akaike-like weights, averaged over Bayesian bootstraps of the rows: pseudo-BMA+.

    The mean over bootstraps of :math:`w_k \propto \exp(n \sum_i \pi_i \ell_{ik})`,
    :math:`\pi \sim` Dirichlet(1, …, 1) (Yao et al. 2018, arXiv:1704.02030, sec. 3.4).

    Parameters
    ----------
    elpd : array, shape (row, model)
        As for `stacking_weights`.
    seed : int
        Seed of the bootstrap.
    bootstraps : int
        Number of them.

    Returns
    -------
    array, shape (model,)

    Raises
    ------
    FitError
        As for `stacking_weights`.
    """
    table = _checked(elpd)
    rng = np.random.default_rng([seed, 37])
    shares = rng.dirichlet(np.ones(len(table)), size=bootstraps)
    # far below any density that matters, and finite: 0 x -inf has no value
    total = len(table) * shares @ np.maximum(table, -1e6)
    weights = np.exp(total - total.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)


def _checked(elpd: Any) -> np.ndarray:
    table = np.asarray(elpd, dtype=float)
    if table.ndim != 2 or 0 in table.shape:
        raise FitError(
            f"log predictive densities have shape {table.shape}; expected one row a run and one "
            "column a law."
        )
    bad = np.isnan(table) | np.isposinf(table)
    if bad.any():
        row, model = np.argwhere(bad)[0]
        raise FitError(
            f"the log predictive density of row {row} under law {model} (both from 0) is "
            f"{table[row, model]}; expected a finite number: look at that fit's draws."
        )
    impossible = np.isneginf(table).all(axis=1)
    if impossible.any():
        raise FitError(
            f"row {int(np.argmax(impossible))} (from 0) has no density under any law, so no "
            "mixture of them can be weighed on it; leave the row out."
        )
    return table
