"""The posterior mode and the whitening that its curvature gives."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayescale.errors import FitError

# value and gradient of the log density at a vector
Gradient = Callable[[np.ndarray], tuple[float, np.ndarray]]

SMALLEST_CURVATURE = 0.1  # priors have a standard deviation near 1 on the real line


@dataclass(frozen=True)
class Mode:
    """A mode and the linear map that makes the posterior about it round.

    Parameters
    ----------
    vector : array, shape (dim,)
    whitening : array, shape (dim, dim)
        ``vector + whitening @ z`` with z standard normal is the Laplace approximation.
    log_density : float
    evaluations : int
        Gradient evaluations spent.
    """

    vector: np.ndarray
    whitening: np.ndarray
    log_density: float
    evaluations: int


def find_mode(gradient: Gradient, starts: np.ndarray) -> Mode:
    """Climb from several starts, keep the best, measure its curvature.

    Parameters
    ----------
    gradient : callable
        Value and gradient of the log density.
    starts : array, shape (start, dim)

    Raises
    ------
    FitError
        The log density is not finite at any start.
    """
    from scipy.optimize import minimize

    count = 0

    def objective(vector: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal count
        count += 1
        value, slope = gradient(vector)
        if not np.isfinite(value) or not np.all(np.isfinite(slope)):
            return 1e300, np.zeros_like(vector)
        return -value, -slope

    finite = [s for s in starts if objective(s)[0] < 1e300]
    if not finite:
        raise FitError(
            "the log density is not finite at any start: the law gives no usable value for "
            "these runs under its priors; check units of the columns and the priors."
        )
    # BFGS is NumPy throughout; L-BFGS-B hands matrices of a dozen rows to threaded BLAS, and on a
    # busy machine its threads wait for each other (measured: 3 s against .05 s, fewer evaluations)
    results = [
        minimize(objective, s, jac=True, method="BFGS", options={"maxiter": 500, "gtol": 1e-2})
        for s in finite
    ]
    best = min(results, key=lambda r: float(r.fun))
    vector, whitening = _polish(objective, np.asarray(best.x))
    return Mode(vector, whitening, -objective(vector)[0], count)


def _polish(objective: Gradient, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Newton steps from where L-BFGS stopped, and the whitening there."""
    for _ in range(5):
        value, slope = objective(vector)
        whitening = whiten(hessian(objective, vector))
        step = -whitening @ (whitening.T @ slope)
        if np.linalg.norm(whitening.T @ slope) < 1e-3:  # in posterior standard deviations
            return vector, whitening
        for shrink in (1.0, 0.3, 0.1, 0.03):
            if objective(vector + shrink * step)[0] < value:
                vector = vector + shrink * step
                break
        else:
            break
    return vector, whiten(hessian(objective, vector))


def hessian(objective: Gradient, vector: np.ndarray) -> np.ndarray:
    """Central differences of the gradient: two evaluations a dimension, nothing to compile."""
    size = len(vector)
    found = np.empty((size, size))
    for k in range(size):
        move = np.zeros(size)
        move[k] = 1e-4 * max(1.0, abs(vector[k]))
        up, down = objective(vector + move)[1], objective(vector - move)[1]
        found[k] = (up - down) / (2 * move[k])
    return 0.5 * (found + found.T)


def whiten(curvature: np.ndarray) -> np.ndarray:
    """Inverse square root of a Hessian, with flat or negative directions floored."""
    if not np.all(np.isfinite(curvature)):
        return np.eye(len(curvature))
    values, vectors = np.linalg.eigh(curvature)
    return vectors / np.sqrt(np.maximum(values, SMALLEST_CURVATURE))
