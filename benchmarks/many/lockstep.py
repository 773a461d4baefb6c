"""What running fits side by side in lock-step wastes, from the lengths of their trajectories."""

from collections.abc import Iterable

import numpy as np

SORTED_OVER = 4  # batches whose lanes are sorted together, as fit_many does
JUDGED = 50  # draws by whose length lanes are sorted here; fit_many takes the end of warm-up


def waste(steps: np.ndarray, lanes: int) -> float:
    """Time in lock-step over time without waiting.

    Every iteration lasts as long as the longest trajectory among all chains of a batch, where
    alone it would last its own length: sum of the longest over sum of the mean.

    Parameters
    ----------
    steps : array, shape (fit, chain, draw)
        Gradient evaluations of each transition.
    lanes : int
        Fits side by side; fits beyond a whole number of batches are left out.
    """
    whole = len(steps) // lanes * lanes
    block = SORTED_OVER * lanes
    waited = 0.0
    for begin in range(0, whole, block):
        some = steps[begin : min(begin + block, whole)]
        some = some[np.argsort(some[:, :, :JUDGED].mean(axis=(1, 2)), kind="stable")]
        batches = some.reshape(-1, lanes * steps.shape[1], steps.shape[2])
        waited += batches.max(axis=1).sum()
    alone = steps[:whole].mean(axis=1).sum()  # the chains' mean, summed over fits
    return float(waited * lanes / alone)


def wastes(steps: np.ndarray, widths: Iterable[int]) -> dict[str, float]:
    """`waste` by number of lanes, for those that the fits fill."""
    return {str(w): waste(steps, w) for w in widths if w <= len(steps)}
