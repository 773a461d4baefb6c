"""The posterior mode and the whitening that its curvature gives."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayescale.errors import FitError
from bayescale.inference.bend import bent, learn, straight

# value and gradient of the log density at a vector
Gradient = Callable[[np.ndarray], tuple[float, np.ndarray]]
Place = tuple[np.ndarray, ...]  # a vector, a whitening, and a bend where there is one

SMALLEST_CURVATURE = 0.1  # priors have a standard deviation near 1 on the real line
NEWTON_ALONE = (
    40  # dimensions up to which Newton's method needs no other, nor SciPy's import (.3 s)
)
SAME = 0.02  # log densities that differ by less belong to one mode: climbs end within about .01
# climbs, and how many have to reach the best mode before the others are left alone. Measured on 60
# simulated sets of Abnar's law (12 dimensions): two alike of 4 climbs miss the mode of the truth in
# 6 sets, 4 climbs in 2, 8 in 1, 12 in none. Laws of few dimensions have one mode; in those of many
# (labels, groups) each label's part is as simple, and a climb costs the most
FEW, MANY, CLIMBS, ALIKE = 8, 20, 4, 2
MORE_CLIMBS, MORE_ALIKE = 12, 3
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
    bend : array, shape (dim, 1 + feature), optional
        ``vector + whitening @ bent(z, bend)`` where draws have shown that the posterior curves.
    """

    vector: np.ndarray
    whitening: np.ndarray
    log_density: float
    evaluations: int
    bend: np.ndarray | None = None

    @property
    def place(self) -> Place:
        """What `to_vector` needs, for compiled functions."""
        return (self.vector, self.whitening, *(() if self.bend is None else (self.bend,)))

    def vectors(self, z: np.ndarray) -> np.ndarray:
        """Vectors of whitened draws, both of shape (..., dim)."""
        return to_vector(z, *self.place)

    def relearnt(self, z: np.ndarray, curved: bool = False) -> tuple["Mode", np.ndarray]:
        """What makes the posterior round as draws show it, and where chains go on from.

        Parameters
        ----------
        z : array, shape (chain, draw, dim)
            Draws in the present whitened space.
        curved : bool
            Whether the new map may bend, or is whitened by the covariance alone.

        Returns
        -------
        Mode
        array, shape (chain, dim)
            The last draw of each chain in the new whitened space.
        """
        line, y = self._covariance(z if self.bend is None else bent(z, self.bend))
        if not curved:
            return line, y[:, -1]
        axes, widths, _ = np.linalg.svd(line.whitening)  # the widest direction first
        y = np.linalg.solve(axes * widths, (y @ line.whitening.T)[..., None])[..., 0]
        order, bend = learn(y)
        found = replace(line, whitening=(axes * widths)[:, order], bend=bend)
        return found, straight(y[:, -1, order], bend)

    def _covariance(self, y: np.ndarray) -> tuple["Mode", np.ndarray]:
        """The map that whitens points ``vector + whitening @ y``, and the points under it."""
        flat = y.reshape(-1, y.shape[-1])
        middle = flat.mean(axis=0)
        variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(flat.T)))
        spread = axes * np.sqrt(np.maximum(variances, LEAST_VARIANCE))
        vector, whitening = self.vector + self.whitening @ middle, self.whitening @ spread
        found = replace(self, vector=vector, whitening=whitening, bend=None)
        return found, np.linalg.solve(spread, (flat - middle).T).T.reshape(y.shape)


def to_vector(z: Any, vector: Any, whitening: Any, bend: Any = None) -> Any:
    """Vectors of whitened draws z, both of shape (..., dim)."""
    return vector + (z if bend is None else bent(z, bend)) @ whitening.T


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
    vector = _best(objective, finite, MORE_ALIKE if climbs(finite[0].size) > CLIMBS else ALIKE)
    whitening = whiten(hessian(objective, vector))
    return Mode(vector, whitening, -objective(vector)[0], count)


def climbs(size: int) -> int:
    """From how many starts a mode of so many dimensions is sought."""
    return MORE_CLIMBS if FEW < size <= MANY else CLIMBS


def _best(objective: Gradient, starts: list[np.ndarray], alike: int) -> np.ndarray:
    """The highest mode found; once so many starts reach it the others are left alone."""
    best, height, times = starts[0], np.inf, 0
    for start in starts:
        found = _climb(objective, start)
        value = objective(found)[0]
        times = times + 1 if abs(value - height) < SAME else 1 if value < height else times
        if value < height:
            best, height = found, value
        if times == alike:
            break
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
