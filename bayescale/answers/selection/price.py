"""How many tokens each backbone gets for a compute budget."""

from dataclasses import dataclass

import numpy as np

from bayescale.tables import quantity


@dataclass(frozen=True)
class Price:
    r"""Compute of training a backbone and of serving it.

    .. math:: C = 6 (N + N_v) D + 2 (N + N_v) D_{inf}

    Parameters
    ----------
    n_params : array, shape (model,)
        Parameters of each backbone; NaN where they aren't known and nothing asks for them.
    vision_params : float
        Parameters of the vision tower, trained (and served) with the backbone.
    inference_tokens : float
        Tokens to be served that the budget has to pay for too; 0: training alone.
    """

    n_params: np.ndarray
    vision_params: float = 0.0
    inference_tokens: float = 0.0

    @property
    def per_token(self) -> np.ndarray:
        """FLOP to train on one token, shape (model,)."""
        return 6 * (self.n_params + self.vision_params)

    @property
    def fixed(self) -> np.ndarray:
        """FLOP that serving takes from the budget, shape (model,)."""
        return 2 * (self.n_params + self.vision_params) * self.inference_tokens

    def tokens(self, C: np.ndarray) -> np.ndarray:
        """Training tokens, shape (budget, model); NaN where the budget buys less than one."""
        bought = (np.asarray(C, dtype=float)[:, None] - self.fixed) / self.per_token
        return np.where(bought >= 1, bought, np.nan)

    def budget(self, D: np.ndarray) -> np.ndarray:
        """FLOP of training on D tokens, shape (token, model)."""
        return np.asarray(D, dtype=float)[:, None] * self.per_token + self.fixed

    def describe(self) -> str:
        """One line for tables."""
        size = f"(N + {quantity(self.vision_params)} of vision)" if self.vision_params else "N"
        line = f"C = 6 {size} D"
        if self.inference_tokens:
            line += f" + 2 {size} x {quantity(self.inference_tokens)} tokens served"
        return line
