"""The price of a model over its life: training, then serving."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel

DOWN = 60.0  # e-folds of size below one that training alone would allow, to look for a root


@dataclass(frozen=True)
class Served:
    """FLOP of training a model of N parameters on D tokens and of serving it: C(N, D) + f N D_inf.

    Parameters
    ----------
    training : CostModel
        C(N, D).
    tokens_served : float
        Tokens read and written over the model's life, D_inf.
    per_token : float
        f, FLOP per parameter and served token: 2 for a forward pass.
    """

    training: "CostModel"
    tokens_served: float
    per_token: float = 2.0

    def serving(self, N: Any) -> np.ndarray:
        """FLOP of serving a model of N parameters."""
        return self.per_token * np.asarray(N, float) * self.tokens_served

    def flops(self, N: Any, D: Any) -> np.ndarray:
        """FLOP of training on D tokens and of serving."""
        return self.training.flops(N, D) + self.serving(N)

    def params(self, total: Any, D: Any) -> np.ndarray:
        """The size that this many FLOP in all train on D tokens and serve."""
        total, D = np.broadcast_arrays(np.asarray(total, float), np.asarray(D, float))
        if self.training.kind == "six_nd":
            return total / (self.training.factor * D + self.per_token * self.tokens_served)
        from scipy.optimize.elementwise import find_root

        def excess(log_n: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return np.log(self.flops(np.exp(log_n), d)) - np.log(c)

        guess = np.log(total / (6.0 * D + self.per_token * self.tokens_served))
        found: Any = find_root(excess, (guess - DOWN, guess + DOWN / 4), args=(total, D))
        return np.where(found.success, np.exp(found.x), np.nan)
