"""Joint log density of runs whose rows share an offset: the offset is integrated out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.scatter import SCALES

if TYPE_CHECKING:
    from bayescale.noise import Noise

NODES = 161
FAR = 60.0  # standard deviations of an offset, beyond any that its prior lets be
WIDE = 15.0  # and from the mode to where nothing is left
ROUNDS = 4  # of a search that narrows 16-fold each


def integrated(
    noise: "Noise",
    y: np.ndarray,
    mean: np.ndarray,
    values: Mapping[str, np.ndarray],
    columns: Mapping[str, Any],
) -> np.ndarray:
    r"""Log density of the rows of one run, :math:`\ln \int \prod_i p(y_i|z) N(z|0, 1) dz`.

    For each draw the mode of the integrand is found on grids that narrow around it; then the
    trapezoid rule on nodes that spread out from the mode like a hyperbolic sine, dense where the
    likelihood is sharp and reaching as far as the prior.

    Parameters
    ----------
    noise : Noise
        With an offset for each run.
    y : array, shape (row,)
        Responses of one run.
    mean : array, shape (draw, row)
    values : mapping
        Parameters of the noise, shape (draw, row or 1); ``run_offset`` is not read.
    columns : mapping
        What the noise reads of the rows.

    Returns
    -------
    array, shape (draw,)
    """
    fixed = {k: np.asarray(v)[:, None, :] for k, v in values.items() if k != "run_offset"}
    middle = mean[:, None, :]

    def log_integrand(z: np.ndarray) -> np.ndarray:
        at = {**fixed, "run_offset": z[:, :, None]}
        density = noise.log_density(y, middle, at, columns).sum(axis=-1)
        return density - 0.5 * z**2 - 0.5 * np.log(2 * np.pi)

    spread = np.broadcast_to(values["run_sd"], mean.shape)
    at = SCALES[noise.on]
    error = (at.forward(y) - at.forward(mean)) / spread
    low = np.clip(np.minimum(error.min(axis=1), 0.0) - 1.0, -FAR, -1.0)
    high = np.clip(np.maximum(error.max(axis=1), 0.0) + 1.0, 1.0, FAR)
    mode = _mode(log_integrand, low, high)
    scale = np.broadcast_to(noise.scale(mean, values, columns), mean.shape)
    sharp = 1 / np.sqrt(1 + ((spread / scale) ** 2).sum(axis=1))
    reach = np.arcsinh(WIDE / sharp)
    place = np.linspace(-1, 1, NODES) * reach[:, None]
    z = mode[:, None] + sharp[:, None] * np.sinh(place)
    weight = sharp[:, None] * np.cosh(place) * (2 * reach / (NODES - 1))[:, None]
    return np.logaddexp.reduce(log_integrand(z) + np.log(weight), axis=1)


def _mode(log_integrand: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where the integrand is largest, for each draw."""
    each = np.arange(len(low))
    grid = np.linspace(0, 1, 33)
    for _ in range(ROUNDS):
        z = low[:, None] + (high - low)[:, None] * grid
        best = np.argmax(log_integrand(z), axis=1)
        low, high = z[each, np.maximum(best - 1, 0)], z[each, np.minimum(best + 1, 32)]
    return (low + high) / 2
