"""IsoFLOP slices: where runs cluster in compute, with several sizes at one budget."""

from typing import Literal

import numpy as np

NEAR = float(np.log(1.1))  # runs within 10% of a budget count as on its slice
LEAST = 4  # sizes that make a cluster of runs a slice
_WINDOWS = 60  # looked at, the densest first
_EITHER_WAY: tuple[tuple[float, Literal["left", "right"]], ...] = ((-NEAR, "left"), (NEAR, "right"))


def find_budgets(C: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Budgets around which runs cluster: windows of 10% either way with at least four sizes.

    Parameters
    ----------
    C : array, shape (run,)
        Compute, FLOP.
    N : array, shape (run,)
        Parameters. Sizes within 5% of each other count as one.

    Returns
    -------
    array, shape (budget,)
        Median compute of each cluster, FLOP, ascending; empty where there is none.
    """
    log_c, log_n = np.log(C), np.log(N)
    found: list[float] = []
    for _ in range(_WINDOWS):
        if not len(log_c):
            break
        order = np.sort(log_c)
        ends = [np.searchsorted(order, order + d, side) for d, side in _EITHER_WAY]
        densest = int(np.argmax(ends[1] - ends[0]))
        centre = float(np.median(order[ends[0][densest] : ends[1][densest]]))
        window = np.abs(log_c - centre) <= NEAR
        if len(np.unique(np.round(log_n[window] / 0.05))) >= LEAST:
            found.append(centre)
        log_c, log_n = log_c[~window], log_n[~window]
    return np.exp(np.sort(found))
