"""What answers about N, D and C ask of a law a posterior draw."""

from typing import Any, Protocol

import numpy as np


class LawDraws(Protocol):
    """A law a draw, evaluated anywhere: all that answers about N, D and C need."""

    @property
    def size(self) -> int:
        """Number of draws."""
        ...

    @property
    def wander(self) -> np.ndarray | float:
        """Error of ln N_opt per e-fold of compute beyond the data, a number a draw, or 0."""
        ...

    def mean(self, draw: Any, **inputs: Any) -> np.ndarray:
        """The mean for given draws at given inputs, broadcast together, drift included."""
        ...

    def ranked(self, draw: Any, **inputs: Any) -> np.ndarray:
        """What choices at one compute are ranked by: the mean without a drift along compute.

        Such a drift is the same for all of them; without it the curve is smooth.
        """
        ...

    def held(self, N: np.ndarray, D: np.ndarray) -> "LawDraws":
        """The laws with a drift along compute held at what it is at one run for each draw.

        Its slope there is that of a random walk: it may let the least loss rise with compute.
        """
        ...
