"""The posterior mode and the whitening that its curvature gives."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bayescale.errors import FitError

# value and gradient of the log density at a vector
Gradient = Callable[[np.ndarray], tuple[float, np.ndarray]]

SMALLEST_CURVATURE = 0.1  # priors have a standard deviation near 1 on the real line
NEWTON_ALONE = (
    40  # dimensions up to which Newton's method needs no other, nor SciPy's import (.3 s)
)
SAME = 1e-3  # log densities that differ by less belong to one mode
LEAST_GAIN = 1e-4  # in log density, of a step: heavy tails have modes with kinks near some rows
NO_START = (
    "the log density is not finite at any start: the law gives no usable value for these runs "
    "under its priors; check units of the columns and the priors."
)
LEAST_VARIANCE = 1e-3  # of draws that hardly moved, against that of the curvature at the mode
LONGEST = 1.5  # longest step in any direction, on the real line (a factor of 4.5)


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

    def relearnt(self, z: np.ndarray) -> tuple["Mode", np.ndarray]:
        """The same place, whitened by the covariance of draws, and where chains go on from.

        Parameters
        ----------
        z : array, shape (chain, draw, dim)
            Draws in the present whitened space.

        Returns
        -------
        Mode
        array, shape (chain, dim)
            The last draw of each chain in the new whitened space.
        """
        flat = z.reshape(-1, z.shape[-1])
        middle = flat.mean(axis=0)
        variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(flat.T)))
        spread = axes * np.sqrt(np.maximum(variances, LEAST_VARIANCE))
        vector, whitening = self.vector + self.whitening @ middle, self.whitening @ spread
        starts = np.linalg.solve(spread, (z[:, -1] - middle).T).T
        return replace(self, vector=vector, whitening=whitening), starts


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
        raise FitError(NO_START)
    vector = _best(objective, finite)
    whitening = whiten(hessian(objective, vector))
    return Mode(vector, whitening, -objective(vector)[0], count)


def _best(objective: Gradient, starts: list[np.ndarray]) -> np.ndarray:
    """The highest mode found; once two starts reach the same one the others are left alone."""
    best, height = starts[0], np.inf
    for start in starts:
        found = _climb(objective, start)
        value = objective(found)[0]
        if abs(value - height) < SAME:
            return found if value < height else best
        if value < height:
            best, height = found, value
    return best


def _climb(objective: Gradient, vector: np.ndarray) -> np.ndarray:
    """The mode above one start: Newton's way, after BFGS where dimensions are many."""
    if len(vector) <= NEWTON_ALONE:
        return _newton(objective, vector, 60)
    from scipy.optimize import minimize

    # BFGS is NumPy throughout; L-BFGS-B hands matrices of a dozen rows to threaded BLAS, and on a
    # busy machine its threads wait for each other (measured: 3 s against .05 s, fewer evaluations)
    options = {"maxiter": 500, "gtol": 1e-2}
    found = minimize(objective, vector, jac=True, method="BFGS", options=options)
    return _newton(objective, np.asarray(found.x), 5)


def _newton(objective: Gradient, vector: np.ndarray, iterations: int) -> np.ndarray:
    """Damped Newton steps; directions of negative curvature count as if it were positive."""
    for _ in range(iterations):
        value, slope = objective(vector)
        whitening = whiten(hessian(objective, vector))
        step = -whitening @ (whitening.T @ slope)
        if np.linalg.norm(whitening.T @ slope) < 1e-3:  # in posterior standard deviations
            break
        step *= min(1.0, LONGEST / np.abs(step).max())
        tried = ((vector + shrink * step) for shrink in 0.5 ** np.arange(10))
        found = next(((v, h) for v in tried if (h := objective(v)[0]) < value), None)
        if found is None or value - found[1] < LEAST_GAIN:
            break
        vector = found[0]
    return vector


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
    """Inverse square root of a Hessian: flat directions floored, negative ones turned."""
    if not np.all(np.isfinite(curvature)):
        return np.eye(len(curvature))
    values, vectors = np.linalg.eigh(curvature)
    return vectors / np.sqrt(np.maximum(np.abs(values), SMALLEST_CURVATURE))
