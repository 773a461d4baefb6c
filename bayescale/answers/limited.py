"""A law of size, tokens and unique tokens under a limit of the last: a law of N and D."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayescale.answers.law_draws import LawDraws


@dataclass(frozen=True)
class Limited:
    """A law of N, D and U with at most so many unique tokens: a law of N and D.

    Parameters
    ----------
    laws : LawDraws
    unique : float
        Unique tokens there are; a run on fewer tokens sees fewer.
    """

    laws: LawDraws
    unique: float

    @property
    def size(self) -> int:
        """Number of draws."""
        return self.laws.size

    def mean(self, draw: Any, **inputs: Any) -> np.ndarray:
        """The mean for given draws at given N and D."""
        seen = np.minimum(np.asarray(inputs["D"], dtype=float), self.unique)
        return self.laws.mean(draw, U=seen, **inputs)

    def ranked(self, draw: Any, **inputs: Any) -> np.ndarray:
        """What choices at one compute are ranked by; see `LawDraws.ranked`."""
        seen = np.minimum(np.asarray(inputs["D"], dtype=float), self.unique)
        return self.laws.ranked(draw, U=seen, **inputs)

    def held(self, N: np.ndarray, D: np.ndarray) -> "Limited":
        """The laws with their drift held; see `LawDraws.held`."""
        return replace(self, laws=self.laws.held(N, D))

    @property
    def wander(self) -> np.ndarray | float:
        """Error of ln N_opt per e-fold of compute beyond the data."""
        return self.laws.wander
