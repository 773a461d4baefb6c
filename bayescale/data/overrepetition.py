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
    """How much more epochs over the same unique tokens cost each run.

    Parameters
    ----------
    N, D, U, loss : array, shape (run,)
        Parameters, tokens seen, unique tokens, loss.

    Returns
    -------
    array, shape (run,)
        Among runs of one size with as many unique tokens: ln of the least loss with this run's
        epochs or more, over the least loss with fewer. One bad run alone is no harm, where more
        epochs are better again. Runs of smaller size count among those with fewer epochs where
        they are better by 0.2, since they may differ in more. 0 where more epochs are no worse,
        where there is nothing to compare with, and for a run that repeats nothing.
    """
    log_loss = np.log(loss)
    above = np.zeros(len(loss))
    for k in np.flatnonzero(D > SAME * U):
        alike = np.abs(np.log(U / U[k])) < np.log(SAME)
        own = alike & (np.abs(np.log(N / N[k])) < np.log(ONE_SIZE))
        fewer = D / D[k] < 1 / SAME
        best = log_loss[own & ~fewer].min()
        if (own & fewer).any():
            above[k] = max(0.0, float(best - log_loss[own & fewer].min()))
        smaller = alike & fewer & (N / N[k] < 1)
        if smaller.any() and best - log_loss[smaller].min() > FAR:
            above[k] = max(above[k], float(best - log_loss[smaller].min()))
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
