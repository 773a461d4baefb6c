"""Runs that diverged: a larger run on more data must not be much worse than a smaller one."""

from collections.abc import Sequence

import numpy as np

# A run is suspect if its loss is this many times that of a run it dominates. Over the public
# sweeps, healthy but badly tuned runs reach 1.43, diverged ones start at 1.5.
_LEAST_RATIO = 1.5
_SPREADS = 8.0  # and this many robust standard deviations above what is usual in the table
_MOST_LEVELS = 500  # finer inputs are put into log-spaced bins


def excess(inputs: Sequence[np.ndarray], loss: np.ndarray) -> np.ndarray:
    """Return ln of loss over the best loss among runs no larger in any input.

    Parameters
    ----------
    inputs
        One or two arrays (N, D), positive.
    loss
        Losses of the same length.

    Returns
    -------
    ndarray
        Zero or more; zero for a run better than all runs that it dominates.
    """
    codes = [_levels(column) for column in inputs]
    shape = tuple(int(code.max()) + 1 for code in codes)
    best = np.full(shape, np.inf)
    np.minimum.at(best, tuple(codes), np.log(loss))
    for axis in range(len(shape)):
        best = np.minimum.accumulate(best, axis=axis)
    return np.log(loss) - best[tuple(codes)]


def diverged(inputs: Sequence[np.ndarray], loss: np.ndarray) -> np.ndarray:
    """Return True for runs whose loss is suspiciously above that of smaller runs.

    A run counts as suspect if its loss is above 1.5 times the best loss among runs with no more
    parameters and no more tokens, and also 8 robust standard deviations above the median of that
    excess, so that a table that mixes corpora or settings isn't flagged as a whole.

    Parameters
    ----------
    inputs, loss
        As in `excess`.
    """
    above = excess(inputs, loss)
    centre = float(np.median(above))
    spread = 1.4826 * float(np.median(np.abs(above - centre)))
    return above > max(np.log(_LEAST_RATIO), centre + _SPREADS * spread)


def _levels(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value, or of its bin where there are too many distinct ones."""
    distinct, codes = np.unique(values, return_inverse=True)
    if len(distinct) <= _MOST_LEVELS:
        return codes.reshape(-1)
    logs = np.log(values)
    width = (logs.max() - logs.min()) / (_MOST_LEVELS - 1)
    return np.floor((logs - logs.min()) / width).astype(np.int64)
