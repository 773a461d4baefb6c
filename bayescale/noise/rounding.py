r"""A response known to the nearest value of a grid, such as the best batch size of those tried.

With grid values :math:`u_1 < \dots < u_n` on the noise's scale, a response recorded as
:math:`u_k` lies between the middles to its neighbours, without an end at the first and the last:

.. math:: P(k) = F\!\left(\frac{(u_k + u_{k+1})/2 - \mu}{s}\right)
               - F\!\left(\frac{(u_{k-1} + u_k)/2 - \mu}{s}\right).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.arrays import log_ndtr, namespace
from bayescale.errors import LawError
from bayescale.noise.tails import TAILS
from bayescale.scatter import SCALES, Scale

if TYPE_CHECKING:
    from bayescale.noise.noise import Noise

FAR = 1e4  # on the noise's scale: an end without a neighbour, finite so that gradients are


def check_grid(noise: "Noise") -> tuple[float, ...]:
    """A noise's grid as a tuple of rising numbers.

    Raises
    ------
    LawError
        Fewer than two values, or not rising, or a noise that can't be on a grid.
    """
    grid: Any = noise.grid
    if noise.tail != "normal" or noise.along is not None:
        raise LawError("noise on a grid is normal (tail='normal') and has no memory.")
    try:
        values = tuple(float(v) for v in grid)
    except (TypeError, ValueError):
        values = ()
    rising = all(a < b for a, b in zip(values[:-1], values[1:], strict=True))
    if len(values) < 2 or not rising or not np.isfinite(values).all():
        raise LawError(f"noise grid is {grid!r}; expected two or more rising numbers.")
    at = SCALES[noise.on]
    if not (at.lower < values[0] and values[-1] < at.upper):
        raise LawError(
            f"noise on {noise.on} can't have the grid {grid!r}: its values lie between "
            f"{at.lower:g} and {at.upper:g}."
        )
    return values


def middles(grid: Sequence[float] | np.ndarray, at: Scale) -> np.ndarray:
    """Ends between neighbouring grid values on the noise's scale, shape (n - 1,)."""
    u = np.asarray(at.forward(np.asarray(grid, dtype=float)))
    return (u[1:] + u[:-1]) / 2


def rounded(u: np.ndarray, grid: Sequence[float], at: Scale) -> np.ndarray:
    """The grid's value nearest to values on the noise's scale."""
    return np.asarray(grid, dtype=float)[np.searchsorted(middles(grid, at), u)]


def ends(
    noise: "Noise", u: Any, mean: Any, values: Mapping[str, Any], columns: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Ends of the interval that each value on the noise's scale stands for, in scales from the law.

    Parameters
    ----------
    noise : Noise
        With a grid.
    u : array, shape (..., row)
        Recorded values on the noise's scale.
    mean, values, columns
        As for `Noise.log_density`.
    """
    xp, between = namespace(u, mean), middles(noise.grid or (), SCALES[noise.on])
    place = (u[..., None] > between).sum(-1)
    low, high = np.concatenate([[-FAR], between]), np.concatenate([between, [FAR]])
    centre, scale = noise.location(mean, values), noise.scale(mean, values, columns)
    return (xp.asarray(low)[place] - centre) / scale, (xp.asarray(high)[place] - centre) / scale


def pit(
    noise: "Noise",
    rng: np.random.Generator,
    u: Any,
    mean: Any,
    values: Mapping[str, Any],
    columns: Mapping[str, Any],
) -> np.ndarray:
    """Distribution function of a noise at u; on a grid a random place within the value's step."""
    tail = TAILS[noise.tail]
    if not noise.grid:
        return tail.probability(noise.standardised(u, mean, values, columns)[0], values)
    low, high = (tail.probability(z, values) for z in ends(noise, u, mean, values, columns))
    return low + rng.random(np.shape(high)) * (high - low)


def log_mass(low: Any, high: Any) -> Any:
    """Log probability of a standard normal between two ends, exact in both tails."""
    xp = namespace(low, high)
    upper = low > 0  # there the lower tails of the mirrored ends tell them apart
    a, b = xp.where(upper, -high, low), xp.where(upper, -low, high)
    top, bottom = log_ndtr(b), log_ndtr(a)
    return top + xp.log(-xp.expm1(bottom - top))


def probabilities(
    location: np.ndarray, scale: np.ndarray, grid: Sequence[float], on: str
) -> np.ndarray:
    """Probability of each grid value, shape (..., value)."""
    from scipy.special import ndtr

    z = (middles(grid, SCALES[on]) - location[..., None]) / scale[..., None]
    below = ndtr(z)
    zero, one = np.zeros((*below.shape[:-1], 1)), np.ones((*below.shape[:-1], 1))
    return np.diff(np.concatenate([zero, below, one], axis=-1), axis=-1)
