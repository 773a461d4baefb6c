"""Global search by differential evolution, then L-BFGS-B: the capability paper's optimiser."""

from typing import Any

import numpy as np

from bayescale.errors import FitError
from bayescale.inference.huber import NOT_FINITE, SMALL, Objective, Optimum, huber, settle

TAIL = 1e-3  # of each prior beyond the bounds of the search
POPULATION = 15  # members for each coordinate, as in SciPy, but no fewer than
FEWEST = 90  # in all: laws of one or two coordinates may have many minima too
GENERATIONS = 300
TOLERANCE = 1e-6  # spread of the population's objectives over their mean at which it has settled


def evolve(objective: Objective, weights: np.ndarray, restarts: int, seed: int) -> Optimum:
    """Minimise a Huber loss within bounds from the priors, several times.

    Differential evolution (Storn & Price 1997, doi:10.1023/A:1008202821328) needs no start: its
    first population fills the box of the priors' central 99.8%. L-BFGS-B then refines the best
    member in that box, as in arXiv:2608.00013, algorithm 1, step 4.

    Parameters
    ----------
    objective : Objective
    weights : array, shape (row,)
    restarts : int
        Independent populations; whether they agree is reported as for starts.
    seed : int

    Raises
    ------
    FitError
        The objective is finite nowhere in the first population.
    """
    from scipy.optimize import differential_evolution, minimize

    box, gradient = objective.curve.bounds(TAIL), objective.weighted(weights)
    total = _total(objective, weights)
    middle = total(box.mean(axis=1)[:, None])[0]
    typical = float(middle) if 0 < middle < NOT_FINITE else 1.0
    ends, values = [], []
    for nth in range(restarts):
        best: Any = differential_evolution(
            lambda v: total(v) / typical,
            box,
            rng=np.random.default_rng([seed, nth, 43]),
            popsize=max(POPULATION, -(-FEWEST // len(box))),
            maxiter=GENERATIONS,
            tol=TOLERANCE,
            init="sobol",
            polish=False,
            updating="deferred",
            vectorized=True,
        )
        with np.errstate(all="ignore"):
            refined: Any = minimize(
                lambda v: tuple(x / typical for x in gradient(v)),
                best.x,
                jac=True,
                method="L-BFGS-B",
                bounds=box,
                options={"maxiter": 2000, "ftol": SMALL**2, "gtol": 1e-9},
            )
        ends.append(refined.x if refined.fun <= best.fun else best.x)
        values.append(float(min(refined.fun, best.fun)) * typical)
    if min(values) >= NOT_FINITE:
        raise FitError(
            f"the law gives no {objective.curve.possible} value for these runs anywhere within its "
            "priors; check units of the columns, or the priors that bound the search."
        )
    return settle(objective, weights, np.array(ends), np.array(values), typical)


def _total(objective: Objective, weights: np.ndarray) -> Any:
    """The objective of many vectors at once, shape (size, vector) -> (vector,), in NumPy."""
    delta = float(objective.data["delta"])

    def call(vectors: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            loss = huber(objective.residuals(vectors.T), delta)
            value = np.sum(np.where(weights > 0, weights * loss, 0.0), axis=-1)
        return np.where(np.isfinite(value), value, NOT_FINITE)

    return call
