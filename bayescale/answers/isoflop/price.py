"""What a parameter and a token cost along IsoFLOP slices, where that isn't 6 FLOP."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

EXACT = 1e-6  # spread of ln k below which it is one number


@dataclass(frozen=True)
class Price:
    """FLOP per parameter and token, k of C = k N D, as ln k = level + size ln N + compute ln C.

    A budget that counts attention or an output layer has a k that changes along a slice. By least
    squares over the runs; the two slopes are 0 where C = k N D holds with one k.

    Parameters
    ----------
    level, size, compute : float
    lowest, highest : float
        Of k over the runs.
    """

    level: float
    size: float
    compute: float
    lowest: float
    highest: float

    def tokens(self, N: np.ndarray, C: np.ndarray) -> np.ndarray:
        """Tokens that a budget buys at a size, D = C/(k N)."""
        log_k = self.level + self.size * np.log(N) + self.compute * np.log(C)
        return np.exp(np.log(C) - np.log(N) - log_k)

    def exponent(self, a: np.ndarray) -> np.ndarray:
        """Exponent b of D_opt for one of N_opt: 1 - a where k is one number."""
        return 1 - a - self.size * a - self.compute

    def describe(self) -> str:
        """The equation, such as C = 6 N D."""
        if self.size == self.compute == 0:
            return f"C = {np.exp(self.level):.4g} N D"
        return f"C = k N D with k from {quantity(self.lowest)} to {quantity(self.highest)}"


def price_of(runs: "Runs") -> Price:
    """The price of the runs of a table with N, D and C."""
    log_n, log_d, log_c = (np.log(runs.column(c)) for c in ("N", "D", "C"))
    log_k = log_c - log_n - log_d
    ends = float(np.exp(log_k.min())), float(np.exp(log_k.max()))
    if np.ptp(log_k) < EXACT:
        return Price(float(log_k.mean()), 0.0, 0.0, *ends)
    design = np.column_stack([np.ones(len(log_n)), log_n, log_c])
    level, size, compute = np.linalg.lstsq(design, log_k, rcond=None)[0]
    return Price(float(level), float(size), float(compute), *ends)
