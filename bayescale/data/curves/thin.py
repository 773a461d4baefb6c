"""Fewer checkpoints: the last of each run, or some that are evenly spaced in log tokens."""

import numpy as np

from bayescale.data.curves.order import log_place
from bayescale.data.curves.which import Which
from bayescale.data.flags import Flag


def last_only(which: Which) -> tuple[np.ndarray, Flag]:
    """Mask of the last row of each run, where rows are in order, and what is said of it."""
    keep = np.append(which.code[1:] != which.code[:-1], True)
    message = f"only the last checkpoint of each run: {keep.sum()} of {len(keep)} rows."
    return keep, Flag("curves", (), message)


def thinned(place: np.ndarray, which: Which, most: int) -> tuple[np.ndarray, Flag]:
    """Mask of at most ``most`` rows of each run, first and last included.

    Of evenly spaced points in the logarithm of ``place`` the nearest checkpoints are kept.

    Parameters
    ----------
    place : array, shape (row,)
        Tokens (or steps), increasing within each run.
    which : Which
    most : int
    """
    keep = np.zeros(len(place), dtype=bool)
    begins = np.flatnonzero(np.append(True, which.code[1:] != which.code[:-1]))
    for rows in np.split(np.arange(len(place)), begins[1:]):
        if len(rows) <= most:
            keep[rows] = True
            continue
        x = log_place(place[rows])
        wanted = np.linspace(x[0], x[-1], most)
        keep[rows[np.abs(x[:, None] - wanted).argmin(axis=0)]] = True
    message = (
        f"at most {most} checkpoints of each run, evenly spaced in log tokens: {keep.sum()} of "
        f"{len(keep)} rows."
    )
    return keep, Flag("curves", (), message)
