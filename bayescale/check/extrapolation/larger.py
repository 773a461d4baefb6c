"""Whether runs that are held out are larger than those that are fitted."""

from typing import TYPE_CHECKING

import numpy as np

from bayescale.errors import DataError

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

SAME = 1e-9  # relative difference up to which two budgets computed as 6 N D are one


def check_larger(runs: "Runs", test: np.ndarray, text: str) -> None:
    """Refuse a split by compute that extrapolates nothing.

    Parameters
    ----------
    runs : Runs
        With a column ``C``.
    test : boolean array, shape (run,)
        The runs that are held out.
    text : str
        The split, for the message.

    Raises
    ------
    DataError
        No held-out run has more compute than all that are fitted; or the held-out runs, larger by
        column C, are smaller by N times D, so that C is wrong (products of whole numbers beyond
        2^63 wrap around, which shuffles runs).
    """
    C = runs.column("C").astype(np.float64)
    if C[test].max() <= C[~test].max() * (1 + SAME):
        raise DataError(
            f"split '{text}' holds out no run of {runs.source} that is larger than those it fits: "
            f"the largest of both have {C[test].max():.3g} FLOP. Split by size:, data: or group:, "
            "or at random (random:20x0.7) if no extrapolation is meant."
        )
    if not {"N", "D"} <= set(runs.table):
        return
    product = runs.column("N").astype(np.float64) * runs.column("D").astype(np.float64)
    held, fitted = (float(np.median(product[part])) for part in (test, ~test))
    if held <= fitted:
        raise DataError(
            f"split '{text}' holds out runs of {runs.source} that are larger by column C and not "
            f"by N times D (median {held:.3g} against {fitted:.3g} of the fitted ones). Check C: "
            "6 N D of whole numbers beyond 2^63 wraps around; leave C out to have it computed."
        )
