"""Log likelihood of a fit's runs under all of its draws, in pieces that fit into memory."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bayescale.errors import FitError
from bayescale.inference.batch import make_batch, take_rows

if TYPE_CHECKING:
    from bayescale.fitted import Fit

PIECE = 4_000_000  # draws x rows at once: 32 MB an array


def likelihood_pieces(fit: "Fit") -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Log likelihood of the runs, a piece of the table at a time.

    No draw is left out, unlike in ``fit.tree`` beyond 20 million draws x rows.

    Yields
    ------
    rows : integer array
        Positions in the table.
    log_likelihood : array, shape (draw, row)
        Chains joined; nats.

    Raises
    ------
    FitError
        A log likelihood is not finite.
    """
    batch = make_batch(fit.model, fit.runs, fit.layout)
    draws = len(next(iter(fit.sites.values())))
    step = max(1, PIECE // draws)
    for start in range(0, len(fit.runs), step):
        rows = np.arange(start, min(start + step, len(fit.runs)))
        # with memory a row's density is given the run's previous checkpoint
        wanted = np.union1d(rows, batch["noise"].get("previous", np.arange(len(fit.runs)))[rows])
        piece = np.asarray(fit.model.row_log_likelihood(fit.sites, take_rows(batch, wanted)))
        piece = piece[:, np.searchsorted(wanted, rows)]
        bad = ~np.isfinite(piece).all(axis=0)
        if bad.any():
            row = int(fit.runs.row_numbers[rows][np.argmax(bad)])
            raise FitError(
                f"the log likelihood of row {row} is not finite under some draws; leave the row "
                "out or fit again."
            )
        yield rows, piece


def total_log_likelihood(fit: "Fit") -> np.ndarray:
    """Log likelihood of all runs together, shape (chain, draw)."""
    shape = next(iter(fit.stats.values())).shape
    return sum(piece.sum(axis=1) for _, piece in likelihood_pieces(fit)).reshape(shape)  # pyright: ignore
