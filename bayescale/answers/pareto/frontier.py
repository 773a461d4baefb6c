"""What is read off the frontier of each draw: which choices are efficient, knee, volume, odds."""

from typing import Any

import numpy as np


def efficient(losses: np.ndarray) -> np.ndarray:
    """Which points no other one betters in all losses, within each draw and budget.

    Parameters
    ----------
    losses : array, shape (draw, budget, point, objective)

    Returns
    -------
    array of bool, shape (draw, budget, point)
    """
    from moocore import is_nondominated

    flat = losses.reshape(-1, *losses.shape[-2:])
    found = np.zeros(flat.shape[:2], dtype=bool)
    for one, points in zip(found, flat, strict=True):
        there = np.isfinite(points).all(-1)
        one[there] = is_nondominated(points[there], keep_weakly=True)
    return found.reshape(losses.shape[:-1])


def knee(losses: np.ndarray, kept: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Where the frontier bulges farthest from the chord between its ends.

    Losses are measured from 0 at their least to 1 at their most on the draw's frontier; the chord
    of two objectives (the plane of more) is where they sum to 1, and the distance from it is 1
    minus that sum over the square root of the number of objectives. Between points the top of the
    parabola through three of them is taken.

    Parameters
    ----------
    along : array, shape (point,)
        Where the points lie along the frontier, such as ln r; rising.

    Returns
    -------
    array, shape (draw, budget)
        A place along it; NaN where a draw has no frontier of three points.
    """
    inside = np.where(kept[..., None], losses, np.nan)
    enough = kept.sum(-1) >= 3
    with np.errstate(invalid="ignore", divide="ignore"):
        low = np.nanmin(np.where(enough[..., None, None], inside, 0.0), axis=2, keepdims=True)
        high = np.nanmax(np.where(enough[..., None, None], inside, 1.0), axis=2, keepdims=True)
        bulge = 1 - ((inside - low) / (high - low)).sum(-1)
    found = np.argmax(np.where(np.isfinite(bulge), bulge, -np.inf), axis=-1)
    return np.where(enough, _top(bulge, found, along), np.nan)


def _top(values: np.ndarray, place: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The top of the parabola through a largest value and its neighbours, wherever they lie."""
    near = np.clip(place[..., None] + np.array([-1, 0, 1]), 0, len(along) - 1)
    y0, y1, y2 = np.moveaxis(np.take_along_axis(values, near, -1), -1, 0)
    x0, x1, x2 = np.moveaxis(along[near], -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        left, right = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
        top = (x0 + x1) / 2 + left * (x2 - x0) / 2 / (left - right)
    return np.where((x0 <= top) & (top <= x2), top, x1)


def hypervolume(losses: np.ndarray, kept: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Volume of losses between the frontier and a reference point, shape (draw, budget).

    In the losses' unit to the power of their number; points beyond the reference add nothing.
    """
    from moocore import Hypervolume

    measure = Hypervolume(ref=reference)
    shape = losses.shape[:2]
    flat, chosen = losses.reshape(-1, *losses.shape[2:]), kept.reshape(-1, kept.shape[-1])
    found = [measure(p[k]) if k.any() else 0.0 for p, k in zip(flat, chosen, strict=True)]
    return np.array(found).reshape(shape)


def attains(losses: np.ndarray, kept: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Whether some choice brings every loss to its target, shape (draw, budget).

    For two objectives the frontier is taken as straight between its points, which lies on its
    upper side; of more objectives only the points themselves count. A target below a draw's
    irreducible loss is out of its reach, like any other that its frontier doesn't come down to.
    """
    reached = ((losses <= target) & kept[..., None]).all(-1).any(-1)
    if losses.shape[-1] != 2:
        return reached
    order = np.argsort(np.where(kept, losses[..., 0], np.inf), axis=-1)
    first = np.take_along_axis(np.where(kept, losses[..., 0], np.inf), order, -1)
    second = np.take_along_axis(np.where(kept, losses[..., 1], np.inf), order, -1)
    place = (first <= target[0]).sum(-1)[..., None]  # of the first point beyond the target
    inside = (place > 0) & (place < kept.sum(-1)[..., None])
    before, after = np.maximum(place - 1, 0), np.minimum(place, losses.shape[2] - 1)
    x0, x1 = (np.take_along_axis(first, k, -1) for k in (before, after))
    y0, y1 = (np.take_along_axis(second, k, -1) for k in (before, after))
    with np.errstate(invalid="ignore", divide="ignore"):
        between = y0 + (y1 - y0) * (target[0] - x0) / (x1 - x0)
    return reached | (inside & (between <= target[1]))[..., 0]


def attainment(losses: np.ndarray, kept: np.ndarray, levels: Any, most: int = 400) -> list[Any]:
    """Contours of the share of draws whose frontier comes down to a pair (or more) of losses.

    Parameters
    ----------
    losses : array, shape (draw, point, objective)
    kept : array of bool, shape (draw, point)
    levels : sequence of float
        Shares, 0 to 1: along the contour of .05 one draw in twenty comes as low.
    most : int
        Draws that are used, evenly picked.

    Returns
    -------
    list of array, shape (corner, objective)
        One contour a level, sorted by the first loss.
    """
    from moocore import eaf

    some = np.unique(np.linspace(0, len(losses) - 1, min(len(losses), most)).astype(int))
    sets, points = np.nonzero(kept[some])
    shares = [100.0 * x for x in levels]
    found = eaf(losses[some][sets, points], sets + 1, percentiles=shares)
    contours = [found[np.isclose(found[:, -1], share), :-1] for share in shares]
    return [c[np.argsort(c[:, 0])] for c in contours]
