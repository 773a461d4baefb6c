r"""The frame in which a drift is sampled: where its weights lie, given its scale and the noise.

With H the hinges of the drift at the rows, J the slopes of the law, W the rows' weights and P the
prior's precision of the law's part :math:`\theta` of the vector,

.. math:: \theta = \theta' - M\, s w, \qquad M = (J^T W J + P)^{-1} J^T W H,

takes out of the law what the drift puts in. What is left of it, :math:`(H - J M)^T W (H - J M)`,
has eigenvectors V and eigenvalues :math:`\lambda / \sigma^2`; along each the weights are normal
were the law a line and the noise Gaussian, with a mean and a spread that follow the scale s and the
noise :math:`\sigma`:

.. math:: w = V \left(\frac{s b / \sigma^2}{1 + g} + \frac{t}{\sqrt{1 + g}}\right), \qquad
          g = s^2 \lambda / \sigma^2,

with b what the residuals say. So t is about standard normal whatever s and :math:`\sigma` are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.drift import SCALE, STEP

TURN, SHEAR, KNOWN, PULL = (f"{STEP}_{x}" for x in ("turn", "shear", "known", "pull"))


@dataclass(frozen=True)
class Frame:
    """Shapes that a drift's frame goes by.

    Parameters
    ----------
    shape : tuple of int
        Of the drift's weights: (knot,) or (label, knot).
    noise : str, optional
        Site of the noise's scale, a number or one a label, with which the frame moves.
    """

    shape: tuple[int, ...]
    noise: str | None

    def none(self, size: int) -> dict[str, np.ndarray]:
        """The frame in which weights lie as declared, for a vector of this size."""
        turn = np.broadcast_to(np.eye(self.shape[-1]), (*self.shape, self.shape[-1]))
        zeros = np.zeros(self.shape)
        return {TURN: turn.copy(), SHEAR: np.zeros((size, *self.shape)), KNOWN: zeros, PULL: zeros}

    def log_noise(self, parts: Mapping[str, Any]) -> Any:
        """Logarithm of the noise's scale with an axis of knots, 0 where there is none."""
        if self.noise is None:
            return 0.0
        log_noise = parts[self.noise]
        missing = parts[STEP].ndim - log_noise.ndim
        return log_noise.reshape(log_noise.shape + (1,) * missing)

    def turned(self, parts: Mapping[str, Any], centring: Mapping[str, Any]) -> Any:
        """V^T w from t: the weights along the frame's directions, shape (..., knot)."""
        pull, log_spread = self._conditional(parts, centring)
        return pull + parts[STEP] * namespace(log_spread).exp(log_spread)

    def untangled(
        self, turned: Any, parts: Mapping[str, Any], centring: Mapping[str, Any]
    ) -> np.ndarray:
        """Inverse of `turned`."""
        pull, log_spread = self._conditional(parts, centring)
        return (turned - pull) * np.exp(-log_spread)

    def log_jacobian(self, parts: Mapping[str, Any], centring: Mapping[str, Any]) -> Any:
        """Of weights in t, a number a vector."""
        log_spread = self._conditional(parts, centring)[1]
        return log_spread.sum(tuple(range(-len(self.shape), 0)))

    def _conditional(self, parts: Mapping[str, Any], centring: Mapping[str, Any]) -> Any:
        """Mean, and logarithm of the spread, of the turned weights given scale and noise."""
        log_s, log_noise = self._scale(parts), self.log_noise(parts)
        xp = namespace(log_s)
        told = xp.exp(2 * (log_s - log_noise)) * centring[KNOWN]
        pull = xp.exp(log_s - 2 * log_noise) * centring[PULL] / (1 + told)
        return pull, -0.5 * xp.log1p(told)

    def sheared(self, turned: Any, parts: Mapping[str, Any], centring: Mapping[str, Any]) -> Any:
        """What the drift puts into the law's part of the vector, shape (..., size)."""
        shear, log_s = centring[SHEAR], parts[SCALE][..., None]
        flat = turned.reshape(*turned.shape[: turned.ndim - len(self.shape)], -1)
        return (namespace(log_s).exp(log_s) * flat) @ shear.reshape(len(shear), -1).T

    def _scale(self, parts: Mapping[str, Any]) -> Any:
        return parts[SCALE].reshape(parts[SCALE].shape + (1,) * len(self.shape))


def to_hinges(turned: Any, centring: Mapping[str, Any]) -> Any:
    """Weights w from V^T w."""
    return (centring[TURN] @ turned[..., None])[..., 0]


def from_hinges(weights: Any, centring: Mapping[str, Any]) -> Any:
    """Turned weights V^T w from w."""
    return (centring[TURN].swapaxes(-1, -2) @ weights[..., None])[..., 0]
