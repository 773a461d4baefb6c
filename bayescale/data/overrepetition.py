"""Runs harmed by repetition: more epochs over the same tokens made them worse.

A law of repetition has the loss fall, or stay, with every epoch. Runs beyond that can't lie on
it: they must be found and left out, or they bend it where it does hold.
"""

from typing import TYPE_CHECKING

import numpy as np

from bayescale.errors import DataError

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

MARGIN = 0.01  # in log loss; repeats of runs with other seeds differ by .003 (one SD) in C4 runs
SAME = 1.01  # tokens within this factor are one amount
ONE_SIZE = 1.005  # sizes likewise: patch sizes of one vision model differ by 1%
FAR = 0.2  # harm against a smaller run, which may differ in more than its size


def harm(N: np.ndarray, D: np.ndarray, U: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """How much worse each run is than the best with fewer epochs over the same unique tokens.

    Parameters
    ----------
    N, D, U, loss : array, shape (run,)
        Parameters, tokens seen, unique tokens, loss.

    Returns
    -------
    array, shape (run,)
        ln of the loss over the least loss among runs of the same size with as many unique tokens
        and fewer tokens seen; against runs of smaller size only where that is above 0.2, since
        they may differ in more. 0 for a run that is better than all of them, that has none to
        compare with, or that repeats nothing.
    """
    log_loss = np.log(loss)
    above = np.zeros(len(loss))
    for k in np.flatnonzero(D > SAME * U):
        fewer = (np.abs(np.log(U / U[k])) < np.log(SAME)) & (D / D[k] < 1 / SAME)
        same = fewer & (np.abs(np.log(N / N[k])) < np.log(ONE_SIZE))
        if same.any():
            above[k] = max(0.0, float(log_loss[k] - log_loss[same].min()))
        smaller = fewer & (N / N[k] < 1)
        if smaller.any() and log_loss[k] - log_loss[smaller].min() > FAR:
            above[k] = max(above[k], float(log_loss[k] - log_loss[smaller].min()))
    return above


def harmed(runs: "Runs", margin: float = MARGIN) -> np.ndarray:
    """Find runs that more epochs over the same tokens made worse.

    Parameters
    ----------
    runs : Runs
        With the columns N, D, U (unique tokens) and loss.
    margin : float
        Least harm in log loss: several standard deviations between seeds.

    Returns
    -------
    array of bool, shape (run,)
        True for harmed runs; ``runs.select(~harmed(runs), "not harmed by repetition")`` leaves
        them out.

    Raises
    ------
    DataError
        A column is missing, or the margin is negative.
    """
    runs.require(["N", "D", "U", "loss"], by="finding runs harmed by repetition")
    if not margin >= 0:
        raise DataError(f"margin is {margin!r}; expected a number of at least 0, such as 0.01.")
    columns = (np.asarray(runs.column(c), dtype=float) for c in ("N", "D", "U", "loss"))
    return harm(*columns) > margin


def safe_epochs(D: np.ndarray, U: np.ndarray, which: np.ndarray) -> float:
    """Epochs below which none of the marked runs lies, to two digits, for a filter."""
    epochs = float((D / U)[which].min())
    digits = 10.0 ** (np.floor(np.log10(epochs)) - 1)
    return float(f"{np.floor(epochs / digits) * digits:.3g}")
