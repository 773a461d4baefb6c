r"""Where the curves of neighbouring sizes cross, for every draw.

Where the curves of sizes N_i < N_j cross, both lose the same to the best size, which lies between
them, at their geometric mean but for a third-order term: with the Chinchilla law and h = ln N_j/N_i
it lies higher by gamma h^2 (2a - 1)/(24 a (1 - a)) in ln N, and as much for every pair with this h
(.01 for a = .6 and sizes a factor 4 apart). Taking the winner at each compute instead makes steps
whose ends lie anywhere between two sizes.
"""

from dataclasses import dataclass

import numpy as np

from bayescale.answers.envelope.curves import CurveDraws

POINTS = 300  # of compute, between which crossings are interpolated
CHUNK = 500  # draws at once


@dataclass(frozen=True)
class Crossings:
    """Crossings along the envelope, one after another.

    Parameters
    ----------
    log_c, steeper : array, shape (draw, crossing)
        Log compute, and by how much faster ln loss of the larger size falls in ln C there; NaN
        where a draw has fewer crossings.
    pair : integer array, shape (draw, crossing, 2)
        Runs that cross, the smaller first.
    lowest : array, shape (draw, point)
        Least loss of all curves with at most the compute of ``grid``.
    grid : array, shape (point,)
        Log compute.
    on : array, shape (draw, run)
        Whether a run is the best one somewhere, where there is another to compare with.
    """

    log_c: np.ndarray
    steeper: np.ndarray
    pair: np.ndarray
    lowest: np.ndarray
    grid: np.ndarray
    on: np.ndarray

    @property
    def count(self) -> np.ndarray:
        """Number of crossings of each draw."""
        return np.isfinite(self.log_c).sum(axis=1)


def find_crossings(curves: CurveDraws) -> Crossings:
    """Follow the lower envelope of every draw from small to large compute.

    A change of the best run counts as a crossing where both runs have data on both sides of it
    (not where a curve begins or ends), and the new one is larger than all before.
    """
    data = curves.data
    low, high = data.spans(data.log_c)
    grid = np.linspace(low.min(), high.max(), POINTS)
    parts = [_chunk(curves, slice(k, k + CHUNK), grid) for k in range(0, curves.size, CHUNK)]
    most = max(1, max(p[0].shape[1] for p in parts))
    padded = [np.concatenate(list(x)) for x in zip(*(_pad(p, most) for p in parts), strict=True)]
    log_c, steeper, pair, lowest, on = padded
    return Crossings(log_c, steeper, pair, lowest, grid, on)


def _chunk(curves: CurveDraws, draws: slice, grid: np.ndarray) -> tuple[np.ndarray, ...]:
    log_n = curves.data.log_n
    with np.errstate(invalid="ignore"):
        loss = np.log(curves.at(grid, draws))  # (draw, run, point)
    best = loss.argmin(axis=1)
    lowest = np.take_along_axis(loss, best[:, None], 1)[:, 0]
    size = log_n[best]
    record = np.maximum.accumulate(size, axis=1)
    before, after = best[:, :-1], best[:, 1:]
    grows = (size[:, 1:] > record[:, :-1] + 1e-9) & (size[:, :-1] >= record[:, :-1] - 1e-9)
    gap = _difference(loss, before, after)  # of the old one over the new, at both ends
    crossing = grows & np.isfinite(gap).all(axis=0)
    draw, point = np.nonzero(crossing)
    nth = (np.cumsum(crossing, axis=1) - 1)[draw, point]
    width = int(nth.max()) + 1 if len(nth) else 1
    shape = (len(best), width)
    log_c, steeper = np.full(shape, np.nan), np.full(shape, np.nan)
    pair = np.zeros((*shape, 2), dtype=int)
    left, right = gap[0][draw, point], gap[1][draw, point]
    step = grid[1] - grid[0]
    share = np.clip(left / np.where(left == right, 1.0, left - right), 0.0, 1.0)
    log_c[draw, nth] = grid[point] + step * share
    steeper[draw, nth] = (right - left) / step
    pair[draw, nth] = np.stack([before[draw, point], after[draw, point]], axis=-1)
    compared = np.isfinite(loss[0]).sum(axis=0) > 1
    on = (best[:, compared, None] == np.arange(len(log_n))).any(axis=1)
    return log_c, steeper, pair, np.exp(np.minimum.accumulate(lowest, axis=1)), on


def _difference(loss: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Log of the old best's loss over the new one's, before and after, (2, draw, point - 1)."""

    def at(run: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.take_along_axis(values, run[:, None], axis=1)[:, 0]

    ends = (loss[:, :, :-1], loss[:, :, 1:])
    with np.errstate(invalid="ignore"):
        return np.stack([at(before, x) - at(after, x) for x in ends])


def _pad(part: tuple[np.ndarray, ...], most: int) -> tuple[np.ndarray, ...]:
    log_c, steeper, pair, lowest, on = part
    extra = most - log_c.shape[1]
    wide = ((0, 0), (0, extra))
    return (
        np.pad(log_c, wide, constant_values=np.nan),
        np.pad(steeper, wide, constant_values=np.nan),
        np.pad(pair, (*wide, (0, 0))),
        lowest,
        on,
    )
