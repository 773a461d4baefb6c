"""Scores of predictive draws and intervals against what was observed, each a pure function.

Values are on one scale, log loss or the response itself; the caller says which.

References
----------
Gneiting and Raftery 2007, doi:10.1198/016214506000001437 (interval score, CRPS); Dawid 1984,
doi:10.2307/2981683 (probability integral transform).
"""

import numpy as np
from numpy.typing import ArrayLike


def coverage(observed: ArrayLike, low: ArrayLike, high: ArrayLike) -> float:
    """Share of observations inside their intervals, ends included.

    Parameters
    ----------
    observed, low, high : array, shape (run,)
    """
    y, below, above = (np.asarray(v, dtype=float) for v in (observed, low, high))
    return float(np.mean((below <= y) & (y <= above)))


def interval_score(
    observed: ArrayLike, low: ArrayLike, high: ArrayLike, level: float
) -> np.ndarray:
    r"""Winkler's score of central intervals: their width, and a fine for what they miss.

    .. math:: (u - l) + \frac{2}{1-p} \max(l - y, 0) + \frac{2}{1-p} \max(y - u, 0)

    Parameters
    ----------
    observed, low, high : array, shape (run,)
    level : float
        Probability p that the intervals claim.

    Returns
    -------
    array, shape (run,)
        Lower is better; the central interval of the true distribution has the lowest mean.
    """
    y, below, above = (np.asarray(v, dtype=float) for v in (observed, low, high))
    fine = 2 / (1 - level)
    return above - below + fine * (np.maximum(below - y, 0) + np.maximum(y - above, 0))


def crps(draws: ArrayLike, observed: ArrayLike) -> np.ndarray:
    r"""Continuous ranked probability score of the draws' empirical distribution.

    .. math:: E|X - y| - \tfrac12 E|X - X'|, \qquad
        E|X - X'| = \frac{2}{m^2} \sum_i (2i - m - 1) x_{(i)}

    Parameters
    ----------
    draws : array, shape (draw, run)
    observed : array, shape (run,)

    Returns
    -------
    array, shape (run,)
        In the unit of the draws, lower is better; of one draw it is the absolute error.
    """
    x, y = np.sort(np.asarray(draws, dtype=float), axis=0), np.asarray(observed, dtype=float)
    m = len(x)
    rank = 2 * np.arange(1, m + 1) - m - 1
    return np.abs(x - y).mean(axis=0) - rank @ x / m**2


def pit(draws: ArrayLike, observed: ArrayLike) -> np.ndarray:
    """Probability integral transform: share of draws below what was observed, ties half.

    Parameters
    ----------
    draws : array, shape (draw, run)
    observed : array, shape (run,)

    Returns
    -------
    array, shape (run,)
        Uniform on 0 to 1 where predictions are calibrated.
    """
    x, y = np.asarray(draws, dtype=float), np.asarray(observed, dtype=float)
    return (x < y).mean(axis=0) + 0.5 * (x == y).mean(axis=0)


def log_score(log_density: ArrayLike) -> np.ndarray:
    """Log predictive density of each run: log of the mean density over draws.

    Parameters
    ----------
    log_density : array, shape (draw, run)

    Returns
    -------
    array, shape (run,)
        Nats, higher is better.
    """
    from scipy.special import logsumexp

    values = np.asarray(log_density, dtype=float)
    return np.asarray(logsumexp(values, axis=0)) - np.log(len(values))


def rmse(observed: ArrayLike, predicted: ArrayLike) -> float:
    """Root mean squared error."""
    return float(np.sqrt(np.mean((np.asarray(observed) - np.asarray(predicted)) ** 2)))


def relative_error(observed: ArrayLike, predicted: ArrayLike) -> np.ndarray:
    """Absolute error of each run over what was observed."""
    y = np.asarray(observed, dtype=float)
    return np.abs(np.asarray(predicted, dtype=float) - y) / np.abs(y)
