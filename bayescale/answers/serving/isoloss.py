"""The cheapest size and tokens at a fixed loss, and the least loss at a fixed price."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayescale.answers.law_draws import LawDraws
from bayescale.answers.serving.price import Served

SCAN = 16  # tokens tried along each curve before the minimum is refined
LEFT = 0.1  # e-folds of tokens below the training optimum, where the price still falls
RIGHT = 6.0  # e-folds beyond the training optimum and the served tokens, where it rises again
DOWN, UP = 40.0, 3.0  # e-folds of size around the training optimum between which a curve is sought
NEVER = 1e6  # log FLOP of what has no finite price


def cheapest(
    laws: LawDraws, price: Served, start: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Size and tokens of least training and serving FLOP at each draw's loss.

    The curve of one loss is followed in ln D, from the training optimum towards smaller models
    on more tokens: there each number of tokens has one size, and its price is finite.

    Parameters
    ----------
    laws : LawDraws
    price : Served
    start : mapping
        ``N``, ``D``, ``loss``, shape (draw,): what reaches the loss with the least training.

    Returns
    -------
    n_params, n_tokens : array, shape (draw,)
        NaN where the start is, or where no price within range is the least.
    """
    ok = np.isfinite(start["N"]) & np.isfinite(start["D"])
    size, tokens = np.full(laws.size, np.nan), np.full(laws.size, np.nan)
    if not ok.any():
        return size, tokens
    of = {k: v[ok] for k, v in start.items()}
    args = (np.flatnonzero(ok).astype(float), of["loss"], np.log(of["N"]), np.log(of["D"]))

    def bill(step: np.ndarray, *of: np.ndarray) -> np.ndarray:
        log_d = of[3] + step
        log_n = _size_on_curve(laws, log_d, *of[:3])
        with np.errstate(all="ignore"):
            total = np.log(price.flops(np.exp(log_n), np.exp(log_d)))
        return np.where(np.isfinite(total), total, NEVER)

    longest = np.log1p(price.tokens_served / of["D"]) + RIGHT
    inner = np.linspace(0.0, 1.0, SCAN)[:, None] * longest
    steps = np.concatenate([np.full((1, len(longest)), -LEFT), inner])
    step, _ = scanned_minimum(bill, steps, args)
    log_d = args[3] + step
    size[ok], tokens[ok] = np.exp(_size_on_curve(laws, log_d, *args[:3])), np.exp(log_d)
    return size, tokens


def least_loss(laws: LawDraws, price: Served, total: float, tokens: np.ndarray) -> np.ndarray:
    """Each draw's least loss at a total price, tokens being sought around those of a grid.

    Parameters
    ----------
    laws : LawDraws
    price : Served
    total : float
        FLOP of training and serving.
    tokens : array, shape (point,)
        Increasing; their range holds the optimum.

    Returns
    -------
    array, shape (draw,)
        Where the optimum isn't inside the range, the least loss on the grid.
    """
    draw = np.arange(laws.size, dtype=float)

    def loss(log_d: np.ndarray, k: np.ndarray) -> np.ndarray:
        D = np.exp(log_d)
        return laws.mean(k.astype(int), N=price.params(total, D), D=D)

    grid = np.broadcast_to(np.log(tokens)[:, None], (len(tokens), laws.size))
    _, found = scanned_minimum(loss, grid, (draw,))
    edges = np.minimum(loss(grid[0], draw), loss(grid[-1], draw))
    return np.where(np.isfinite(found), np.fmin(found, edges), edges)


def scanned_minimum(
    function: Callable[..., np.ndarray], points: np.ndarray, args: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The minimum of each element's function: the least of some points, then refined.

    Parameters
    ----------
    function : callable
        ``function(x, *args)``, element by element.
    points : array, shape (point, element)
        Increasing along the first axis.
    args : tuple of array, shape (element,)

    Returns
    -------
    x, value : array, shape (element,)
        NaN where the least point is the first or the last.
    """
    from scipy.optimize.elementwise import find_minimum

    scan = function(points, *(np.broadcast_to(a, points.shape) for a in args))
    low = np.argmin(np.where(np.isfinite(scan), scan, np.inf), axis=0)
    last, each = len(points) - 1, np.arange(points.shape[1])
    middle = np.clip(low, 1, last - 1)
    around = tuple(points[middle + k, each] for k in (-1, 0, 1))
    found: Any = find_minimum(function, around, args=args)
    good = (low > 0) & (low < last) & np.asarray(found.success) & (np.asarray(found.f_x) < NEVER)
    return np.where(good, found.x, np.nan), np.where(good, found.f_x, np.nan)


def _size_on_curve(
    laws: LawDraws, log_d: np.ndarray, draw: np.ndarray, loss: np.ndarray, near: np.ndarray
) -> np.ndarray:
    """Log size at which a draw's law gives a loss with these tokens; NaN where no size does."""
    from scipy.optimize.elementwise import find_root

    def above(log_n: np.ndarray, k: np.ndarray, d: np.ndarray, target: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return laws.mean(k.astype(int), N=np.exp(log_n), D=np.exp(d)) - target

    found: Any = find_root(above, (near - DOWN, near + UP), args=(draw, log_d, loss))
    return np.where(found.success, found.x, np.nan)
